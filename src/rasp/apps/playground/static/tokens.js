// A token on the page in, a longer, shorter or other example out: tokens are edited where they are.

import { make, tell } from "./elements.js";

let page = null;
let editing = null;

export const isEditing = () => editing !== null;

// `value` is the token as the language writes it; a text is edited without its quotes.
export const editToken = (cell, value) => {
  const before = [...cell.childNodes];
  const at = Number(cell.dataset.at);
  const text = /^".*"$/.test(value) ? cell.textContent : value;
  const input = make("input", { "aria-label": `Token at position ${at}: empty takes it away`, autocomplete: "off", spellcheck: "false" });
  input.value = text;
  editing = input;
  const finish = async (isKept) => {
    if (editing !== input) return;
    editing = null;
    cell.replaceChildren(...before);
    if (!isKept || input.value === text) return cell.focus();
    const answer = await page.ask("edit_token", { example: page.now().example, at, token: input.value });
    if (answer.error) tell(answer.error.message);
    else if (!answer.replaced) page.setExample(answer.example);
    return undefined;
  };
  input.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter") finish(true);
    else if (event.key === "Escape") finish(false);
  });
  input.addEventListener("blur", () => finish(true));
  cell.replaceChildren(input);
  input.focus();
  input.select();
};

export const setUpTokens = (context) => { page = context; };
