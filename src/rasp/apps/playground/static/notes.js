// An answer in, short notes on it out: what a name holds, and how long the example is.

import { find } from "./elements.js";

// What a name holds on the example, as far as it fits into a line.
export const valueOf = (answer, name) => {
  const row = answer.rows?.find((each) => each.name === name);
  if (!row) return "";
  const { shown } = answer.plan.strips[row.strip];
  return `${shown.slice(0, 12).join(" ")}${shown.length > 12 ? " …" : ""}`;
};

export const exampleNote = (answer) => {
  const note = find("example-note");
  const wrong = answer.example_error;
  note.classList.toggle("wrong", Boolean(wrong));
  note.textContent = wrong ? wrong.message : `${answer.plan.tokens.length} token${answer.plan.tokens.length === 1 ? "" : "s"}`;
  find("example").setAttribute("aria-invalid", String(Boolean(wrong)));
};
