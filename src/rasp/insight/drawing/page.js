// The plan in the page and the drawing of it in, answers to pointer and keyboard out. `why.js`,
// `trace.js` and `cells.js` come before it.
"use strict";
(() => {
  const plan = JSON.parse(document.getElementById("plan").textContent);
  const svg = document.querySelector(".scroll svg");
  const tip = document.getElementById("tip");
  const card = document.getElementById("card");
  const SVG = "http://www.w3.org/2000/svg";
  const strips = plan.strips || {};
  const heads = headsOf(plan);

  // Without this script the titles are the tooltips; with it they would double ours.
  for (const title of svg.querySelectorAll("title")) title.remove();

  const overlay = (parent, name, attributes) => {
    const element = document.createElementNS(SVG, name);
    element.classList.add("overlay");
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    parent.appendChild(element);
    return element;
  };
  const clear = (kind) => svg.querySelectorAll(kind).forEach((element) => element.remove());

  window.raspWhy = (id, query, key) => why(strips, heads[id], query, key);

  const place = (event) => {
    const box = tip.getBoundingClientRect();
    const x = Math.min(event.clientX + 14, innerWidth - box.width - 8);
    const below = event.clientY + 18 + box.height < innerHeight;
    tip.style.left = `${Math.max(8, x)}px`;
    tip.style.top = `${below ? event.clientY + 18 : Math.max(8, event.clientY - box.height - 12)}px`;
  };
  const showTip = (lines, event) => {
    tip.textContent = lines.join("\n");
    tip.hidden = false;
    place(event);
  };

  const mark = (element, index) => overlay(element, "rect", { class: "mark overlay", rx: 2, ...boxOf(element, index) });

  // ---- hovering
  const hoverGrid = ({ grid, head, query, key, width, height }, event) => {
    const count = head.picks.length;
    overlay(grid, "rect", { class: "cross overlay", x: 0, y: query * height, width: count * width, height });
    overlay(grid, "rect", { class: "cross overlay", x: key * width, y: 0, width, height: count * height });
    for (const strip of grid.closest("[data-head]").querySelectorAll("[data-way]")) mark(strip, strip.dataset.way === "row" ? key : query);
    const lines = why(strips, head, query, key);
    for (const one of head.aggregates) {
      const result = strips[one.result];
      lines.push(`${result.label}[${query}] = ${result.values[query]}` +
        (result.defaulted.includes(query) ? " (nothing picked: the default)" : ""));
    }
    showTip(lines, event);
  };
  const hoverStrip = ({ element, strip, at: index }, event) => {
    mark(element, index);
    const lines = [`${strip.label}[${index}] = ${strip.values[index]}`];
    if (strip.defaulted.includes(index)) lines.push("nothing picked: the default");
    if (strip.expression && strip.expression !== strip.label) lines.push(`${strip.label} = ${strip.expression}`);
    if (strip.place) lines.push(strip.place);
    showTip(lines, event);
  };
  svg.addEventListener("pointermove", (event) => {
    clear(".mark.overlay, .cross.overlay");
    const cell = cellUnder({ ...plan, strips }, event);
    if (!cell) tip.hidden = true;
    else if (cell.head) hoverGrid(cell, event);
    else hoverStrip(cell, event);
  });
  svg.addEventListener("pointerleave", () => {
    clear(".mark.overlay, .cross.overlay");
    tip.hidden = true;
  });

  // ---- what feeds a strip
  const forget = () => {
    untrace(svg);
    card.hidden = true;
    document.body.classList.remove("carded");
  };
  const choose = (id) => describe(id, trace(svg, strips, id));
  const describe = (id, lit) => {
    const strip = strips[id];
    const lines = [strip.expression && strip.expression !== strip.label ? `${strip.label} = ${strip.expression}` : strip.label];
    if (plan.kind === "flow") {
      const how = strip.head ? ", by a head" : strip.layer ? ", by its feed-forward" : "";
      lines.push(strip.layer ? `computed in layer ${strip.layer}${how}` : "there from the input on");
    }
    const others = [...lit].filter((one) => one !== id && !strips[one].constant).map((one) => strips[one].label);
    if (others.length) lines.push(`fed by ${others.join(", ")}`);
    if (strip.place) lines.push(strip.place);
    lines.push("Escape: show everything again");
    card.textContent = lines.join("\n");
    card.hidden = false;
    document.body.classList.add("carded");
  };
  svg.addEventListener("click", (event) => {
    const strip = event.target.closest("[data-strip]");
    if (strip && strips[strip.dataset.strip]) choose(strip.dataset.strip);
    else if (!event.target.closest(".selection")) forget();
  });
  document.addEventListener("keydown", (event) => {
    const strip = event.target.closest ? event.target.closest("[data-strip]") : null;
    if (event.key === "Escape") forget();
    else if (strip && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      choose(strip.dataset.strip);
    }
  });
  for (const element of svg.querySelectorAll("[data-strip]")) {
    const strip = strips[element.dataset.strip];
    if (!strip) continue;
    element.setAttribute("tabindex", "0");
    element.setAttribute("role", "button");
    element.setAttribute("aria-label", `${strip.label}: ${strip.values.join(", ")}`);
  }

  // ---- heat maps: the number under the pointer
  for (const [number, group] of [...svg.querySelectorAll("[data-heat]")].entries()) {
    const map = plan.maps[number];
    group.addEventListener("pointermove", (event) => {
      const [width, height] = group.dataset.heat.split(" ").map(Number);
      const point = pointIn(group, event);
      const row = Math.floor(point.y / height);
      const column = Math.floor(point.x / width);
      if (!(row in map.weights) || !(column in map.weights[row])) return;
      event.stopPropagation();
      showTip([`query ${row} (${map.rows[row]}), key ${column} (${map.columns[column]})`, `${map.weights[row][column]}`], event);
    });
  }
})();
