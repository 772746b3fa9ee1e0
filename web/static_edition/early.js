// Requests in, answers out: those that were computed when the site was built at once, all others
// by Python in this tab. Inside a frame Python is fetched only when something needs it.

import { inTab } from "./in_tab.js";
import { showLoading } from "./loading_bar.js";

const inFrame = window.parent !== window;

// The name of a request, the same as in scripts/early_answers.py.
const keyOf = (kind, request) => {
  const fields = Object.entries(request).filter(([, value]) => value !== undefined);
  return JSON.stringify([kind, ...fields.sort(([one], [other]) => (one < other ? -1 : 1))]);
};
const fileOf = (key) => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
};
const json = async (name) => (await fetch(new URL(name, import.meta.url))).json();

export const early = () => {
  const index = json("early/index.json").then((names) => new Set(names), () => new Set());
  let python = null;
  const ask = (kind, request) => {
    if (!python) {
      showLoading();
      python = inTab();
    }
    return python(kind, request);
  };
  const known = async (kind, request) => {
    const key = keyOf(kind, request);
    const name = fileOf(key);
    if (!(await index).has(name)) return null;
    const kept = await json(`early/${name}.json`).catch(() => null);
    return kept && kept.key === key ? kept.answer : null;
  };
  if (!inFrame) setTimeout(() => ask("words", {}), 50); // fetch Python while the reader reads
  return async (kind, request) => (await known(kind, request)) || ask(kind, request);
};
