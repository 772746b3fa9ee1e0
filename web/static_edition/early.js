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

// The last run of the reader's own program is kept in the browser for the next visit.
const KEPT = `rasp-last-run ${new URL(".", import.meta.url).pathname}`;
const keep = (version, key, answer) => {
  try {
    localStorage.setItem(KEPT, JSON.stringify({ version, key, answer }));
  } catch { /* storage is full, or switched off */ }
};
const keptFor = (version, key) => {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT));
    return kept && kept.version === version && kept.key === key ? kept.answer : null;
  } catch {
    return null;
  }
};
const json = async (name) => (await fetch(new URL(name, import.meta.url))).json();

export const early = () => {
  const index = json("early/index.json").catch(() => ({ version: "", names: [] }));
  let python = null;
  const ask = (kind, request) => {
    if (!python) {
      showLoading();
      python = inTab();
    }
    return python(kind, request);
  };
  const known = async (key) => {
    const { version, names } = await index;
    const name = fileOf(key);
    if (!names.includes(name)) return keptFor(version, key);
    const kept = await json(`early/${name}.json`).catch(() => null);
    return kept && kept.key === key ? kept.answer : null;
  };
  if (!inFrame) setTimeout(() => ask("words", {}), 50); // fetch Python while the reader reads
  return async (kind, request) => {
    const key = keyOf(kind, request);
    const found = await known(key);
    if (found) return found;
    const answer = await ask(kind, request);
    if (kind === "run" && !answer.error && !answer.replaced) keep((await index).version, key, answer);
    return answer;
  };
};
