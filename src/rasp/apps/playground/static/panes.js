// The line between the program and the views in, panes of another width out; the browser keeps it.

import { find } from "./elements.js";

const KEPT = "rasp-split";
const LEAST = 22;
const MOST = 72;

export const setUpPanes = () => {
  const divider = find("divider");
  const main = divider.parentElement;
  const set = (percent) => {
    const share = Math.round(Math.max(LEAST, Math.min(MOST, percent)));
    main.style.setProperty("--split", `${share}%`);
    divider.setAttribute("aria-valuenow", String(share));
    try { localStorage.setItem(KEPT, String(share)); } catch { /* not kept then */ }
  };
  const now = () => 100 * find("writing").getBoundingClientRect().width / main.clientWidth;
  divider.addEventListener("pointerdown", (event) => {
    divider.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  divider.addEventListener("pointermove", (event) => {
    if (divider.hasPointerCapture(event.pointerId)) set(100 * (event.clientX - main.getBoundingClientRect().left) / main.clientWidth);
  });
  divider.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -3, ArrowRight: 3 }[event.key];
    if (by) { event.preventDefault(); set(now() + by); }
  });
  let kept = 0;
  try { kept = Number(localStorage.getItem(KEPT)); } catch { /* the usual width */ }
  if (kept) set(kept);
};
