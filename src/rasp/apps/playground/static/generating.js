// A next-token program in, its generation token by token out: each step makes the example longer,
// and every view follows.

import { find, make, tell } from "./elements.js";
import { chosenName } from "./chooser.js";
import { choose } from "./selection.js";

const MOST = 100;
let page = null;
let past = []; // the examples before each step
let isRunning = false;

const isOurs = () => past.length && page.now().example === past.at(-1).after;

const note = (text) => { find("generated").textContent = text; };

const buttons = () => {
  find("generate-back").disabled = !isOurs();
  find("generate-run").textContent = isRunning ? "Stop" : "Generate all";
};

const step = async () => {
  const { example } = page.now();
  const answer = await page.ask("next_token", { ...page.now(), name: chosenName() });
  if (answer.replaced || page.now().example !== example) return false;
  if (answer.error) {
    tell(answer.error.message);
    return false;
  }
  if (answer.token === null) {
    note(`${chosenName()} gives "" at the last position: the generation ends.`);
    return false;
  }
  if (!isOurs()) past = [];
  past.push({ before: example, after: answer.example });
  page.setExample(answer.example);
  note(`appended ${answer.token}, token ${past.length} of this generation`);
  await page.settled();
  await choose({ row: chosenName(), at: page.tokens().length - 1 }, true); // how the next one comes about
  buttons();
  return true;
};

const run = async () => {
  if (isRunning) {
    isRunning = false;
    return;
  }
  isRunning = true;
  buttons();
  for (let count = 0; isRunning && count < MOST; count += 1) {
    if (!await step()) break;
    await new Promise((done) => { setTimeout(done, 350); });
  }
  isRunning = false;
  buttons();
};

const back = () => {
  if (!isOurs()) return;
  page.setExample(past.pop().before);
  note("");
  buttons();
};

export const forgetGeneration = () => {
  past = [];
  isRunning = false;
  note("");
  buttons();
};

export const checkGeneration = () => buttons();

export const setUpGeneration = (context) => {
  page = context;
  const button = (id, text, title, onclick) => make("button", { type: "button", id, title, onclick }, text);
  return make("details", { class: "generation" }, make("summary", {}, "Generate"),
    make("div", { class: "toolbar", role: "group", "aria-label": "Generate token by token" },
      button("generate-step", "Next token", "Append the value at the last position to the example", step),
      button("generate-back", "Back", "Take the last token off again", back),
      button("generate-run", "Generate all", "Append tokens until the program gives the empty string", run),
      make("span", { id: "generated", class: "soft", "aria-live": "polite" })));
};
