// The cheat sheet in, an aside next to the editor out: a line is put into the program by a click.

import { find, make } from "./elements.js";

let page = null;
let isThere = false;

const line = ({ code, says }) => make("li", {},
  make("button", { type: "button", title: "Put this line into the program", onclick: () => page.insertLine(code) }, make("code", {}, code)), make("span", {}, says));

const section = (each) => make("section", {},
  make("h3", {}, each.heading, page.docs("") ? make("a", { href: page.docs(each.page), target: "_blank", rel: "noopener", "aria-label": `${each.heading}, in the manual` }, "manual") : null),
  make("p", { class: "soft" }, each.about), make("ul", {}, ...each.lines.map(line)));

const KEYS = [["Ctrl-Space", "complete a name"], ["hover", "what a name is"], ["F2, or double click", "edit a token"], ["arrow keys, Enter", "walk through values, explain one"], ["Ctrl-/", "comment"]];

const fill = async () => {
  const answer = await page.ask("cheat_sheet", {});
  if (answer.error || answer.replaced) return;
  isThere = true;
  find("cheat").replaceChildren(make("div", { class: "lesson-head" }, make("h2", {}, "RASP on one page"),
    make("button", { type: "button", class: "link", onclick: () => show(false), "aria-label": "Close the cheat sheet" }, "close")),
  ...answer.sections.map(section),
  make("section", {}, make("h3", {}, "Keys"), make("dl", { class: "compare" }, ...KEYS.flatMap(([key, says]) => [make("dt", {}, key), make("dd", {}, says)]))));
};

const show = (isOpen) => {
  find("cheat").hidden = !isOpen;
  find("help").setAttribute("aria-expanded", String(isOpen));
  if (isOpen && !isThere) fill();
};

export const setUpHelp = (context) => {
  page = context;
  find("help").addEventListener("click", () => show(find("cheat").hidden));
};
