// A page in a frame of another page: the program, one view of it, and a way to the whole page.

import { find, tell } from "./elements.js";
import { write } from "./share.js";

export const isEmbedded = new URLSearchParams(location.search).has("embed");

// Copy the code of a frame that holds what is on this page.
const copyCode = async (page) => {
  const address = new URL(location.href);
  address.search = "?embed=1";
  address.hash = await write(page);
  const code = `<iframe src="${address.href}" title="A RASP program" width="100%" height="460" loading="lazy"></iframe>`;
  try {
    await navigator.clipboard.writeText(code);
    tell("The code of a frame with this program is on the clipboard.");
  } catch {
    tell("The clipboard cannot be used here: see the manual's page on the playground.");
  }
};

export const setUpFrames = (isStatic, whole) => {
  find("embed").hidden = !isStatic; // a server with a token refuses to be in frames
  find("embed").addEventListener("click", () => copyCode(whole()));
  document.documentElement.classList.toggle("embedded", isEmbedded);
  find("whole").hidden = !isEmbedded;
  const point = async () => { find("whole").href = `${location.pathname}${await write(whole())}`; };
  find("whole").addEventListener("pointerdown", point);
  find("whole").addEventListener("focus", point);
};
