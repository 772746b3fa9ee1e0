// What a run gave in, the Values view out: every s-op as a row over the input, selectors below.

import { find, make, morph, prose, tip } from "./elements.js";
import { wordsOf } from "./chooser.js";
import { heatMap } from "./heat.js";
import { choose, chosenNow, forgetChosen, onChosen } from "./selection.js";
import { columnsFor } from "./sheet.js";
import { editToken, isEditing } from "./tokens.js";

let shown = null; // the last answer that had values
let unnamed = false;
let isBehind = false; // built when the tab is opened again
let columns = null; // how wide names and cells are
let isSpelled = true; // True and False in full, where the pane has room for that

const cells = (strip) => strip.shown.map((text, at) => make("td", {
  "data-strip": strip.id, "data-at": at, tabindex: "-1",
  class: [strip.type, strip.defaulted.includes(at) ? "defaulted" : "", strip.values[at] === "False" ? "no" : ""].join(" ").trim(),
}, strip.type === "bool" && isSpelled ? strip.values[at] : text));

// A row of the program's own goes by its name, a step on the way by its strip.
const row = (name, strip, kind = "", words = "") => make("tr", { class: kind, "data-row": kind ? null : name },
  make("th", { scope: "row", title: words && words !== name ? `${name} = ${words}` : name }, name),
  ...cells(strip), make("td", { class: "type" }, `${strip.type}s`));

// A name that has no value on the example keeps a row, with the reason in it.
const failedRow = (each, length) => make("tr", { class: "failed" },
  make("th", { scope: "row", title: each.name }, each.name),
  make("td", { class: "reason", colspan: length + 1, title: each.hint ? `hint: ${each.hint}` : null }, make("span", {}, ...prose(each.message))));

// As long as there is a mistake, what a name held before keeps its place, faded.
const withGhosts = (answer, program) => {
  const count = answer.plan.tokens.length;
  if (!shown || !answer.errors.length || shown.plan.tokens.length !== count) return answer;
  const has = new Set([...answer.rows, ...answer.failed].map((each) => each.name));
  const words = wordsOf(program);
  const lost = shown.rows.filter((each) => !has.has(each.name) && words.has(each.name)).map((each) => ({ name: each.name, ghost: each.ghost || { ...shown.plan.strips[each.strip], needs: [], head: null } }));
  const drawn = new Set(answer.selections.map((each) => each.name));
  const faded = shown.selections.filter((each) => !drawn.has(each.name) && [...wordsOf(each.name)].every((word) => words.has(word))).map((each) => ({ ...each, isGhost: true }));
  return { ...answer, rows: [...answer.rows, ...lost], selections: [...answer.selections, ...faded] };
};

const stripOf = (answer, each) => each.ghost || answer.plan.strips[each.strip];

const indices = (length) => {
  const values = Array.from({ length }, (_, at) => String(at));
  return { id: "indices", label: "indices", expression: "", type: "int", shown: values, values, layer: 0, needs: [], head: null, defaulted: [] };
};

const heading = (text, length) => make("tr", { class: "layer" }, make("th", { scope: "rowgroup", colspan: length + 2 }, text));

const table = (answer) => {
  const { plan, rows } = answer;
  const length = plan.tokens.length;
  const inputs = plan.embedding.map((id) => plan.strips[id]).filter((strip) => ["tokens", "indices"].includes(strip.label));
  if (!inputs.some((strip) => strip.label === "indices")) {
    plan.strips.indices = indices(length);
    inputs.push(plan.strips.indices);
  }
  const named = new Set(rows.map((each) => each.strip));
  const others = Object.values(plan.strips).filter((strip) => !strip.constant && !inputs.includes(strip) && !named.has(strip.id));
  const every = [
    ...rows.map((each) => [each.name, stripOf(answer, each), each.ghost ? "ghost" : "", each.words]),
    ...(unnamed ? others.map((strip) => [strip.label, strip, "unnamed", strip.expression]) : []),
  ];
  const header = inputs.find((strip) => strip.label === "tokens");
  const layers = [...new Set(every.map(([, strip]) => strip.layer))].sort((one, other) => one - other);
  const bodies = layers.map((layer) => make("tbody", {},
    heading(layer ? `layer ${layer}` : "before any attention", length),
    ...every.filter(([, strip]) => strip.layer === layer).map(([name, strip, kind, words]) => row(name, strip, kind, words))));
  return make("table", { class: "values", "aria-label": "Values by position" },
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "position"),
      ...plan.tokens.map((_, at) => make("th", { scope: "col" }, at)), make("td", { class: "type" })), row("tokens", header, "input tokens")),
    make("tbody", {}, ...inputs.filter((strip) => strip !== header).map((strip) => row(strip.label, strip, "input"))),
    ...bodies,
    ...(answer.failed.length ? [make("tbody", {}, heading("no value on this example", length), ...answer.failed.map((each) => failedRow(each, length)))] : []));
};

const cellOf = (element) => {
  const named = element.closest("tr[data-row]");
  const at = Number(element.dataset.at);
  return named ? { row: named.dataset.row, at } : { strip: element.dataset.strip, at };
};

const isSame = (element, chosen) => {
  const cell = cellOf(element);
  return cell.at === chosen.at && (chosen.row ? cell.row === chosen.row : cell.strip === chosen.strip);
};

const highlight = (chosen, told) => {
  const panel = find("values");
  panel.querySelectorAll(".lit, .chosen, .looked").forEach((cell) => cell.classList.remove("lit", "chosen", "looked"));
  cards.forEach(({ name, card }) => card.light(told && told.selections.includes(name) ? chosen.at : null));
  if (!chosen || !told) return;
  for (const [strip, positions] of Object.entries(told.cells)) {
    for (const at of positions) panel.querySelectorAll(`td[data-strip="${strip}"][data-at="${at}"]`).forEach((cell) => cell.classList.add("lit"));
  }
  panel.querySelectorAll(`td[data-at="${chosen.at}"]`).forEach((cell) => { if (isSame(cell, chosen)) cell.classList.add("chosen"); });
  const heads = panel.querySelectorAll("table.values thead th");
  told.looks_at.forEach((at) => heads[at + 1]?.classList.add("looked"));
};
onChosen(highlight);

const walk = (event) => {
  const cell = event.target.closest("td[data-at]");
  if (!cell) return;
  const rows = [...find("values").querySelectorAll("table.values tr")].filter((each) => each.querySelector("td[data-at]"));
  const line = rows.indexOf(cell.parentElement);
  const at = Number(cell.dataset.at);
  const target = {
    ArrowUp: rows[line - 1]?.querySelectorAll("td[data-at]")[at],
    ArrowDown: rows[line + 1]?.querySelectorAll("td[data-at]")[at],
    ArrowLeft: cell.previousElementSibling?.matches("td") ? cell.previousElementSibling : null,
    ArrowRight: cell.nextElementSibling?.matches("td[data-at]") ? cell.nextElementSibling : null,
  }[event.key];
  if (isEditing()) return;
  if (event.key === "F2") startEditing(cell);
  else if (target) {
    event.preventDefault();
    cell.tabIndex = -1;
    target.tabIndex = 0;
    target.focus();
  } else if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    choose(cellOf(cell));
  } else if (event.key === "Escape") forgetChosen();
};

const hover = (event) => {
  const cell = event.target.closest("td[data-at]");
  const strip = cell && shown.plan.strips[cell.dataset.strip];
  if (!strip) tip.hide();
  else tip.show([`${cell.parentElement.firstElementChild.textContent}[${cell.dataset.at}] = ${strip.values[cell.dataset.at]}`], event.clientX, event.clientY);
};

const startEditing = (cell) => {
  if (cell.closest("tr.tokens")) editToken(cell, shown.plan.strips[cell.dataset.strip].values[cell.dataset.at]);
};

// A selection that is as it was keeps its picture.
const cards = new Map();
const selectionCards = (answer) => {
  const { column } = columns;
  const found = answer.selections.map(({ name, makes, plan, isGhost }) => {
    const caption = makes && makes.length ? `for ${makes.join(", ")}` : "";
    const key = `${column} ${caption} ${JSON.stringify(plan, (field, value) => (field === "place" ? undefined : value))}`;
    const known = cards.get(name);
    const card = known && known.key === key ? known.card : heatMap(plan.tokens, plan.strips, plan.head, { name, column, caption, onChoose: (at) => choose({ selection: name, at }) });
    card.classList.toggle("ghost", Boolean(isGhost));
    return { name, key, card };
  });
  cards.clear();
  found.forEach((each) => cards.set(each.name, each));
  return found.map((each) => each.card);
};

const outputs = (answer) => answer.outputs.flatMap(({ line, text }) => [make("dt", {}, `line ${line}`), make("dd", {}, text)]);

const remark = () => {
  const { plan } = shown;
  const isCut = !plan.layers.length && shown.rows.some((each) => stripOf(shown, each).layer);
  return [isCut ? plan.note : "", shown.left_out ? `and ${shown.left_out} more names` : ""].filter(Boolean).join("; ");
};

const onCell = (act) => (event) => { const cell = event.target.closest("td[data-at]"); if (cell) act(cell); };

const skeleton = (panel) => panel.replaceChildren(make("div", { class: "sheet" },
  make("div", { class: "table", onpointermove: hover, onpointerleave: () => tip.hide(), onkeydown: walk,
    onclick: onCell((cell) => { if (!isEditing()) choose(cellOf(cell)); }), ondblclick: onCell(startEditing) },
  make("table", { class: "values", "aria-label": "Values by position" })),
  make("div", { class: "beside" }, make("label", { class: "toggle" },
    make("input", { type: "checkbox", onchange: (event) => { unnamed = event.target.checked; build(); } }), " show the steps that have no name"),
  make("p", { class: "soft remark" })),
  make("section", { class: "selectors" }, make("h2", {}, "Attention ", make("small", {}, "rows ask (queries), columns answer (keys)")), make("div", { class: "cards" })),
  make("section", { class: "given beside" }, make("h2", {}, "Output"), make("dl", { class: "outputs" }))));

// The columns follow the pane, the names and the values.
const measure = () => {
  const panel = find("values");
  const rows = shown.rows.map((each) => stripOf(shown, each));
  const names = ["position", ...shown.rows.map((each) => each.name), ...shown.failed.map((each) => each.name)];
  const strips = unnamed ? Object.values(shown.plan.strips).filter((strip) => !strip.constant) : rows;
  const pane = panel.clientWidth - 32;
  const count = shown.plan.tokens.length;
  const columnsWith = (bool) => columnsFor(pane, names, [...shown.plan.tokens, ...strips.flatMap((strip) => (strip.type === "bool" ? [bool] : strip.shown))], count);
  columns = columnsWith("False");
  isSpelled = columns.label + count * columns.column + columns.type <= pane;
  if (!isSpelled) columns = columnsWith("F");
  const { style } = panel.querySelector(".sheet");
  for (const [name, value] of Object.entries(columns)) style.setProperty(`--${name}`, `${value}px`);
  style.setProperty("--pane", `${pane}px`);
};

const build = () => {
  isBehind = false;
  const panel = find("values");
  if (isEditing()) return;
  if (!panel.querySelector("table.values")) skeleton(panel);
  measure();
  const hasUnnamed = Object.values(shown.plan.strips).some((strip) => strip.head && !shown.rows.some((each) => each.strip === strip.id));
  const focused = document.activeElement?.matches?.("#values td[data-at]") ? { ...document.activeElement.dataset } : null;
  panel.querySelectorAll(".lit, .chosen, .looked").forEach((cell) => cell.classList.remove("lit", "chosen", "looked"));
  morph(panel.querySelector("table.values"), table(shown));
  panel.querySelector(".toggle").classList.toggle("idle", !hasUnnamed);
  panel.querySelector(".remark").textContent = remark();
  const place = panel.querySelector(".cards");
  const wanted = selectionCards(shown);
  if (wanted.length !== place.childElementCount || wanted.some((card, at) => card !== place.children[at])) place.replaceChildren(...wanted);
  panel.querySelector(".selectors").hidden = !wanted.length;
  const lines = make("dl", { class: "outputs" }, ...outputs(shown));
  if (!lines.isEqualNode(panel.querySelector(".outputs"))) panel.querySelector(".outputs").replaceWith(lines);
  panel.querySelector(".given").hidden = !shown.outputs.length;
  keepFocus(panel, focused);
  highlight(...chosenNow());
};

const keepFocus = (panel, focused) => {
  const wanted = focused && panel.querySelector(`td[data-strip="${focused.strip}"][data-at="${focused.at}"]`);
  const reachable = wanted || panel.querySelector("td[tabindex='0']") || panel.querySelector("td[data-at]");
  if (!reachable) return;
  reachable.tabIndex = 0;
  if (wanted) wanted.focus({ preventScroll: true });
};

export const showValues = (answer, program) => {
  const panel = find("values");
  if (!answer.plan) { // nothing new to show: what was there stays, but faded
    panel.classList.add("stale");
    if (!shown) panel.replaceChildren(make("p", { class: "soft" }, prose("Values appear here as soon as the program and the example can be read.")));
    return;
  }
  panel.classList.remove("stale");
  shown = withGhosts(answer, program);
  if (panel.hidden) isBehind = true;
  else build();
};

export const watchPane = () => new ResizeObserver(() => {
  if (!shown || find("values").hidden || !columns) return;
  const before = JSON.stringify(columns);
  measure();
  if (before !== JSON.stringify(columns)) build();
}).observe(find("values"));

export const catchUp = () => {
  if (isBehind) build();
};

// Another program is opened: nothing of this one stays.
export const forgetValues = () => {
  shown = null;
  isBehind = false;
  cards.clear();
  find("values").replaceChildren();
};
