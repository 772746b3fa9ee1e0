// A drawing and a pointer in, the cell under it out; and where a cell of a sequence lies.

// Where the pointer is, in an element's own units.
export const pointIn = (element, event) =>
  new DOMPoint(event.clientX, event.clientY).matrixTransform(element.getScreenCTM().inverse());

// The cell under the pointer: { grid, head, query, key, width, height } or { element, strip, at }.
export const cellUnder = (plan, event) => {
  const clamp = (value, count) => Math.max(0, Math.min(count - 1, Math.floor(value)));
  const grid = event.target.closest(".selection");
  if (grid) {
    const head = headsOf(plan)[grid.closest("[data-head]").dataset.head];
    const [width, height] = grid.dataset.cells.split(" ").map(Number);
    const point = pointIn(grid, event);
    const count = head.picks.length;
    return { grid, head, query: clamp(point.y / height, count), key: clamp(point.x / width, count), width, height };
  }
  const element = event.target.closest("[data-strip]");
  const strip = element && plan.strips[element.dataset.strip];
  if (!strip) return null;
  const point = pointIn(element, event);
  const along = element.dataset.way === "row" ? point.x : point.y;
  return { element, strip, at: clamp(along / Number(element.dataset.cell), strip.values.length) };
};

// The corner and size of one cell of a sequence.
export const boxOf = (element, at) => {
  const size = Number(element.dataset.cell);
  const box = element.querySelector("rect.cell");
  const isRow = element.dataset.way === "row";
  return {
    x: isRow ? at * size : 0, y: isRow ? 0 : at * size,
    width: isRow ? size : Number(box.getAttribute("width")), height: isRow ? Number(box.getAttribute("height")) : size,
  };
};
