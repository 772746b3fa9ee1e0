// A cell chosen in any view in, everything that is linked with it lit in all of them out.

import { find, make } from "./elements.js";
import { chosenName } from "./chooser.js";

const INVITATION = "Choose a value, or a row of a grid: one sentence says where it comes from.";
const VIEWS = ["values", "flow", "weights"];
const listeners = [];
let page = null;
let chosen = null; // { row | selection | strip | flow_strip, at }
let told = null; // what the program says of it
let wanted = 0;

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

const say = () => {
  const place = find("cell-story");
  if (!chosen) place.replaceChildren(INVITATION);
  else if (told) place.replaceChildren(make("strong", {}, told.label), " ", told.sentence);
};

const announce = () => {
  say();
  page.light(told ? told.places : []);
  listeners.forEach((listener) => listener(chosen, told));
};

// Ask again: the program, the example or the choice is another one.
export const explainChosen = async () => {
  wanted += 1;
  const number = wanted;
  if (!chosen) {
    told = null;
    announce();
    return;
  }
  const answer = await page.ask("explain", { ...page.now(), ...chosen, flow: chosenName() });
  if (number !== wanted || answer.replaced) return;
  if (answer.error && !page.hasMistakes()) chosen = null; // there is no such cell any more
  told = answer.error ? null : answer;
  announce();
};

// Choose a cell; the one that is chosen already is let go, unless it must stay.
export const choose = (cell, stays = false) => {
  chosen = same(cell, chosen) && !stays ? null : cell;
  return explainChosen();
};

export const forgetChosen = () => {
  chosen = null;
  return explainChosen();
};

export const onChosen = (listener) => listeners.push(listener);
export const chosenNow = () => [chosen, told];

export const showStory = (tab) => find("cell-story").classList.toggle("away", !VIEWS.includes(tab));

export const setUpSelection = (context) => {
  page = context;
  say();
};
