// The names of the views in, tabs out that pointer and arrow keys switch.

import { find } from "./elements.js";

const TABS = ["values", "flow", "architecture", "weights", "learn", "gallery"];
let now = "values";
let onShow = null;

export const tabNow = () => now;

export const showTab = (name, focus = false) => {
  now = TABS.includes(name) ? name : "values";
  for (const each of TABS) {
    const button = find(`tab-${each}`);
    button.setAttribute("aria-selected", String(each === now));
    button.tabIndex = each === now ? 0 : -1;
    find(each).hidden = each !== now;
  }
  if (focus) find(`tab-${now}`).focus();
  onShow(now);
};

// Where the views are below the fold, bring them up.
export const bringUp = () => {
  if (find("views").getBoundingClientRect().top > innerHeight * 0.4) find("views").scrollIntoView({ block: "start" });
};

export const setUpTabs = (whenShown) => {
  onShow = whenShown;
  const list = document.querySelector(".tabs");
  list.addEventListener("click", (event) => {
    const button = event.target.closest("[role=tab]");
    if (button) showTab(button.getAttribute("aria-controls"));
    bringUp();
  });
  list.addEventListener("keydown", (event) => {
    const at = TABS.indexOf(now);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: TABS.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    showTab(TABS[(to + TABS.length) % TABS.length], true);
  });
};
