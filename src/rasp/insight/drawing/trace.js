// A drawing and a sequence in it in, curves from everything that feeds the sequence out.

const CURVES = ".thread, .knot";

// The sequence and everything that it is computed from.
export const feeding = (strips, id) => {
  const found = new Set([id]);
  for (const one of found) for (const needed of strips[one].needs) found.add(needed);
  return found;
};

const add = (svg, name, attributes) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  svg.appendChild(element);
};

// The middle of a sequence's lower or upper edge, in the drawing's own units.
const edge = (svg, element, isLower) => {
  const box = (element.querySelector("rect.cell") || element).getBoundingClientRect();
  const point = new DOMPoint(box.left + box.width / 2, isLower ? box.bottom : box.top);
  return point.matrixTransform(svg.getScreenCTM().inverse());
};

const thread = (svg, from, to, isDirect) => {
  const a = edge(svg, from, true);
  const b = edge(svg, to, false);
  const bend = Math.max(10, (b.y - a.y) / 2);
  const far = isDirect ? "" : " far";
  add(svg, "path", { class: `thread${far}`, d: `M${a.x} ${a.y}C${a.x} ${a.y + bend} ${b.x} ${b.y - bend} ${b.x} ${b.y}` });
  add(svg, "circle", { class: `knot${far}`, cx: b.x, cy: b.y, r: isDirect ? 3.5 : 2.5 });
};

export const untrace = (svg) => {
  svg.querySelectorAll(CURVES).forEach((one) => one.remove());
  svg.querySelectorAll(".dimmed, .chosen").forEach((one) => one.classList.remove("dimmed", "chosen"));
};

// Draw the curves, and dim whatever has no part in the sequence; returns what feeds it.
export const trace = (svg, strips, id) => {
  untrace(svg);
  const lit = feeding(strips, id);
  const heads = new Set([...lit].map((one) => strips[one].head).filter(Boolean));
  for (const one of svg.querySelectorAll("[data-head]")) one.classList.toggle("dimmed", !heads.has(one.dataset.head));
  for (const one of svg.querySelectorAll("[data-of], [data-strip]")) {
    const name = one.dataset.of || one.dataset.strip;
    if (!lit.has(name) && !one.parentElement.closest(".dimmed")) one.classList.add("dimmed");
    if (name === id && one.dataset.strip) one.classList.add("chosen");
  }
  for (const one of lit) {
    for (const needed of strips[one].needs) {
      const from = svg.querySelector(`[data-made="${needed}"]`);
      const users = strips[one].head
        ? svg.querySelectorAll(`[data-head="${strips[one].head}"] [data-strip="${needed}"]`)
        : svg.querySelectorAll(`[data-made="${one}"]`);
      if (from) users.forEach((user) => thread(svg, from, user, one === id));
    }
  }
  return lit;
};
