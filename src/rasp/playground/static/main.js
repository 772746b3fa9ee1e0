// The page: editor and example in, every view kept up to date out.

import { find, make, prose, save, tell } from "./elements.js";
import { makeEditor } from "./editor.js";
import { connect } from "./transport.js";
import { read, write } from "./share.js";
import { forgetNames, setNames, want } from "./chooser.js";
import { explainChosen, forgetChosen, setUpSelection, showStory } from "./selection.js";
import { setUpTokens } from "./tokens.js";
import { catchUp, forgetValues, showValues, watchPane } from "./values.js";
import { forgetFlow, setUpFlow, showFlow } from "./flow.js";
import { checkGeneration, forgetGeneration } from "./generating.js";
import { setUpArchitecture, showArchitecture } from "./architecture.js";
import { checkWeights, setUpWeights, showTrained } from "./weights.js";
import { leave, resume, setUpLearn, welcome } from "./learn.js";
import { setUpGallery, showGallery } from "./gallery.js";

const FIRST = `# How often does each token occur in the input?
# A selector says which positions each position looks at.
same = select(tokens, tokens, ==);

# Count them: this is what attention can do in one layer.
hist = selector_width(same);

# Everything else happens at each position for itself.
is_repeated = hist > 1;
`;
const TABS = ["values", "flow", "architecture", "weights", "learn", "gallery"];
const PATIENCE = 250; // milliseconds after which a newer request replaces one under way

let editor = null;
let ask = null;
let tab = "values";
let exercise = "";
let fileName = "program.rasp";
let latest = 0;
let sentAt = 0;
let isWaiting = false;
let isDirty = false;
let hasMistakes = false;
let tokens = []; // of the example, as cells show them
const whenShown = []; // who waits for the next values

const now = () => ({ program: editor.text, example: find("example").value });

// ---- running while typing: one request under way at a time, the newest state last

const changed = () => {
  isDirty = true;
  checkWeights();
  remember();
  send();
};

const send = async () => {
  if (!isDirty) return;
  const age = performance.now() - sentAt;
  if (isWaiting && age < PATIENCE) {
    setTimeout(send, PATIENCE - age + 5);
    return;
  }
  isDirty = false;
  isWaiting = true;
  sentAt = performance.now();
  latest += 1;
  const number = latest;
  const asked = now();
  const late = setTimeout(() => { if (isWaiting) find("state").textContent = "running…"; }, 400);
  const answer = await ask("run", asked);
  clearTimeout(late);
  if (number !== latest || answer.replaced) return;
  isWaiting = false;
  show(answer, asked);
  send();
};

const show = (answer, asked) => {
  hasMistakes = Boolean(answer.error || answer.errors.length || answer.example_error);
  if (answer.error) {
    find("state").textContent = "stopped";
    problems({ errors: [answer.error], warnings: [], failed: [] });
    showValues({ errors: [answer.error] });
    return;
  }
  find("state").textContent = answer.errors.length ? `${answer.errors.length} to fix` : "";
  problems(answer);
  exampleNote(answer);
  setNames(answer.names, answer.errors.length > 0);
  checkWeights();
  editor.setWords(answer.names, "own");
  showValues(answer);
  if (asked.program === editor.text) editor.setProblems(answer.errors, answer.warnings, answer.failed || []);
  refreshTab();
  explainChosen();
  checkGeneration();
  tokens = answer.plan ? answer.plan.tokens : tokens;
  document.documentElement.dataset.shown = String(latest); // tests and measurements wait for this
  whenShown.splice(0).forEach((done) => done());
};

const exampleNote = (answer) => {
  const note = find("example-note");
  const wrong = answer.example_error;
  note.classList.toggle("wrong", Boolean(wrong));
  note.textContent = wrong ? wrong.message : `${answer.plan.tokens.length} token${answer.plan.tokens.length === 1 ? "" : "s"}`;
  find("example").setAttribute("aria-invalid", String(Boolean(wrong)));
};

const problem = (each, kind, word) => make("li", { class: kind },
  make("button", { type: "button", class: "link", onclick: () => each.start !== undefined && editor.goTo(each.start, each.end) },
    make("strong", {}, `${word}${each.line ? ` in line ${each.line}` : ""}: `), ...prose(each.message)),
  each.text ? make("pre", {}, each.text.split("\n").slice(1).filter((line) => !line.startsWith("hint:") && !/^\s*--> /.test(line)).join("\n")) : null,
  each.hint ? make("p", { class: "hint" }, "hint: ", ...prose(each.hint)) : null);

const problems = ({ errors, warnings, failed }) => {
  const items = [
    ...errors.map((each) => problem(each, "error", "mistake")),
    ...(failed || []).map((each) => problem({ ...each, message: `\`${each.name}\` does not fit this example: ${each.message}` }, "failed", "note")),
    ...warnings.map((each) => problem(each, "warning", "warning")),
  ];
  find("problems").replaceChildren(items.length ? make("ol", {}, ...items) : make("p", { class: "fine" }, "✓ no mistakes"));
};

// ---- tabs

const refreshTab = () => {
  if (tab === "values") catchUp();
  if (tab === "flow") showFlow();
  if (tab === "architecture") showArchitecture();
  if (tab === "weights") showTrained();
  if (tab === "gallery") showGallery();
};

const showTab = (name, focus = false) => {
  tab = TABS.includes(name) ? name : "values";
  for (const each of TABS) {
    const button = find(`tab-${each}`);
    button.setAttribute("aria-selected", String(each === tab));
    button.tabIndex = each === tab ? 0 : -1;
    find(each).hidden = each !== tab;
  }
  if (focus) find(`tab-${tab}`).focus();
  showStory(tab);
  refreshTab();
  remember();
};

// On a phone the views lie below the editor.
const bringUp = () => {
  if (find("views").getBoundingClientRect().top > innerHeight * 0.4) find("views").scrollIntoView({ block: "start" });
};

const setUpTabs = () => {
  const list = document.querySelector(".tabs");
  list.addEventListener("click", (event) => {
    const button = event.target.closest("[role=tab]");
    if (button) showTab(button.getAttribute("aria-controls"));
    bringUp();
  });
  list.addEventListener("keydown", (event) => {
    const at = TABS.indexOf(tab);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: TABS.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    showTab(TABS[(to + TABS.length) % TABS.length], true);
  });
};

// ---- the page's state lives in the fragment

let remembering = null;
const remember = () => {
  clearTimeout(remembering);
  remembering = setTimeout(async () => {
    history.replaceState(null, "", await write({ ...now(), tab, exercise }));
  }, 400);
};

// Nothing that was made for one program is shown beside another.
const forget = () => {
  forgetChosen();
  forgetNames();
  forgetValues();
  forgetFlow();
  forgetGeneration();
};

const open = (page) => {
  clearTimeout(remembering);
  forget();
  history.pushState(null, "", location.pathname);
  editor.text = page.program;
  find("example").value = page.example;
  exercise = page.exercise || "";
  fileName = `${page.name || page.exercise || "program"}.rasp`;
  want(page.name || "");
  changed();
};

const share = async () => {
  clearTimeout(remembering);
  history.replaceState(null, "", await write({ ...now(), tab, exercise }));
  try {
    await navigator.clipboard.writeText(location.href);
    tell("A link to this program is on the clipboard.");
  } catch {
    tell("The address of this page now holds the program: copy it from the address bar.");
  }
};

const fromFragment = async () => {
  const page = await read(location.hash);
  if (!page || !editor) return;
  forget();
  editor.text = page.program;
  find("example").value = page.example;
  exercise = String(page.exercise || "");
  if (exercise) resume(exercise);
  showTab(String(page.tab));
  changed();
};

const format = async () => {
  const asked = editor.text;
  const answer = await ask("format", { program: asked });
  if (answer.error) tell("Fix the mistakes first: only a whole program can be formatted.");
  else if (editor.text === asked && answer.program !== asked) {
    editor.text = answer.program;
    changed();
  }
};

const setUpButtons = () => {
  find("format").addEventListener("click", format);
  find("share").addEventListener("click", share);
  find("download").addEventListener("click", () => save(fileName, editor.text, "text/plain"));
  find("theme").addEventListener("click", () => tell(`theme: ${window.raspTheme.next()}`));
  find("example").addEventListener("input", changed);
  find("example-form").addEventListener("submit", (event) => event.preventDefault());
};

const begin = async () => {
  const connection = await connect();
  const { start } = connection;
  ask = connection.ask;
  const kept = await read(location.hash);
  if (!kept && location.hash.startsWith("#1.")) tell("This link holds no program that can be read.");
  const program = kept ? kept.program : start.program || FIRST;
  if (start.name) fileName = start.name;
  find("example").value = kept ? kept.example : "hello";
  editor = await makeEditor(find("editor"), start.has_editor, program, changed);
  const context = {
    ask, now, open,
    showTab(name) { showTab(name); if (name !== "values") bringUp(); },
    setExample(text) { find("example").value = text; changed(); },
    setExercise(name) { exercise = name; remember(); },
    leaveExercise() { if (exercise) leave(); else find("lesson").hidden = true; },
    tokens: () => tokens,
    settled: () => new Promise((done) => { whenShown.push(done); }),
    light: (places) => editor.light?.(places),
    hasMistakes: () => hasMistakes,
    focusEditor: (at) => editor.goTo(at, at),
    goToLine(line) {
      const lines = editor.text.split("\n").slice(0, line);
      const end = lines.join("\n").length;
      editor.goTo(end - lines.at(-1).length, end);
    },
  };
  setUpSelection(context);
  setUpTokens(context);
  watchPane();
  setUpTabs();
  setUpButtons();
  setUpFlow(context);
  setUpArchitecture(context);
  setUpWeights(context, start.edition === "static");
  setUpGallery(context);
  showTab(kept ? String(kept.tab) : "values");
  changed();
  if (!kept && !start.program) welcome();
  await setUpLearn(context);
  if (kept && kept.exercise) { exercise = String(kept.exercise); resume(exercise); }
  const words = await ask("words", {});
  if (words.words) editor.setWords(words.words, "language");
  addEventListener("popstate", fromFragment);
};

begin();
