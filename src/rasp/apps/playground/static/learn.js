// The exercises in, a list and a lesson above the editor out; answers are checked on request.

import { authoring } from "./authoring.js";
import { complaint, find, make, prose, tell } from "./elements.js";

let page = null;
let exercises = [];
let current = null;
const KEPT = "rasp-solved";

const solved = () => {
  try { return new Set(JSON.parse(localStorage.getItem(KEPT) || "[]")); } catch { return new Set(); }
};
const remember = (name) => {
  try { localStorage.setItem(KEPT, JSON.stringify([...solved().add(name)])); } catch { /* not kept then */ }
};

const list = () => {
  const done = solved();
  const own = find("learn").querySelector(".authoring") || authoring();
  find("learn").replaceChildren(
    make("h2", {}, "Learn RASP by doing"),
    make("p", {}, "Each exercise brings one idea, and is checked at once. You need nothing but these, in this order."),
    make("ol", { class: "exercises" }, ...exercises.map((each) => make("li", {},
      make("button", { type: "button", class: each === current ? "current" : "", onclick: () => begin(each) },
        make("span", { class: "mark", "aria-hidden": "true" }, done.has(each.name) ? "✓" : ""),
        each.title, done.has(each.name) ? make("span", { class: "hidden" }, " (done)") : "", make("code", {}, each.output))))),
    own);
};

// What an answer lacks: a layer too many, or an input on which it is wrong.
const mistake = (answer) => (answer.limit !== undefined
  ? [make("p", {}, make("strong", {}, "Not yet. "), `It needs ${answer.layers} layers, but at most ${answer.limit} are allowed. The Architecture tab says why.`)]
  : [make("p", {}, make("strong", {}, "Not yet. "), "On the input ", make("code", {}, answer.input), ` (${answer.is_shortest ? "a shortest one that shows it" : "for example"})`),
    make("dl", { class: "compare" }, make("dt", {}, "wanted"), make("dd", {}, answer.wanted), make("dt", {}, "you have"), make("dd", {}, answer.got)),
    make("button", { type: "button", onclick: () => page.setExample(answer.input) }, "Use it as the example")]);

const check = async () => {
  const place = find("lesson-answer");
  const exercise = current;
  if (place.childElementCount) place.classList.add("ghost");
  else place.append(make("p", { class: "soft" }, "checking…"));
  const answer = exercise.hidden
    ? await page.ask("own_exercise", { program: page.now().program, hidden: exercise.hidden })
    : await page.ask("exercise", { ...page.now(), name: exercise.name });
  if (answer.replaced || exercise !== current) return;
  place.classList.remove("ghost");
  if (answer.error) place.replaceChildren(complaint(answer.error));
  else if (answer.is_right) {
    if (!exercise.hidden) remember(exercise.name);
    list();
    const isOwn = exercises.includes(exercise);
    const next = isOwn ? exercises[exercises.indexOf(exercise) + 1] : null;
    place.replaceChildren(make("div", { class: "verdict yes", role: "alert" },
      make("p", {}, make("strong", {}, "Right! "), `It is ${answer.proof}.`),
      exercise.hidden ? null : next ? make("button", { type: "button", class: "primary", onclick: () => begin(next) }, `Next: ${next.title}`)
        : make("button", { type: "button", onclick: () => page.showTab("gallery") }, isOwn ? "That was the last one: the gallery has many more" : "Back to the gallery")));
  } else {
    place.replaceChildren(make("div", { class: "verdict no", role: "alert" }, ...mistake(answer)));
  }
  place.scrollIntoView({ block: "nearest" });
};

const lesson = () => {
  const number = exercises.indexOf(current) + 1;
  let hint = 0;
  const hints = make("div", { class: "hints", "aria-live": "polite" });
  const more = make("button", { type: "button", onclick: () => {
    if (hint < current.hints.length) hints.append(make("p", { class: "hint" }, "hint: ", prose(current.hints[hint])));
    else hints.append(make("p", { class: "hint" }, "one solution:"), make("pre", {}, current.solution));
    hint += 1;
    more.textContent = hint < current.hints.length ? "Another hint" : "Show a solution";
    more.hidden = hint > current.hints.length;
    hints.scrollIntoView({ block: "nearest" });
  } }, current.hints.length ? "Hint" : "Show a solution");
  more.hidden = !current.hints.length && !current.solution;
  find("lesson").replaceChildren(...[
    make("div", { class: "lesson-head" }, make("h2", {}, number ? `${number}. ${current.title}` : current.title),
      make("button", { type: "button", class: "link", onclick: leave, "aria-label": "Leave the exercise" }, "leave")),
    ...current.story.map((text) => make("p", {}, prose(text))),
    make("dl", { class: "compare" }, ...current.shows.flatMap((each) => [make("dt", {}, `${each.input} gives`), make("dd", {}, each.answer)])),
    Number.isInteger(current.layers) ? make("p", {}, `At most ${current.layers} layer${current.layers === 1 ? "" : "s"}.`) : null,
    make("div", { class: "toolbar" }, make("button", { type: "button", class: "primary", id: "check", onclick: check }, "Check my answer"), more),
    hints, make("div", { id: "lesson-answer" })].filter(Boolean));
  find("lesson").hidden = false;
  find("lesson").scrollTop = 0;
};

export const begin = (exercise) => {
  page.setTask(null);
  current = exercise;
  lesson();
  list();
  page.open({ program: exercise.start, example: exercise.example, exercise: exercise.name });
  page.showTab("values");
  page.focusEditor(exercise.start.lastIndexOf(";"));
};

export const leave = () => {
  current = null;
  find("lesson").hidden = true;
  find("lesson").replaceChildren();
  page.setExercise("");
  page.setTask(null);
  list();
};

export const welcome = () => {
  find("lesson").replaceChildren(
    make("div", { class: "lesson-head" }, make("h2", {}, "Write a program, watch every value"),
      make("button", { type: "button", class: "link", onclick: leave, "aria-label": "Close" }, "close")),
    make("p", {}, prose("RASP is a language that thinks like a transformer: `select` is attention, everything else happens at each position alone. Change the program or the example, and everything follows.")),
    make("div", { class: "toolbar" },
      make("button", { type: "button", class: "primary", onclick: () => exercises.length && begin(exercises[0]) }, "New to RASP? Start with exercise 1"),
      make("button", { type: "button", onclick: () => page.showTab("gallery") }, "Look through the gallery")));
  find("lesson").hidden = false;
};

export const resume = async (name) => {
  const inGallery = /^gallery:(\w+)$/.exec(name);
  const found = inGallery ? (await page.ask("program", { name: inGallery[1] })).exercise : exercises.find((each) => each.name === name);
  if (!found) return;
  current = found;
  lesson();
  list();
};

const texts = (found) => (Array.isArray(found) ? found.filter((each) => typeof each === "string").slice(0, 40) : []);

// An exercise that came with a link; whatever is in a link is somebody's text, and shown as text.
export const beginTask = (task) => {
  if (!task || typeof task.hidden !== "string" || typeof task.output !== "string") return;
  const shows = Array.isArray(task.shows) ? task.shows.slice(0, 50).map((each) => ({ input: String(each?.input), answer: String(each?.answer) })) : [];
  current = { name: "", title: String(task.title), story: texts(task.story), shows, hints: [], solution: "", output: task.output, layers: task.layers, hidden: task.hidden };
  lesson();
  list();
};

export const setUpLearn = async (context) => {
  page = context;
  const answer = await page.ask("exercises", {});
  if (answer.error) tell(answer.error.message);
  exercises = answer.exercises || [];
  list();
};
