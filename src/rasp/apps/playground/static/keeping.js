// What is on the page in, kept in this browser out, so that the next visit goes on where this ended:
// with the values that were shown last, before anything is computed.

const KEPT = "rasp-page";

const LARGEST = 400_000; // letters of an answer that is kept

export const keep = (page, answer) => {
  const text = JSON.stringify(answer);
  try {
    localStorage.setItem(KEPT, JSON.stringify({ ...page, answer: text.length <= LARGEST ? answer : null }));
  } catch { /* not kept then */ }
};

export const forgetKept = () => {
  try { localStorage.removeItem(KEPT); } catch { /* nothing was kept */ }
};

export const kept = () => {
  try {
    const page = JSON.parse(localStorage.getItem(KEPT));
    return page && typeof page.program === "string" && typeof page.example === "string" ? page : null;
  } catch {
    return null;
  }
};
