// A request in, a promise of its answer out, by Python inside this tab: the static edition.
// A worker that takes too long is ended, and a new one started.

const BUDGET = 6_000;
const SLOW = { architecture: 30_000, fit: 30_000, exercise: 30_000, own_exercise: 30_000, make_exercise: 30_000, gallery: 30_000 };
const STARTING = 120_000;

const refusal = (message, hint) => ({ error: { kind: "limit", message, hint, text: "" } });

export const inTab = () => {
  let worker = null;
  let ready = null;
  let busy = null; // what the worker is at
  const waiting = [];

  const start = () => {
    worker = new Worker(new URL("in_tab_worker.js", import.meta.url), { type: "module" });
    ready = new Promise((done) => {
      worker.onmessage = ({ data }) => {
        if (data.isReady || data.share) dispatchEvent(new CustomEvent("python-loading", { detail: { share: data.share || 1 } }));
        if (data.share) return;
        if (data.isReady) done();
        else finish(JSON.parse(data.answer));
      };
      worker.onerror = () => finish(refusal("Python cannot run in this tab", "reload the page, or try another browser"));
    });
  };
  const restart = (answer) => {
    worker.terminate();
    start();
    finish(answer);
  };
  const finish = (answer) => {
    if (!busy) return;
    clearTimeout(busy.timer);
    const { done } = busy;
    busy = null;
    done(answer);
    next();
  };
  const next = async () => {
    if (busy || !waiting.length) return;
    busy = waiting.shift();
    const mine = busy;
    mine.timer = setTimeout(() => restart(refusal("Python did not start in this tab", "reload the page")), STARTING);
    await ready;
    if (busy !== mine) return;
    clearTimeout(mine.timer);
    const budget = SLOW[mine.kind] || BUDGET;
    mine.timer = setTimeout(() => restart(refusal(
      `this took longer than ${budget / 1000} seconds and was stopped`,
      "look for a loop or a recursion that never ends, or try a shorter example")), budget);
    worker.postMessage(JSON.stringify({ ...mine.request, kind: mine.kind }));
  };
  start();

  return (kind, request) => new Promise((done) => {
    // Of several runs that wait, only the last is of interest.
    const old = waiting.findIndex((each) => each.kind === kind);
    if (old >= 0) waiting.splice(old, 1)[0].done({ replaced: true });
    waiting.push({ kind, request, done });
    if (kind === "run") waiting.sort((one, other) => (other.kind === "run") - (one.kind === "run"));
    next();
  });
};
