// An input run through the compiled model in, what happens inside it out: every s-op of the model
// beside the program's, the residual stream with the program's words, attention, matrices.

import { complaint, find, make, prose } from "./elements.js";
import { heatMap } from "./heat.js";
import { numberTable } from "./matrix.js";
import { choose } from "./selection.js";

const comparison = (answer, head, onChoose) => make("div", { class: "pair" },
  heatMap(answer.tokens, {}, { picks: [] }, { onChoose, name: `layer ${head.layer}, head ${head.number}: attention of the model`, weights: head.attention, caption: head.purpose }),
  heatMap(answer.tokens, {}, { picks: [] }, { onChoose, name: `the program's selection ${head.selector}, as shares`, weights: head.selection, caption: head.difference < 5e-4 ? "no visible difference" : `largest difference ${head.difference.toFixed(3)}` }));

const sOpRows = (each, name) => [
  make("tr", {}, make("th", { scope: "row", rowspan: 2 }, each.name), make("td", { class: "whose" }, "program"),
    ...each.program.map((text, at) => make("td", { "data-column": at, onclick: () => choose({ row: name, at }) }, text))),
  make("tr", {}, make("td", { class: "whose" }, "model"),
    ...each.model.map((text, at) => make("td", { class: each.agrees[at] ? "agrees" : "differs", title: `the model has ${each.numbers[at]}`, "data-column": at, onclick: () => choose({ row: name, at }) }, text))),
];

const beside = (answer, name) => make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Values of the model beside the program" },
  make("table", { class: "matrix upright compared" },
    make("thead", {}, make("tr", {}, make("td", { colspan: 2 }), ...answer.tokens.map((token) => make("th", { scope: "col" }, token)))),
    make("tbody", {}, ...answer.s_ops.flatMap((each) => sOpRows(each, each.row || name)))));

const verdict = (answer) => {
  const cells = answer.s_ops.flatMap((each) => each.agrees);
  const wrong = cells.filter((agrees) => !agrees).length;
  return make("p", { class: `verdict ${wrong ? "no" : "yes"}` }, wrong
    ? `${wrong} of ${cells.length} cells differ.`
    : `On this input the model agrees with the program in all ${cells.length} cells.`);
};

let stage = ""; // the block after which the stream is shown
const stream = (answer, name) => {
  const place = make("div", {});
  const sink = answer.columns.length - answer.tokens.length;
  const show = (after) => {
    stage = after;
    const found = answer.stream.find((each) => each.after === after) || answer.stream.at(-1);
    place.replaceChildren(numberTable(answer.dimensions, answer.columns, found.rows,
      { isUpright: true, label: `The residual stream after ${found.after}`, onCell: (column) => { if (column >= sink) choose({ row: name, at: column - sink }); } }));
  };
  const names = answer.stream.map((each) => each.after);
  const menu = make("select", { onchange: () => show(menu.value) }, ...names.map((after) => make("option", { value: after }, after)));
  menu.value = names.includes(stage) ? stage : names.at(-1);
  show(menu.value);
  return [make("h2", {}, "The residual stream"),
    make("div", { class: "toolbar" }, make("label", {}, "after ", menu), make("span", { class: "soft" }, "a row for each dimension, a column for each position")), place];
};

export const runShown = (answer, name) => [
  make("h2", {}, "The example, run through the model"), verdict(answer), beside(answer, name),
  ...(answer.stream.length ? stream(answer, name) : []),
  ...(answer.heads.length ? [make("h2", {}, "Attention beside selection"),
    answer.uses_sink ? make("p", { class: "soft" }, "The model puts a hidden token, the sink, before the input. Shown is how each row's attention divides among the input's own tokens.") : null] : []),
  ...answer.heads.map((head) => comparison(answer, head, (at) => choose({ row: name, at }))),
].filter(Boolean);

// A menu of the model's matrices; each is fetched when it is looked at.
export const matrices = (names, ask) => {
  const place = make("div", { id: "matrix", "aria-live": "polite" });
  const show = async (matrix) => {
    const answer = await ask(matrix);
    if (answer.replaced || menu.value !== matrix) return;
    if (answer.error) return place.replaceChildren(complaint(answer.error));
    const size = `${answer.shape[0]} × ${answer.shape[1]}; rows and columns of zeros are left out`;
    return place.replaceChildren(make("p", { class: "soft" }, size + (answer.left_out ? `, and ${answer.left_out} more` : "")),
      answer.rows.length ? numberTable(answer.rows, answer.columns, answer.numbers, { label: matrix }) : make("p", {}, "It holds nothing but zeros."));
  };
  const menu = make("select", { onchange: () => show(menu.value) }, ...names.map((name) => make("option", { value: name }, name)));
  return make("details", { ontoggle: (event) => { if (event.target.open && !place.childElementCount) show(menu.value); } },
    make("summary", {}, "Every matrix, with the program's words"), make("div", { class: "toolbar" }, make("label", {}, "Matrix ", menu)), place);
};

export const lightColumn = (at) => find("weights").querySelectorAll(".compared [data-column]").forEach((cell) => cell.classList.toggle("chosen", Number(cell.dataset.column) === at));

export const staticNote = () => make("p", {}, prose("The full edition makes weights: install rasp with its extra `play` and start `rasp play`."));
