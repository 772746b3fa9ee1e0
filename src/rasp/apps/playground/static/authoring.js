// An author's program in, a link to an exercise out: the program is the reference, and stays hidden.

import { complaint, find, make, prose, tell } from "./elements.js";
import { nameMenu, chosenName } from "./chooser.js";
import { write } from "./share.js";

let page = null;

const label = (text, control, note = "") => make("label", {}, make("span", {}, text, note ? make("small", { class: "soft" }, ` ${note}`) : null), control);
const area = (name, rows, placeholder) => make("textarea", { name, rows, placeholder, spellcheck: "false" });
const input = (name, more) => make("input", { name, autocomplete: "off", spellcheck: "false", ...more });

const start = (task) => `# ${task.title}\n${task.output} = tokens;\n`;

const makeLink = async (event) => {
  event.preventDefault();
  const place = find("made-exercise");
  const asked = Object.fromEntries(new FormData(event.target));
  const answer = await page.ask("make_exercise", { ...page.now(), ...asked, name: chosenName() });
  if (answer.replaced) return;
  if (answer.error) {
    place.replaceChildren(complaint(answer.error));
    return;
  }
  const link = new URL(location.href);
  link.search = "";
  link.hash = await write({ program: start(answer), example: answer.shows[0]?.input || page.now().example, tab: "values", task: answer });
  const shown = make("input", { readonly: true, "aria-label": "Link to the exercise", onfocus: () => shown.select() });
  shown.value = link.href;
  place.replaceChildren(make("div", { class: "verdict yes" }, make("p", {}, "Give this link to students. Your program and the hidden inputs are in it, packed."),
    make("div", { class: "toolbar" }, shown, make("button", { type: "button", class: "primary", onclick: async () => {
      try { await navigator.clipboard.writeText(link.href); tell("The link is on the clipboard."); } catch { shown.focus(); }
    } }, "Copy"), make("a", { href: link.href, target: "_blank", rel: "noopener" }, "open it as a student"))));
};

export const authoring = () => make("details", { class: "authoring" }, make("summary", {}, "Make an exercise of your own"),
  make("p", { class: "soft" }, prose("The program on the left is the reference. An answer is compared with it on all small inputs over the alphabet, then on longer ones and on your hidden inputs; a wrong one is shown a shortest input.")),
  make("form", { class: "form", onsubmit: makeLink },
    nameMenu("S-op to write", () => {}),
    label("Title", input("title", { maxlength: 120 })),
    label("Task", area("story", 3, "What should the s-op hold? `code` goes between backticks.")),
    label("Alphabet", input("alphabet", { placeholder: "abc" }), "of the inputs that are tried"),
    label("Most layers", input("layers", { type: "number", min: 0, max: 1000 }), "empty: as many as they like"),
    label("Shown inputs", area("shown", 2, "one a line, with their answers")),
    label("Hidden inputs", area("tests", 2, "one a line")),
    make("div", { class: "toolbar" }, make("button", { type: "submit", class: "primary" }, "Make the link"))),
  make("div", { id: "made-exercise", "aria-live": "polite" }));

export const setUpAuthoring = (context) => { page = context; };
