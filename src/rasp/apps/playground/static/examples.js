// Examples with what they should give in, a strip out that says which of them hold.

import { find, make } from "./elements.js";
import { chosenName } from "./chooser.js";

const MOST = 50;
let page = null;
let examples = []; // { name, input, expected }
let results = [];
let wanted = 0;

export const examplesNow = () => examples;

const mark = (result) => {
  if (!result) return make("span", { class: "mark" }, "…");
  const says = result.holds ? "holds" : result.error || `gives ${result.got}`;
  return make("span", { class: `mark ${result.holds ? "yes" : "no"}`, title: says, role: "img", "aria-label": result.holds ? "holds" : "fails" }, result.holds ? "✓" : "✗");
};

const field = (label, value, onchange) => {
  const input = make("input", { "aria-label": label, autocomplete: "off", autocapitalize: "off", spellcheck: "false", onchange: () => onchange(input.value) });
  input.value = value;
  return input;
};

const change = (at, part) => {
  examples = examples.map((each, number) => (number === at ? { ...each, ...part } : each));
  page.remember();
  checkExamples();
};

const entry = (each, at) => make("li", { class: results[at] ? (results[at].holds ? "holds" : "fails") : "" },
  mark(results[at]),
  field(`S-op of example ${at + 1}`, each.name, (name) => change(at, { name })), "(",
  field(`Input of example ${at + 1}`, each.input, (input) => change(at, { input })), ") =",
  field(`Expected in example ${at + 1}`, each.expected, (expected) => change(at, { expected })),
  make("button", { type: "button", title: "Show this input in all views", "aria-label": `Show example ${at + 1}`, onclick: () => page.setExample(examples[at].input) }, "▶"),
  make("button", { type: "button", title: "Take it away", "aria-label": `Take example ${at + 1} away`, onclick: () => { examples = examples.filter((_, number) => number !== at); page.remember(); show(); checkExamples(); } }, "×"),
  results[at] && !results[at].holds ? make("p", { class: "instead" }, results[at].error || `gives ${results[at].got}`) : null);

const show = () => {
  const list = find("examples").querySelector("ol");
  const focused = document.activeElement?.getAttribute?.("aria-label");
  if (!list.contains(document.activeElement) || document.activeElement.matches("button")) list.replaceChildren(...examples.map(entry));
  else [...list.children].forEach((item, at) => item.querySelector(".mark")?.replaceWith(mark(results[at])));
  if (focused) list.querySelector(`[aria-label="${CSS.escape(focused)}"]`)?.focus();
  const good = results.filter((each) => each?.holds).length;
  const count = find("example-count");
  count.textContent = examples.length ? `${good} of ${examples.length} hold` : "none yet";
  count.className = !examples.length ? "soft" : good === examples.length ? "fine" : "wrong";
};

// Run them all again: the program, or one of them, has changed.
export const checkExamples = async () => {
  wanted += 1;
  const number = wanted;
  if (!examples.length) {
    results = [];
    show();
    return;
  }
  const answer = await page.ask("examples", { program: page.now().program, examples });
  if (number !== wanted || answer.replaced || answer.error) return;
  results = answer.examples;
  // What is kept without an expectation is expected from now on.
  examples = examples.map((each, at) => (each.expected || !results[at]?.got ? each : { ...each, expected: results[at].got }));
  if (results.some((each, at) => !each.holds && each.got && each.got === examples[at].expected)) {
    page.remember();
    results = results.map((each, at) => ({ ...each, holds: each.holds || each.got === examples[at].expected }));
  }
  show();
};

const keep = () => {
  if (!chosenName() || examples.length >= MOST) return;
  examples = [...examples, { name: chosenName(), input: page.now().example, expected: "" }];
  results = [...results, undefined];
  find("examples").open = true;
  show();
  page.remember();
  checkExamples();
};

const isExample = (each) => each && ["name", "input", "expected"].every((part) => typeof each[part] === "string");

export const setExamples = (found) => {
  examples = Array.isArray(found) ? found.filter(isExample).slice(0, MOST) : [];
  results = [];
  find("examples").open = examples.length > 0;
  show();
};

export const setUpExamples = (context) => {
  page = context;
  find("examples").replaceChildren(
    make("summary", {}, "Examples that must hold ", make("span", { id: "example-count", class: "soft" })),
    make("ol", {}),
    make("button", { type: "button", id: "keep-example", title: "Keep this input, with what the s-op gives on it now", onclick: keep }, "+ keep the example above"));
  show();
};
