// A frame with a picture in it in, a picture that is zoomed, moved and fitted out. Names of rows
// stay in sight when the picture is moved sideways, and a line above says which part is shown.

import { make } from "./elements.js";

const SMALLEST = 0.25;
const LARGEST = 4;
const LEGIBLE = 0.62; // a picture that would become smaller is not fitted by itself

export const makeZoom = (frame, where, onScale) => {
  let wish = null; // a number, "fit", or null: fit if that stays legible
  let scale = 1;
  let isCentred = false;
  let parts = []; // the stations of the picture, for the line above it

  const picture = () => frame.querySelector("svg");
  const fitting = () => (frame.clientWidth - 32) / picture().viewBox.baseVal.width;

  const apply = () => {
    const svg = picture();
    if (!svg || !frame.clientWidth) return;
    const fit = fitting();
    scale = typeof wish === "number" ? wish : wish === "fit" || fit >= LEGIBLE ? Math.min(1, fit) : 1;
    scale = Math.max(SMALLEST, Math.min(LARGEST, scale));
    svg.style.width = `${svg.viewBox.baseVal.width * scale}px`;
    svg.style.height = `${svg.viewBox.baseVal.height * scale}px`;
    onScale(scale, Math.abs(scale - Math.min(1, fit)) < 1e-3);
    moved();
  };

  // Zoom about a point of the frame, which stays where it is.
  const zoomTo = (wanted, x = frame.clientWidth / 2, y = frame.clientHeight / 2) => {
    const svg = picture();
    if (!svg) return;
    const before = svg.getBoundingClientRect();
    const outer = frame.getBoundingClientRect();
    const share = [(outer.left + x - before.left) / before.width, (outer.top + y - before.top) / before.height];
    wish = wanted;
    apply();
    const after = svg.getBoundingClientRect();
    frame.scrollLeft += after.left + share[0] * after.width - outer.left - x;
    frame.scrollTop += after.top + share[1] * after.height - outer.top - y;
  };

  // Names at the left of a row of cells move along with the view, as far as their row goes.
  const stick = () => {
    const left = frame.getBoundingClientRect().left + 6;
    for (const name of frame.querySelectorAll("g[data-of] > text.end:first-child")) {
      const row = name.parentElement.getBoundingClientRect();
      name.removeAttribute("transform");
      name.classList.remove("stuck");
      const own = name.getBoundingClientRect();
      const by = Math.min(left - own.left, row.right - own.right);
      if (by <= 0) continue;
      name.classList.add("stuck");
      name.setAttribute("transform", `translate(${by / scale} 0)`);
    }
  };

  const bring = (target) => {
    const box = target.getBoundingClientRect();
    const outer = frame.getBoundingClientRect();
    const top = frame.scrollTop + box.top - outer.top - Math.max(20, (outer.height - box.height) / 2);
    frame.scrollTo({ top, behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  };

  const moved = () => {
    stick();
    const line = frame.getBoundingClientRect().top + frame.clientHeight * 0.4;
    const isAtEnd = frame.scrollTop > 0 && frame.scrollTop + frame.clientHeight >= frame.scrollHeight - 2;
    const at = isAtEnd ? parts.length - 1 : parts.findLastIndex(({ target }) => target.getBoundingClientRect().top <= line);
    where.querySelectorAll("button").forEach((button, number) => {
      if (number === Math.max(0, at)) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    });
  };

  // The stations of the flow: input, each layer, output.
  const setPlan = (plan) => {
    const svg = picture();
    const layers = (plan.layers || []).map((layer) => ({ word: `layer ${layer.number}`, target: svg.querySelector(`[data-head^="h${layer.number}."]`) }));
    parts = plan.kind !== "flow" ? [] : [{ word: "input", target: svg.querySelector("[data-made]") }, ...layers, { word: "output", target: svg.querySelector(".output") }].filter((part) => part.target);
    where.replaceChildren(...parts.map(({ word, target }) => make("button", { type: "button", onclick: () => bring(target) }, word)));
    apply();
    if (!isCentred) frame.scrollLeft = (frame.scrollWidth - frame.clientWidth) / 2; // where the values are
    isCentred = true;
  };

  let grip = null;
  frame.addEventListener("pointerdown", (event) => {
    if (event.button || event.target.closest("[data-strip], .selection, button")) return;
    grip = { x: event.clientX, y: event.clientY, left: frame.scrollLeft, top: frame.scrollTop };
    frame.classList.add("held");
  });
  addEventListener("pointermove", (event) => {
    if (!grip || event.pointerType === "touch") return;
    frame.scrollLeft = grip.left + grip.x - event.clientX;
    frame.scrollTop = grip.top + grip.y - event.clientY;
  });
  addEventListener("pointerup", () => { grip = null; frame.classList.remove("held"); });
  frame.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const outer = frame.getBoundingClientRect();
    zoomTo(scale * Math.exp(-event.deltaY / 400), event.clientX - outer.left, event.clientY - outer.top);
  }, { passive: false });
  frame.addEventListener("scroll", moved, { passive: true });
  new ResizeObserver(apply).observe(frame);

  return {
    apply, bring, setPlan,
    by: (factor) => zoomTo(scale * factor),
    to: zoomTo,
    forget() { wish = null; isCentred = false; parts = []; where.replaceChildren(); },
  };
};
