// What is on the page in, kept in this browser out, so that the next visit goes on where this ended.

const KEPT = "rasp-page";

export const keep = (page) => {
  try { localStorage.setItem(KEPT, JSON.stringify(page)); } catch { /* not kept then */ }
};

export const kept = () => {
  try {
    const page = JSON.parse(localStorage.getItem(KEPT));
    return page && typeof page.program === "string" && typeof page.example === "string" ? page : null;
  } catch {
    return null;
  }
};
