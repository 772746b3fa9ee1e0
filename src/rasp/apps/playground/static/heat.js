// A selection in, a heat map out: hovered or walked through with the arrow keys, it says why. In a
// sheet its columns are the sheet's own; of many queries it shows a part, and an overview of all.

import { draw, make, tip } from "./elements.js";
import { why } from "./drawing.js";

const MOST_ROWS = 60; // shown at once, before queries are shown in parts
const PART = 40;
const LETTER = 0.61; // the width of a letter, as a part of its height
const OVERVIEW = 96;

const rowHeight = (count) => (count <= 16 ? 22 : count <= 30 ? 18 : 14);
const freeWidth = (count) => (count <= 16 ? 22 : count <= 30 ? 16 : count <= 60 ? 12 : 9);

// A text that fits into a width, or nothing where not even a letter does.
const fitting = (text, width, font) => {
  const room = Math.floor(width / (font * LETTER));
  if (room < 1) return "";
  return text.length <= room ? text : `${text.slice(0, Math.max(0, room - 1))}…`;
};

const pathOf = (picks, first, width, height, gap) => {
  let path = "";
  picks.forEach((row, query) => [...row].forEach((bit, key) => {
    if (bit === "1") path += `M${key * width + gap / 2} ${(query + first) * height + gap / 2}h${width - gap}v${height - gap}h${gap - width}z`;
  }));
  return draw("path", { class: "picked", d: path });
};

// `weights`, where given, are numbers from 0 to 1 instead of yes and no.
const picked = (head, weights, first, count, width, height) => {
  const gap = Math.min(width, height) > 10 ? 2 : 0;
  if (!weights) return [pathOf(head.picks.slice(first, first + count), 0, width, height, gap)];
  return weights.slice(first, first + count).flatMap((row, query) => row.map((weight, key) => draw("rect", {
    class: "picked", x: key * width + gap / 2, y: query * height + gap / 2,
    width: width - gap, height: height - gap, opacity: Math.max(0, Math.min(1, weight)) ** 0.7, // small shares can still be seen
  })));
};

const overview = (picks, first, count, onMove) => {
  const scale = OVERVIEW / picks.length;
  const box = draw("svg", {
    class: "heat overview", width: OVERVIEW, height: OVERVIEW, "aria-hidden": "true",
    onclick: (event) => onMove(Math.floor((event.clientY - box.getBoundingClientRect().top) / scale)),
  }, draw("rect", { class: "grid", width: OVERVIEW, height: OVERVIEW }), pathOf(picks, 0, scale, scale, 0),
  draw("rect", { class: "asked", x: 0.5, y: first * scale, width: OVERVIEW - 1, height: count * scale }));
  return box;
};

const keyLabels = (tokens, width, font) => tokens.map((token, at) =>
  draw("text", { class: "keys", x: (at + 0.5) * width, y: 12, "font-size": font }, fitting(token, width - 2, font)));

export const heatMap = (tokens, strips, head, options = {}) => {
  const total = tokens.length;
  const count = total > MOST_ROWS ? PART : total;
  const width = options.column || freeWidth(total);
  const height = options.column ? rowHeight(count) : width;
  const font = Math.min(12, Math.max(8, Math.min(width, height) - 2));
  const top = 16;
  const name = options.name || head.label || head.expression;
  let first = 0; // the first query that is shown
  let at = null; // where the arrow keys are
  let lit = null; // the query that is chosen

  const svg = draw("svg", {
    class: "heat", width: total * width + 1, height: top + count * height + 1, role: "img", tabindex: "0",
    "aria-label": `${name}: rows are queries, columns are keys. Arrow keys walk through the cells.`,
  });
  const queries = make("div", { class: "queries", "aria-hidden": "true" });
  const pager = make("div", { class: "pager" });
  const note = make("p", { class: "why", "aria-live": "polite" });
  const cross = [draw("rect", { class: "cross" }), draw("rect", { class: "cross" })];
  const asked = draw("rect", { class: "asked", x: -0.5, width: total * width + 1, height });

  const fill = () => {
    svg.replaceChildren(...keyLabels(tokens, width, font), draw("g", { transform: `translate(0 ${top})` },
      draw("rect", { class: "grid", width: total * width, height: count * height }),
      ...picked(head, options.weights, first, count, width, height), asked, ...cross));
    queries.replaceChildren(...tokens.slice(first, first + count).map((token, row) => {
      const label = make("span", {}, make("small", {}, first + row), token);
      label.style.height = `${height}px`;
      label.style.fontSize = `${font}px`;
      return label;
    }));
    asked.setAttribute("y", ((lit ?? 0) - first) * height);
    if (count === total) return;
    const move = (to) => { first = Math.max(0, Math.min(total - count, to)); fill(); };
    const turn = (text, to, isLast) => make("button", { type: "button", disabled: isLast, onclick: () => move(to) }, text);
    pager.replaceChildren(turn("▲ earlier", first - count, !first), turn("▼ later", first + count, first + count >= total),
      make("span", { class: "soft" }, `queries ${first} to ${first + count - 1} of ${total}`),
      ...(head.picks.length ? [overview(head.picks, first, count, (query) => move(query - count / 2 | 0))] : []));
  };

  const lines = (query, key) => (options.weights ? [`query ${query}, key ${key}`, options.weights[query][key].toFixed(4)] : why(strips, head, query, key));
  const mark = (query, key) => {
    const boxes = [[0, (query - first) * height, total * width, height], [key * width, 0, width, count * height]];
    cross.forEach((box, number) => ["x", "y", "width", "height"].forEach((each, part) => box.setAttribute(each, boxes[number][part])));
    svg.classList.add("marked");
  };
  const clear = () => { svg.classList.remove("marked"); tip.hide(); };
  const inside = (value, least, most) => Math.max(least, Math.min(most, Math.floor(value)));
  const under = (event) => {
    const box = svg.getBoundingClientRect();
    return [inside(first + (event.clientY - box.top - top) / height, first, first + count - 1), inside((event.clientX - box.left) / width, 0, total - 1)];
  };
  svg.addEventListener("pointermove", (event) => {
    const cell = under(event);
    mark(...cell);
    tip.show(lines(...cell), event.clientX, event.clientY);
  });
  svg.addEventListener("pointerleave", clear);
  svg.addEventListener("blur", () => { clear(); note.textContent = ""; });
  const chooseAt = (query) => options.onChoose && options.onChoose(query);
  svg.addEventListener("click", (event) => chooseAt(under(event)[0]));
  svg.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && at) chooseAt(at[0]);
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    at = at ? [inside(at[0] + step[0], 0, total - 1), inside(at[1] + step[1], 0, total - 1)] : [first, 0];
    if (at[0] < first || at[0] >= first + count) { first = Math.max(0, Math.min(total - count, at[0] - (count >> 1))); fill(); }
    mark(...at);
    const box = svg.getBoundingClientRect();
    const text = lines(...at);
    tip.show(text, box.left + (at[1] + 1) * width, box.top + top + (at[0] - first) * height);
    note.textContent = text.join(", ");
  });
  const caption = make("figcaption", {}, make("strong", {}, name),
    options.caption ? make("span", {}, options.caption) : null,
    head.expression && head.expression !== name ? make("code", {}, head.expression) : null);
  const figure = make("figure", { class: "selection-card" }, caption, count < total ? pager : null,
    make("div", { class: options.column ? "grid-frame" : "grid-frame scroll" }, queries, svg), note);
  // Light the row of one query, or none.
  figure.light = (query) => {
    lit = query !== null && query < total ? query : null;
    figure.classList.toggle("lit", lit !== null);
    if (lit !== null && (lit < first || lit >= first + count)) { first = Math.max(0, Math.min(total - count, lit - (count >> 1))); fill(); }
    asked.setAttribute("y", ((lit ?? 0) - first) * height);
  };
  fill();
  return figure;
};
