// A request in, a promise of its answer out: from the server, or from Pyodide in this tab.

const tab = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16)).join("");
const lost = {
  error: { kind: "limit", message: "the playground's server does not answer", hint: "is `rasp play` still running? Start it again and reload this page" },
};

const fromServer = async (kind, request) => {
  try {
    const answer = await fetch(`ask/${kind}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...request, tab }),
    });
    if (answer.ok) return await answer.json();
    if (answer.status === 413) return { error: { message: "this is too much text for the playground", hint: "shorten the program or the example" } };
    return lost;
  } catch {
    return lost;
  }
};

export const connect = async () => {
  const start = await (await fetch("start")).json();
  if (start.edition !== "static") return { start, ask: fromServer };
  const { early } = await import("./early.js"); // of the static edition alone: web/static_edition
  return { start, ask: early() };
};
