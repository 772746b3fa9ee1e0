// A picture of heads in, values that travel through it out: each from where it is read, along the
// picked cell of its query's row, into the result.

import { boxOf } from "./drawing.js";
import { draw } from "./elements.js";

const MOST = 160; // values under way at once
const DURATION = 1_300;

const inPicture = (svg, element, x, y) =>
  new DOMPoint(x, y).matrixTransform(svg.getScreenCTM().inverse().multiply(element.getScreenCTM()));

const middle = (svg, strip, at) => {
  const { x, y, width, height } = boxOf(strip, at);
  return inPicture(svg, strip, x + width / 2, y + height / 2);
};

const chip = (svg, text, stations, delay) => {
  const width = Math.max(18, 9 + 7.4 * text.length);
  const made = draw("g", { class: "chip" },
    draw("rect", { x: -width / 2, y: -9, width, height: 18, rx: 9 }), draw("text", { y: 4 }, text));
  svg.append(made);
  const frames = stations.map(({ x, y }, number) => ({ transform: `translate(${x}px, ${y}px)`, opacity: number === stations.length - 1 ? 0 : 1 }));
  const motion = made.animate([...frames.slice(0, -1), { ...frames.at(-1), opacity: 1, offset: 0.92 }, frames.at(-1)],
    { duration: DURATION, delay, easing: "ease-in-out", fill: "both" });
  motion.onfinish = () => made.remove();
  motion.oncancel = () => made.remove();
};

// Let the values of some heads travel, for one query or for all of them, one query after another.
export const travel = (svg, plan, heads, only) => {
  svg.querySelectorAll(".chip").forEach((one) => one.remove());
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  let count = 0;
  for (const head of heads) {
    const group = svg.querySelector(`[data-head="${head.id}"]`);
    const grid = group?.querySelector(".selection");
    if (!grid) continue;
    const [width, height] = grid.dataset.cells.split(" ").map(Number);
    for (const each of head.aggregates) {
      const values = group.querySelector(`[data-strip="${each.values}"][data-way="row"]`);
      const result = group.querySelector(`[data-strip="${each.result}"][data-way="column"]`);
      head.picks.forEach((row, query) => {
        if (only !== null && query !== only) return;
        [...row].forEach((bit, key) => {
          if (bit !== "1" || count >= MOST) return;
          count += 1;
          const cell = inPicture(svg, grid, (key + 0.5) * width, (query + 0.5) * height);
          const stations = [values && middle(svg, values, key), cell, result && middle(svg, result, query)].filter(Boolean);
          chip(svg, plan.strips[each.values].shown[key], stations, only === null ? query * 130 : 0);
        });
      });
    }
  }
};
