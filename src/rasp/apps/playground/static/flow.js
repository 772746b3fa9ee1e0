// The picture of a program's flow in, a picture that answers and plays step by step out.

import { complaint, draw, find, make, save, tell, tip } from "./elements.js";
import { chosenName, nameMenu } from "./chooser.js";
import { boxOf, cellUnder, headsOf, trace, untrace, why } from "./drawing.js";
import { choose, chosenNow, onChosen } from "./selection.js";
import { setUpGeneration } from "./generating.js";
import { travel } from "./travel.js";
import { makeZoom } from "./zoom.js";

let page = null; // how to ask, and what is on the page
let zoom = null;
let plan = null;
let steps = [];
let step = 0;
let playing = null;
let wantedKey = "";

// Each step: what it says, and the strips and heads that it makes visible.
const stepsOf = (flow) => {
  const found = [{ text: "The input: tokens and their positions.", strips: flow.embedding, heads: [] }];
  const label = (id) => flow.strips[id].label;
  if (flow.input_feed_forward.length) found.push({ text: `A feed-forward before any attention makes ${flow.input_feed_forward.map(label).join(", ")}.`, strips: flow.input_feed_forward, heads: [] });
  for (const layer of flow.layers) {
    const names = layer.heads.map((head) => head.label || head.expression);
    const results = layer.heads.flatMap((head) => head.aggregates.map((each) => each.result));
    const many = layer.heads.length > 1;
    found.push({ text: `Layer ${layer.number}: ${many ? "each head" : "the head"} compares keys with queries and selects: ${names.join("; ")}.`, strips: [], heads: layer.heads.map((head) => head.id), layer: layer.number });
    found.push({ text: `Layer ${layer.number}: ${many ? "each head mixes" : "the head mixes"} the values it picked into ${results.map(label).join(", ")}.`, strips: results, results, heads: [], layer: layer.number });
    if (layer.feed_forward.length) found.push({ text: `Layer ${layer.number}: the feed-forward makes ${layer.feed_forward.map(label).join(", ")}, each position for itself.`, strips: layer.feed_forward, heads: [], layer: layer.number });
  }
  found.push({ text: `Done: ${flow.outputs.map(label).join(", ")}.`, strips: flow.outputs, heads: [], isLast: true });
  return found;
};

const constants = () => Object.values(plan.strips).filter((strip) => strip.constant).map((strip) => strip.id);

const showStep = (scroll = true) => {
  const svg = find("flow").querySelector("svg");
  if (!svg || !steps.length) return;
  const isLast = step === steps.length - 1;
  const strips = new Set(constants());
  const heads = new Set();
  for (const each of steps.slice(0, step + 1)) {
    each.strips.forEach((id) => strips.add(id));
    each.heads.forEach((id) => heads.add(id));
  }
  svg.querySelectorAll("[data-strip], [data-of]").forEach((one) => {
    const id = one.dataset.strip || one.dataset.of;
    const isOutput = one.closest(".output") && !isLast;
    one.classList.toggle("later", !isLast && (!strips.has(id) || Boolean(isOutput)));
  });
  svg.querySelectorAll("[data-head]").forEach((one) => {
    const isLater = !isLast && !heads.has(one.dataset.head);
    one.querySelector(".selection")?.classList.toggle("later", isLater);
    one.classList.toggle("current", !isLast && steps[step].heads.includes(one.dataset.head));
  });
  find("step-text").textContent = steps[step].text;
  find("step-count").textContent = `${step + 1} / ${steps.length}`;
  if (scroll) follow(svg, isLast);
};

const follow = (svg, isLast) => {
  const now = steps[step];
  const target = isLast ? svg.querySelector(".output") :
    now.layer ? svg.querySelector(`[data-head^="h${now.layer}."]`) : svg.querySelector("[data-made]");
  if (target) zoom.bring(target);
};

// The heads whose values are mixed in this step let them travel: those of the chosen position, or all.
const show = () => {
  showStep();
  const svg = find("flow").querySelector("svg");
  const { results = [] } = steps[step];
  const heads = Object.values(headsOf(plan)).filter((head) => head.aggregates.some((each) => results.includes(each.result)));
  const [chosen] = chosenNow();
  travel(svg, plan, heads, chosen ? chosen.at : null);
};

const go = (to) => {
  step = Math.max(0, Math.min(steps.length - 1, to));
  show();
};
const stop = () => {
  clearInterval(playing);
  playing = null;
  find("play").textContent = "▶ Play";
};
const play = () => {
  if (playing) return stop();
  if (step === steps.length - 1) go(0);
  find("play").textContent = "❚❚ Pause";
  playing = setInterval(() => {
    go(step + 1);
    if (step === steps.length - 1) stop();
  }, 1600);
  return undefined;
};

const hover = (event) => {
  const cell = plan && cellUnder(plan, event);
  if (!cell) tip.hide();
  else if (cell.head) tip.show(why(plan.strips, cell.head, cell.query, cell.key), event.clientX, event.clientY);
  else tip.show([`${cell.strip.label}[${cell.at}] = ${cell.strip.values[cell.at]}`], event.clientX, event.clientY);
};

const chooseCell = (event) => {
  const cell = plan && cellUnder(plan, event);
  if (!cell) return;
  const result = cell.head && cell.head.aggregates[0]?.result;
  if (cell.strip) choose({ flow_strip: cell.strip.id, at: cell.at });
  else if (result) choose({ flow_strip: result, at: cell.query });
  else choose({ selection: cell.head.label, at: cell.query });
};

// Beside a grid, queries and results have a part where they ask, keys and values where they are picked.
const hasPart = (strip, head, asked, at) => (strip.dataset.way === "column" ? asked.has(at) : [...asked].some((query) => head.picks[query][at] === "1"));

// Draw the curves to the sequence that is chosen, light the cells behind the chosen one, and the
// row of each head that it asked.
const highlight = (chosen, told) => {
  const frame = find("flow").querySelector(".picture");
  const svg = frame?.querySelector("svg");
  if (!svg || find("flow").hidden) return;
  untrace(svg);
  frame.querySelectorAll(".lit-cell").forEach((one) => one.remove());
  if (!chosen || !told || !plan || plan.kind !== "flow") return;
  if (told.flow_strip && plan.strips[told.flow_strip]) trace(svg, plan.strips, told.flow_strip);
  const asked = Object.fromEntries(Object.values(headsOf(plan)).map((head) =>
    [head.id, new Set(head.aggregates.flatMap((each) => told.flow_cells[each.result] || []))]));
  for (const [id, positions] of Object.entries(told.flow_cells)) {
    frame.querySelectorAll(`[data-strip="${id}"]`).forEach((strip) => {
      const inside = strip.closest("[data-head]");
      const shown = inside ? positions.filter((at) => hasPart(strip, headsOf(plan)[inside.dataset.head], asked[inside.dataset.head], at)) : positions;
      strip.querySelector(".cell").after(...shown.map((at) => draw("rect", { class: "lit-cell", ...boxOf(strip, at) })));
    });
  }
  for (const head of Object.values(headsOf(plan))) {
    const grid = frame.querySelector(`[data-head="${head.id}"] .selection`);
    if (!grid) continue;
    const [width, height] = grid.dataset.cells.split(" ").map(Number);
    grid.append(...[...asked[head.id]].map((at) => draw("rect", { class: "lit-cell row", x: 0, y: at * height, width: width * head.picks.length, height })));
  }
};
onChosen(highlight);

const asPng = async (svg) => {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  await image.decode();
  const scale = Math.min(2, 8000 / Math.max(image.width, image.height));
  const canvas = make("canvas", { width: Math.ceil(image.width * scale), height: Math.ceil(image.height * scale) });
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.drawImage(image, 0, 0);
  URL.revokeObjectURL(image.src);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
};

const download = async (kind) => {
  const theme = window.raspTheme.isDark ? "dark" : "light";
  const answer = await page.ask("picture", { ...page.now(), name: chosenName(), theme });
  if (answer.error) return tell(answer.error.message);
  if (kind === "svg") save(`${chosenName()}.svg`, answer.svg, "image/svg+xml");
  else save(`${chosenName()}.png`, await asPng(answer.svg), "image/png");
  return undefined;
};

const button = (text, label, onclick, id = null) => make("button", { type: "button", "aria-label": label, title: label, onclick, id }, text);

const zoomBar = () => make("div", { class: "zoom", role: "group", "aria-label": "Size of the picture" },
  button("−", "Smaller", () => zoom.by(1 / 1.25)), make("button", { type: "button", id: "zoom-full", title: "Show the picture in full size", onclick: () => zoom.to(1) }, "100 %"),
  button("+", "Larger", () => zoom.by(1.25)), button("Fit", "Fit the picture into the width", () => zoom.to("fit"), "fit-width"));

const stepBar = () => make("div", { class: "toolbar stepper", role: "group", "aria-label": "Step through the computation" },
  button("|◀", "First step", () => { stop(); go(0); }), button("◀", "Step back", () => { stop(); go(step - 1); }),
  button("▶ Play", "Play the computation", play, "play"),
  button("▶", "Step on", () => { stop(); go(step + 1); }, "step-on"), button("▶|", "Show everything", () => { stop(); go(steps.length - 1); }),
  make("span", { id: "step-count" }), make("span", { id: "step-text", "aria-live": "polite" }));

export const setUpFlow = (context) => {
  page = context;
  const frame = make("div", { class: "picture", tabindex: "0", role: "region", "aria-label": "The flow, layer by layer", onpointermove: hover, onpointerleave: () => tip.hide(), onclick: chooseCell });
  const where = make("nav", { class: "where", "aria-label": "Parts of the flow" });
  zoom = makeZoom(frame, where, (scale, isFitted) => {
    find("zoom-full").textContent = `${Math.round(100 * scale)} %`;
    find("fit-width").setAttribute("aria-pressed", String(isFitted));
  });
  find("flow").replaceChildren(
    make("div", { class: "toolbar" }, nameMenu("How", () => showFlow()), make("span", {}, "is computed"),
      make("span", { class: "push" }), zoomBar(),
      button("SVG", "Download the picture as SVG", () => download("svg")),
      button("PNG", "Download the picture as PNG", () => download("png")), setUpGeneration(context)),
    stepBar(), where, frame);
};

export const showFlow = async () => {
  const name = chosenName();
  const frame = find("flow").querySelector(".picture");
  if (!name) {
    frame.replaceChildren(make("p", { class: "soft" }, "Define an s-op, and its flow is drawn here."));
    return;
  }
  const asked = JSON.stringify([page.now(), name]);
  if (asked === wantedKey) {
    highlight(...chosenNow());
    return;
  }
  wantedKey = asked;
  const answer = await page.ask("flow", { ...page.now(), name });
  if (answer.replaced || asked !== wantedKey) return;
  frame.querySelectorAll(".complaint").forEach((one) => one.remove());
  frame.classList.toggle("stale", Boolean(answer.error));
  if (answer.error) { // the last picture stays, faded
    wantedKey = "";
    frame.prepend(complaint(answer.error));
    return;
  }
  const parsed = new DOMParser().parseFromString(answer.svg, "image/svg+xml").documentElement;
  parsed.querySelectorAll("title").forEach((title) => title.remove());
  frame.replaceChildren(document.adoptNode(parsed));
  plan = answer.plan;
  const wasLast = step >= steps.length - 1;
  steps = plan.kind === "flow" ? stepsOf(plan) : [];
  find("flow").querySelector(".stepper").classList.toggle("idle", !steps.length);
  step = wasLast ? steps.length - 1 : Math.min(step, steps.length - 1);
  zoom.setPlan(plan);
  showStep(false);
  highlight(...chosenNow());
};

// Another program is opened: nothing of this one stays.
export const forgetFlow = () => {
  stop();
  wantedKey = "";
  plan = null;
  steps = [];
  step = 0;
  zoom.forget();
  find("flow").querySelector(".picture").replaceChildren();
};
