// The program's names in, the one that Flow, Architecture and Weights are about out.

import { make } from "./elements.js";

let names = [];
let wanted = ""; // what the reader asked for; kept while the program does not define it
const menus = new Set();

export const wordsOf = (program) => new Set(program.match(/[\p{L}_][\p{L}\p{N}_]*/gu) || []);

const candidates = () => names.filter((each) => ["s-op", "selector"].includes(each.kind));

export const chosenName = () => {
  const all = candidates();
  if (all.some((each) => each.name === wanted)) return wanted;
  const last = all.filter((each) => each.kind === "s-op").at(-1) || all.at(-1);
  return last ? last.name : "";
};

const refill = (menu) => {
  const list = candidates().map((each) => each.name);
  if (list.join("\n") !== [...menu.options].map((option) => option.value).join("\n")) {
    menu.replaceChildren(...list.map((name) => make("option", { value: name }, name)));
  }
  menu.value = chosenName();
};

// As long as there is a mistake, names that were there before can still be chosen, if the program
// still has the word.
export const setNames = (found, hasMistakes, program) => {
  const now = new Set(found.map((each) => each.name));
  const words = wordsOf(program);
  names = hasMistakes ? [...found, ...names.filter((each) => !now.has(each.name) && words.has(each.name))] : found;
  menus.forEach(refill);
};

export const forgetNames = () => {
  names = [];
};

export const want = (name) => {
  wanted = name;
  menus.forEach(refill);
};

export const nameMenu = (label, onChange) => {
  const menu = make("select", { onchange: () => { want(menu.value); onChange(); } });
  menus.add(menu);
  refill(menu);
  return make("label", {}, `${label} `, menu);
};
