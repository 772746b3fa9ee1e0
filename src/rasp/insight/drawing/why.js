// A head, a query and a key in, lines that say why out.

export const why = (strips, head, query, key) => {
  const lines = [`query ${query}, key ${key}`];
  for (const condition of head.conditions) {
    const keys = strips[condition.keys];
    const queries = strips[condition.queries];
    const holds = condition.picks[query][key] === "1";
    if (condition.op === "best") {
      const products = condition.products.map(([k, q]) => `score(${strips[k].label}, ${strips[q].label})`);
      const text = `${products.join(" + ")} = ${condition.scores[query][key]}`;
      if (condition.candidates[query][key] !== "1") lines.push(`· ${text}, but no candidate`);
      else if (holds) lines.push(`✓ ${text}, the best`);
      else lines.push(`✗ ${text}, the best has ${condition.best[query] || "-"}`);
      continue;
    }
    const general = `${keys.label} ${condition.op} ${queries.label}`;
    const here = `${keys.values[key]} ${condition.op} ${queries.values[query]}`;
    lines.push(`${holds ? "✓" : "✗"} ${general === here ? here : `${general}: ${here}`}`);
  }
  const picked = [...head.picks[query]].filter((bit) => bit === "1").length;
  if (head.picks[query][key] !== "1") lines.push("not picked");
  else lines.push(picked === 1 ? "picked alone" : `picked, one of ${picked}`);
  return lines;
};

// The heads of a plan by their ids.
export const headsOf = (plan) => {
  const heads = {};
  for (const layer of plan.layers || []) for (const head of layer.heads) heads[head.id] = head;
  if (plan.head) heads[plan.head.id] = plan.head;
  return heads;
};
