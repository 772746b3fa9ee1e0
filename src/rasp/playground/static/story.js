// A cell of a plan in, what it was computed from out: as cells, and in words.

import { headsOf } from "./drawing.js";

// Every cell that a cell of a strip was computed from, back to the input: strip -> positions.
export const origins = (plan, strip, position) => {
  const heads = headsOf(plan);
  const found = new Map();
  const queue = [[strip, position]];
  const visit = (id, at) => {
    if (!found.has(id)) found.set(id, new Set());
    if (found.get(id).has(at)) return;
    found.get(id).add(at);
    queue.push([id, at]);
  };
  visit(strip, position);
  queue.shift();
  while (queue.length) {
    const [id, at] = queue.pop();
    const one = plan.strips[id];
    if (!one.head || !heads[one.head]) {
      for (const needed of one.needs) visit(needed, at);
      continue;
    }
    const head = heads[one.head];
    const made = head.aggregates.find((each) => each.result === id);
    head.queries.forEach((each) => visit(each, at));
    [...head.picks[at]].forEach((bit, key) => {
      if (bit !== "1") return;
      head.keys.forEach((each) => visit(each, key));
      if (made) visit(made.values, key);
    });
  }
  return found;
};

// How one cell came about, in words.
export const story = (plan, strip, position) => {
  const one = plan.strips[strip];
  const head = headsOf(plan)[one.head];
  const lines = [`${one.label}[${position}] = ${one.values[position]}`];
  const meaning = one.expression && one.expression !== one.label ? [`${one.label} = ${one.expression}`] : [];
  if (!head) return [...lines, ...meaning];
  const made = head.aggregates.find((each) => each.result === strip);
  const picked = [...head.picks[position]].flatMap((bit, key) => (bit === "1" ? [key] : []));
  const values = made && plan.strips[made.values];
  if (!picked.length) lines.push("nothing was picked: the default stands here");
  else if (values && picked.length === 1) lines.push(`picked position ${picked[0]}, which holds ${values.values[picked[0]]}`);
  else if (values) {
    const shown = picked.slice(0, 12).map((key) => values.values[key]).join(", ");
    lines.push(`the mean of ${picked.length} picks: ${shown}${picked.length > 12 ? ", …" : ""}`);
  }
  return [...lines, ...meaning];
};
