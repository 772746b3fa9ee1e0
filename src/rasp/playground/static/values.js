// What a run gave in, the Values view out: every s-op as a row over the input, selectors below.

import { find, make, prose, tip } from "./elements.js";
import { heatMap } from "./heat.js";
import { origins, story } from "./why.js";

let shown = null; // the last answer that had values
let chosen = null; // [strip, position]
let unnamed = false;

const cells = (strip) => strip.shown.map((text, at) => make("td", {
  "data-strip": strip.id, "data-at": at, tabindex: "-1",
  class: [strip.type, strip.defaulted.includes(at) ? "defaulted" : "", strip.values[at] === "False" ? "no" : ""].join(" ").trim(),
}, strip.type === "bool" && strip.shown.length <= 24 ? strip.values[at] : text));

const row = (name, strip, kind = "") => make("tr", { class: kind },
  make("th", { scope: "row", title: strip.expression && strip.expression !== name ? `${name} = ${strip.expression}` : name }, name),
  ...cells(strip), make("td", { class: "type" }, `${strip.type}s`));

const heading = (text, length) => make("tr", { class: "layer" }, make("th", { scope: "rowgroup", colspan: length + 2 }, text));

const table = (answer) => {
  const { plan, rows } = answer;
  const length = plan.tokens.length;
  const inputs = plan.embedding.filter((id) => ["tokens", "indices"].includes(plan.strips[id].label));
  const named = new Map(rows.map((each) => [each.name, plan.strips[each.strip]]));
  const others = Object.values(plan.strips).filter((strip) =>
    !strip.constant && !inputs.includes(strip.id) && ![...named.values()].includes(strip));
  const every = [...named, ...(unnamed ? others.map((strip) => [strip.label, strip]) : [])];
  const layers = [...new Set(every.map(([, strip]) => strip.layer))].sort((one, other) => one - other);
  const bodies = layers.map((layer) => make("tbody", {},
    heading(layer ? `layer ${layer}` : "before any attention", length),
    ...every.filter(([, strip]) => strip.layer === layer)
      .map(([name, strip]) => row(name, strip, named.get(name) === strip ? "" : "unnamed"))));
  return make("table", { class: "values", "aria-label": "Values by position" },
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "position"),
      ...plan.tokens.map((_, at) => make("th", { scope: "col" }, at)), make("td", { class: "type" }))),
    make("tbody", {}, ...inputs.map((id) => row(plan.strips[id].label, plan.strips[id], "input"))),
    ...bodies);
};

const highlight = () => {
  const panel = find("values");
  panel.querySelectorAll(".lit, .chosen").forEach((cell) => cell.classList.remove("lit", "chosen"));
  const note = find("cell-story");
  if (!chosen || !shown.plan.strips[chosen[0]] || chosen[1] >= shown.plan.tokens.length) {
    chosen = null;
    note.textContent = "Choose a cell to see what it was computed from.";
    return;
  }
  for (const [strip, positions] of origins(shown.plan, ...chosen)) {
    for (const at of positions) {
      panel.querySelectorAll(`td[data-strip="${strip}"][data-at="${at}"]`).forEach((cell) => cell.classList.add("lit"));
    }
  }
  panel.querySelectorAll(`td[data-strip="${chosen[0]}"][data-at="${chosen[1]}"]`).forEach((cell) => cell.classList.add("chosen"));
  note.textContent = story(shown.plan, ...chosen).join("  ·  ");
};

const choose = (cell) => {
  const next = [cell.dataset.strip, Number(cell.dataset.at)];
  chosen = chosen && chosen[0] === next[0] && chosen[1] === next[1] ? null : next;
  highlight();
};

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
  if (target) {
    event.preventDefault();
    cell.tabIndex = -1;
    target.tabIndex = 0;
    target.focus();
  } else if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    choose(cell);
  } else if (event.key === "Escape") {
    chosen = null;
    highlight();
  }
};

const hover = (event) => {
  const cell = event.target.closest("td[data-at]");
  if (!cell || !shown.plan.strips[cell.dataset.strip]) tip.hide();
  else tip.show(story(shown.plan, cell.dataset.strip, Number(cell.dataset.at)), event.clientX, event.clientY);
};

const selectionCards = (answer) => answer.selections.map(({ name, plan }) =>
  heatMap(plan.tokens, plan.strips, plan.head, { name }));

const outputs = (answer) => answer.outputs.length
  ? [make("h2", {}, "Output"), make("dl", { class: "outputs" }, ...answer.outputs.flatMap(({ line, text }) =>
    [make("dt", {}, `line ${line}`), make("dd", {}, text)]))]
  : [];

const build = () => {
  const panel = find("values");
  const { plan } = shown;
  const hasUnnamed = Object.values(plan.strips).some((strip) => strip.head && !shown.rows.some((each) => each.strip === strip.id));
  const scrolled = [...panel.querySelectorAll(".scroll")].map((each) => each.scrollLeft)[0] || 0;
  const focused = document.activeElement?.matches?.("#values td[data-at]") ? { ...document.activeElement.dataset } : null;
  panel.replaceChildren(
    make("p", { id: "cell-story", class: "soft", "aria-live": "polite" }),
    make("div", { class: "scroll", onpointermove: hover, onpointerleave: () => tip.hide(), onkeydown: walk,
      onclick: (event) => { const cell = event.target.closest("td[data-at]"); if (cell) choose(cell); } }, table(shown)),
    make("label", { class: `toggle${hasUnnamed ? "" : " idle"}` },
      make("input", { type: "checkbox", checked: unnamed, onchange: (event) => { unnamed = event.target.checked; build(); } }),
      " show the steps that have no name"),
    ...(shown.plan.note && !plan.layers.length && shown.rows.some((each) => plan.strips[each.strip].layer)
      ? [make("p", { class: "soft" }, shown.plan.note)] : []),
    ...(shown.left_out ? [make("p", { class: "soft" }, `and ${shown.left_out} more names`)] : []),
    ...(shown.selections.length ? [make("h2", {}, "Selectors ", make("small", {}, "rows ask (queries), columns answer (keys)")),
      make("div", { class: "cards" }, ...selectionCards(shown))] : []),
    ...outputs(shown));
  const first = panel.querySelector(focused ? `td[data-strip="${focused.strip}"][data-at="${focused.at}"]` : "td[data-at]") || panel.querySelector("td[data-at]");
  if (first) {
    first.tabIndex = 0;
    if (focused) first.focus({ preventScroll: true });
  }
  if (scrolled) panel.querySelector(".scroll").scrollLeft = scrolled;
  highlight();
};

export const showValues = (answer) => {
  const panel = find("values");
  if (!answer.plan) { // nothing new to show: what was there stays, but faded
    panel.classList.add("stale");
    if (!shown) panel.replaceChildren(make("p", { class: "soft" }, prose("Values appear here as soon as the program and the example can be read.")));
    return;
  }
  panel.classList.toggle("stale", answer.errors.length > 0);
  shown = answer;
  build();
};
