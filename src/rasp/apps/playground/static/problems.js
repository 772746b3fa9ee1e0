// Mistakes and warnings in, a list out: a click goes to the place, and a hint that can be applied
// is applied by a click.

import { find, make, prose } from "./elements.js";

let page = null;

const caret = (text) => text.split("\n").slice(1).filter((line) => !line.startsWith("hint:") && !/^\s*--> /.test(line)).join("\n");

const hintOf = (each) => {
  if (!each.hint) return null;
  const words = ["hint: ", ...prose(each.hint)];
  if (!each.fix) return make("p", { class: "hint" }, ...words);
  return make("p", { class: "hint" }, make("button", { type: "button", class: "link apply", title: "Change the program as the hint says", onclick: () => page.apply(each.fix) }, ...words, " (click to apply)"));
};

const problem = (each, kind, word) => make("li", { class: kind },
  make("button", { type: "button", class: "link", onclick: () => each.start !== undefined && page.goTo(each.start, each.end) },
    make("strong", {}, `${word}${each.line ? ` in line ${each.line}` : ""}: `), ...prose(each.message)),
  each.kind && page.docs("") ? make("a", { class: "more", href: page.docs(`errors/${each.kind}.html`), target: "_blank", rel: "noopener", "aria-label": `About: ${each.message}` }, "more") : null,
  each.text ? make("pre", {}, caret(each.text)) : null, hintOf(each));

export const showProblems = ({ errors, warnings, failed }) => {
  const items = [
    ...errors.map((each) => problem(each, "error", "mistake")),
    ...(failed || []).map((each) => problem({ ...each, message: `\`${each.name}\` does not fit this example: ${each.message}` }, "failed", "note")),
    ...warnings.map((each) => problem(each, "warning", "warning")),
  ];
  find("problems").replaceChildren(items.length ? make("ol", {}, ...items) : make("p", { class: "fine" }, "✓ no mistakes"));
};

export const setUpProblems = (context) => { page = context; };
