// The gallery's families in, a list that can be searched out; a click opens a program.

import { complaint, find, make, tell } from "./elements.js";
import { begin } from "./learn.js";

let page = null;
let isThere = false;

const open = async (name) => {
  const answer = await page.ask("program", { name });
  if (answer.error) tell(answer.error.message);
  if (answer.error || answer.replaced) return;
  page.leaveExercise();
  page.open({ program: answer.program, example: answer.example, name: answer.name });
  page.showTab("values");
};

const tryIt = async (name) => {
  const answer = await page.ask("program", { name });
  if (answer.error) tell(answer.error.message);
  else if (!answer.replaced) begin(answer.exercise);
};

const entry = (each) => make("li", {},
  make("button", { type: "button", onclick: () => open(each.name) },
    make("code", {}, each.name),
    make("span", { class: "about" }, each.summary),
    make("span", { class: "soft", title: "heads in each layer" }, `heads ${each.heads_per_layer.join(" ") || "0"}`)),
  make("button", { type: "button", class: "try", "aria-label": `try: write ${each.name} yourself`, title: "Write it yourself; your answer is checked", onclick: () => tryIt(each.name) }, "try"));

const narrow = (words) => {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  for (const family of find("gallery").querySelectorAll("section")) {
    let some = false;
    for (const item of family.querySelectorAll("li")) {
      const text = `${family.querySelector("h3").textContent} ${item.textContent}`.toLowerCase();
      item.hidden = !wanted.every((word) => text.includes(word));
      some ||= !item.hidden;
    }
    family.hidden = !some;
  }
};

export const setUpGallery = (context) => { page = context; };

export const showGallery = async () => {
  if (isThere) return;
  const panel = find("gallery");
  panel.replaceChildren(make("p", { class: "soft" }, "fetching the gallery…"));
  const answer = await page.ask("gallery", {});
  if (answer.error) {
    panel.replaceChildren(complaint(answer.error));
    return;
  }
  isThere = true;
  const count = answer.families.reduce((sum, each) => sum + each.programs.length, 0);
  panel.replaceChildren(
    make("div", { class: "toolbar" }, make("label", {}, "Search ",
      make("input", { type: "search", id: "gallery-search", oninput: (event) => narrow(event.target.value) })),
    make("span", { class: "soft" }, `${count} programs, each checked against a specification in Python`)),
    ...answer.families.map((each) => make("section", {}, make("h3", {}, each.family), make("ul", { class: "programs" }, ...each.programs.map(entry)))));
};
