// A selection in, a heat map out: hovered or walked through with the arrow keys, it says why.

import { draw, make, tip } from "./elements.js";
import { why } from "./drawing.js";

const size = (count) => (count <= 16 ? 20 : count <= 30 ? 15 : count <= 60 ? 9 : 5);

const labels = (tokens, cell, way) => {
  if (cell < 9) return [];
  return tokens.map((token, at) => draw("text", {
    class: way, x: way === "keys" ? (at + 0.5) * cell : -6, y: way === "keys" ? -6 : (at + 0.5) * cell + 4,
  }, token.length > 3 ? `${token.slice(0, 2)}…` : token));
};

// `weights`, where given, are numbers from 0 to 1 instead of yes and no.
const picked = (head, cell, weights) => {
  const gap = cell > 10 ? 1.5 : 0;
  if (weights) {
    return weights.flatMap((row, query) => row.map((weight, key) => draw("rect", {
      class: "picked", x: key * cell + gap / 2, y: query * cell + gap / 2,
      width: cell - gap, height: cell - gap, opacity: Math.max(0, Math.min(1, weight)) ** 0.7, // small shares can still be seen
    })));
  }
  let path = "";
  head.picks.forEach((row, query) => [...row].forEach((bit, key) => {
    if (bit === "1") path += `M${key * cell + gap / 2} ${query * cell + gap / 2}h${cell - gap}v${cell - gap}h${gap - cell}z`;
  }));
  return [draw("path", { class: "picked", d: path })];
};

export const heatMap = (tokens, strips, head, options = {}) => {
  const count = tokens.length;
  const cell = size(count);
  const left = cell < 9 ? 8 : 34;
  const top = cell < 9 ? 8 : 22;
  const side = count * cell;
  const cross = [draw("rect", { class: "cross" }), draw("rect", { class: "cross" })];
  const asked = draw("rect", { class: "asked", x: -0.5, width: side + 1, height: cell });
  const grid = draw("g", { transform: `translate(${left} ${top})` },
    draw("rect", { class: "grid", width: side, height: side }),
    ...picked(head, cell, options.weights), asked, ...cross,
    ...labels(tokens, cell, "keys"), ...labels(tokens, cell, "queries"));
  const name = options.name || head.label || head.expression;
  const svg = draw("svg", {
    class: "heat", width: left + side + 6, height: top + side + 6, role: "img", tabindex: "0",
    "aria-label": `${name}: rows are queries, columns are keys. Arrow keys walk through the cells.`,
  }, grid);
  const note = make("p", { class: "why", "aria-live": "polite" });
  let at = null;

  const lines = (query, key) => {
    const text = options.weights
      ? [`query ${query}, key ${key}`, options.weights[query][key].toFixed(4)]
      : why(strips, head, query, key);
    return text;
  };
  const mark = (query, key) => {
    const boxes = [[0, query * cell, side, cell], [key * cell, 0, cell, side]];
    cross.forEach((box, number) => ["x", "y", "width", "height"].forEach((each, part) => box.setAttribute(each, boxes[number][part])));
    svg.classList.add("marked");
    if (options.onMark) options.onMark(query, key);
  };
  const clear = () => {
    svg.classList.remove("marked");
    tip.hide();
    if (options.onMark) options.onMark(null, null);
  };
  const inside = (value) => Math.max(0, Math.min(count - 1, Math.floor(value)));
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const query = inside((event.clientY - box.top - top) / cell);
    const key = inside((event.clientX - box.left - left) / cell);
    mark(query, key);
    tip.show(lines(query, key), event.clientX, event.clientY);
  });
  svg.addEventListener("pointerleave", clear);
  svg.addEventListener("blur", () => { clear(); note.textContent = ""; });
  const chooseAt = (query) => options.onChoose && options.onChoose(query);
  svg.addEventListener("click", (event) => chooseAt(inside((event.clientY - svg.getBoundingClientRect().top - top) / cell)));
  svg.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && at) chooseAt(at[0]);
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    at = at ? [inside(at[0] + step[0]), inside(at[1] + step[1])] : [0, 0];
    mark(...at);
    const box = svg.getBoundingClientRect();
    const text = lines(...at);
    tip.show(text, box.left + left + (at[1] + 1) * cell, box.top + top + at[0] * cell);
    note.textContent = text.join(", ");
  });
  const figure = make("figure", { class: "selection-card" },
    make("figcaption", {}, make("strong", {}, name),
      options.caption ? make("span", {}, options.caption) : head.expression && head.expression !== name ? make("code", {}, head.expression) : null),
    make("div", { class: "scroll" }, svg), note);
  // Light the row of one query, or none.
  figure.light = (query) => {
    figure.classList.toggle("lit", query !== null && query < count);
    asked.setAttribute("y", (query || 0) * cell);
  };
  return figure;
};
