// The page: editor and example in, every view kept up to date out.

import { find, save, tell } from "./elements.js";
import { makeEditor } from "./editor.js";
import { connect } from "./transport.js";
import { forgetKept, keep, kept as keptHere } from "./keeping.js";
import { read, write } from "./share.js";
import { setUpAuthoring } from "./authoring.js";
import { checkExamples, examplesNow, setExamples, setUpExamples } from "./examples.js";
import { isEmbedded, setUpFrames } from "./frames.js";
import { setUpHelp } from "./help.js";
import { exampleNote, valueOf } from "./notes.js";
import { setUpPanes } from "./panes.js";
import { bringUp, setUpTabs, showTab, tabNow } from "./tabs.js";
import { setUpProblems, showProblems } from "./problems.js";
import { forgetNames, setNames, want } from "./chooser.js";
import { explainChosen, forgetChosen, setUpSelection, showStory } from "./selection.js";
import { setUpTokens } from "./tokens.js";
import { catchUp, forgetValues, showValues, watchPane } from "./values.js";
import { forgetFlow, setUpFlow, showFlow } from "./flow.js";
import { checkGeneration, forgetGeneration } from "./generating.js";
import { forgetArchitecture, setUpArchitecture, showArchitecture } from "./architecture.js";
import { checkWeights, setUpWeights, showTrained } from "./weights.js";
import { beginTask, leave, resume, setUpLearn, welcome } from "./learn.js";
import { setUpGallery, showGallery } from "./gallery.js";

const FIRST = `# How often does each token occur in the input?
# A selector says which positions each position looks at.
same = select(tokens, tokens, ==);

# Count them: this is what attention can do in one layer.
hist = selector_width(same);

# Everything else happens at each position for itself.
is_repeated = hist > 1;
`;
const EMPTY = "# Every statement ends in a semicolon.\nmine = tokens;\n";
const PATIENCE = 250; // milliseconds after which a newer request replaces one under way
const MOST_PATIENCE = 2_000; // of a page whose requests were replaced again and again

let editor = null;
let ask = null;
let exercise = "";
let task = null; // an exercise that came with a link
let docs = ""; // where the manual is, if anywhere
let fileName = "program.rasp";
let latest = 0;
let sentAt = 0;
let patience = PATIENCE;
let isWaiting = false;
let isDirty = false;
let hasMistakes = false;
let shown = null; // the last answer, and what was asked
let tokens = []; // of the example, as cells show them
const whenShown = []; // who waits for the next values

const now = () => ({ program: editor.text, example: find("example").value });
const whole = () => ({ ...now(), tab: tabNow(), exercise, ...(examplesNow().length ? { examples: examplesNow() } : {}), ...(task ? { task } : {}) });

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
  if (isWaiting && age < patience) {
    setTimeout(send, patience - age + 5);
    return;
  }
  patience = isWaiting ? Math.min(MOST_PATIENCE, 2 * patience) : PATIENCE; // typing on must not starve the values
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
  shown = answer.error ? null : { answer, asked };
  hasMistakes = Boolean(answer.error || answer.errors.length || answer.example_error);
  if (answer.error) {
    find("state").textContent = "stopped";
    showProblems({ errors: [answer.error], warnings: [], failed: [] });
    showValues({ errors: [answer.error] });
    return;
  }
  find("state").textContent = answer.errors.length ? `${answer.errors.length} to fix` : "";
  showProblems(answer);
  exampleNote(answer);
  setNames(answer.names, answer.errors.length > 0, asked.program);
  checkWeights();
  editor.setWords(answer.names.map((each) => ({ ...each, value: valueOf(answer, each.name) })), "own");
  showValues(answer, asked.program);
  if (asked.program === editor.text) editor.setProblems(answer.errors, answer.warnings, answer.failed || []);
  refreshTab();
  explainChosen();
  checkExamples();
  checkGeneration();
  tokens = answer.plan ? answer.plan.tokens : tokens;
  document.documentElement.dataset.shown = String(latest); // tests and measurements wait for this
  whenShown.splice(0).forEach((done) => done());
};

// ---- tabs

const refreshTab = () => {
  const tab = tabNow();
  if (tab === "values") catchUp();
  if (tab === "flow") showFlow();
  if (tab === "architecture") showArchitecture();
  if (tab === "weights") { showTrained(); checkWeights(); }
  if (tab === "gallery") showGallery();
};

// ---- the page's state lives in the fragment

// A page that nobody has changed begins anew, with its welcome.
const isUntouched = () => editor.text === FIRST && find("example").value === "hello" && !examplesNow().length && !task;
const isShown = ({ program, example }) => shown?.asked.program === program && shown.asked.example === example;

let remembering = null;
const store = async () => {
  clearTimeout(remembering);
  history.replaceState(null, "", await write(whole()));
  if (isEmbedded) return;
  if (isUntouched()) forgetKept();
  else keep(whole(), isShown(now()) ? shown.answer : null);
};
const remember = () => {
  clearTimeout(remembering);
  remembering = setTimeout(store, 400);
};

// Nothing that was made for one program is shown beside another.
const forget = () => {
  forgetChosen();
  forgetNames();
  forgetValues();
  forgetFlow();
  forgetArchitecture();
  forgetGeneration();
};

const open = (page) => {
  clearTimeout(remembering);
  forget();
  history.pushState(null, "", location.pathname);
  editor.text = page.program;
  find("example").value = page.example;
  setExamples(page.examples);
  exercise = page.exercise || "";
  fileName = `${page.name || page.exercise || "program"}.rasp`;
  want(page.name || "");
  changed();
};

const share = async () => {
  await store();
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
  setExamples(page.examples);
  task = page.task || null;
  exercise = String(page.exercise || "");
  if (exercise) resume(exercise);
  else if (task) beginTask(task);
  showTab(String(page.tab));
  changed();
};

const begun = () => {
  leave();
  open({ program: EMPTY, example: "hello" });
  showTab("values");
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
  find("new").addEventListener("click", begun);
  find("share").addEventListener("click", share);
  find("download").addEventListener("click", () => save(fileName, editor.text, "text/plain"));
  find("theme").addEventListener("click", () => tell(`theme: ${window.raspTheme.next()}`));
  find("example").addEventListener("input", changed);
  find("example-form").addEventListener("submit", (event) => event.preventDefault());
};

// Everything that the parts of the page may ask of it.
const makeContext = () => ({
  ask, now, open, remember,
  showTab(name) { showTab(name); if (name !== "values") bringUp(); },
  setExample(text) { find("example").value = text; changed(); },
  setExercise(name) { exercise = name; remember(); },
  setTask(found) { task = found; },
  leaveExercise() { if (exercise || task) leave(); else find("lesson").hidden = true; },
  tokens: () => tokens,
  settled: () => new Promise((done) => { whenShown.push(done); }),
  light: (places) => editor.light?.(places),
  hasMistakes: () => hasMistakes,
  focusEditor: (at) => editor.goTo(at, at),
  goTo: (start, end) => editor.goTo(start, end),
  apply({ start, end, text }) { editor.replace(start, end, text); changed(); },
  insertLine(line) {
    const { text } = editor;
    editor.replace(text.length, text.length, `${text && !text.endsWith("\n") ? "\n" : ""}${line}\n`);
    changed();
  },
  docs: (place) => (docs ? docs + place : ""),
  goToLine(line) {
    const lines = editor.text.split("\n").slice(0, line);
    const end = lines.join("\n").length;
    editor.goTo(end - lines.at(-1).length, end);
  },
});

// The values of the last visit, until those of this one are there.
const showKept = ({ answer, program, example }) => {
  try { show(answer, { program, example }); } catch { /* another version kept them */ }
};

const begin = async () => {
  const connection = await connect();
  const { start } = connection;
  ask = connection.ask;
  docs = start.docs || "";
  const linked = await read(location.hash);
  if (!linked && location.hash.startsWith("#1.")) tell("This link holds no program that can be read.");
  const kept = linked || (start.program || isEmbedded ? null : keptHere());
  const program = kept ? kept.program : start.program || FIRST;
  if (start.name) fileName = start.name;
  find("example").value = kept ? kept.example : "hello";
  editor = await makeEditor(find("editor"), start.without_editor, program, changed);
  const context = makeContext();
  setUpFrames(start.edition === "static", whole);
  setUpPanes();
  setUpProblems(context);
  setUpExamples(context);
  setUpHelp(context);
  setUpAuthoring(context);
  setUpSelection(context);
  setUpTokens(context);
  watchPane();
  setUpTabs((tab) => {
    showStory(tab);
    refreshTab();
    remember();
  });
  setUpButtons();
  setUpFlow(context);
  setUpArchitecture(context);
  setUpWeights(context, start.edition === "static");
  setUpGallery(context);
  if (kept) { setExamples(kept.examples); task = kept.task || null; }
  showTab(kept ? String(kept.tab) : "values");
  if (kept && kept !== linked && kept.answer) showKept(kept);
  changed();
  if (!kept && !start.program && !isEmbedded) welcome();
  await setUpLearn(context);
  if (kept && kept.exercise) { exercise = String(kept.exercise); resume(exercise); } else if (task) beginTask(task);
  const words = await ask("words", {});
  if (words.words) editor.setWords(words.words, "language");
  addEventListener("popstate", fromFragment);
};

begin();
