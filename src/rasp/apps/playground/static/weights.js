// A vocabulary and a length in, the compiled transformer out: its size, its certificate, its files,
// and the example run through it, again whenever the example changes.

import { complaint, find, make, save } from "./elements.js";
import { chosenName, nameMenu } from "./chooser.js";
import { lightColumn, matrices, runShown, staticNote } from "./model.js";
import { chosenNow, onChosen } from "./selection.js";

let page = null;

const figure = (number, word) => make("div", { class: "figure" }, make("strong", {}, number.toLocaleString("en")), make("span", {}, word));

const shown = (answer) => [
  make("div", { class: "figures" }, figure(answer.parameters, "parameters"), figure(answer.layers, "layers"),
    figure(answer.d_model, "dimensions"), figure(answer.hidden, "hidden units")),
  make("p", { class: `verdict ${answer.is_exact ? "yes" : "no"}` }, make("strong", {}, { proved: "Certified: ", run: "Run, not proved: ", tested: "Tested, not proved: " }[answer.trust] || "Not certified: "), answer.statement),
  make("div", { class: "toolbar" }, answer.files ? make("button", { type: "button", onclick: () => save(`${answer.name}.zip`, Uint8Array.from(atob(answer.files), (letter) => letter.charCodeAt(0)), "application/zip") }, "Download the weights (.zip)") : null),
  make("details", {}, make("summary", {}, "The whole certificate"), make("pre", {}, answer.certificate)),
  matrices(answer.matrices, (matrix) => page.ask("matrix", { ...asModel(), matrix })),
  make("div", { id: "model-run" }),
];

const percent = (part) => (part === null || part === undefined ? "" : `${(100 * part).toFixed(2)} %`);

const trainedTable = (found) => [
  make("h2", {}, "Trained models of this s-op"),
  make("p", { class: "soft" }, "The compiled weights are exact; these were learned from examples. Right on the test set: single tokens, whole inputs, and tokens of inputs longer than any seen."),
  make("div", { class: "scroll" }, make("table", { class: "plain" },
    make("thead", {}, make("tr", {}, ...["model", "layers", "heads", "width", "tokens", "inputs", "longer"].map((word) => make("th", { scope: "col" }, word)))),
    make("tbody", {}, ...found.map((each) => make("tr", {}, make("th", { scope: "row" }, each.name),
      ...[each.layers, each.heads, each.width, percent(each.tokens), percent(each.sequences), percent(each.longer)].map((text) => make("td", {}, text))))))),
];

let wantedKey = "";
export const showTrained = async () => {
  const place = find("trained");
  const asked = JSON.stringify([page.now().program, chosenName()]);
  if (!place || !chosenName() || asked === wantedKey) return;
  wantedKey = asked;
  const answer = await page.ask("trained", { ...page.now(), name: chosenName() });
  if (asked !== wantedKey) return;
  place.replaceChildren(...(answer.trained && answer.trained.length ? trainedTable(answer.trained) : []));
};

// A result belongs to the program and the settings it was made for, or is gone. Another example is
// run through the same model.
let made = null; // { key, vocabulary, max_length, name }
let ranOn = "";
const settings = () => Object.fromEntries(new FormData(find("weights").querySelector("form")));
const keyNow = () => JSON.stringify([page.now().program, chosenName(), settings()]);
const asModel = () => ({ ...page.now(), ...settings(), name: made.name, vocabulary: made.vocabulary, max_length: made.max_length });

export const checkWeights = () => {
  const place = find("weights-answer");
  if (!place || !made) return;
  if (made.key === keyNow()) {
    runModel();
    return;
  }
  made = null;
  place.replaceChildren(make("p", { class: "soft" }, "The program or a setting has changed: compile again to see its weights."));
};

// The position that is chosen asks in every head.
const highlight = (chosen, told) => {
  const at = chosen && told ? chosen.at : null;
  find("weights").querySelectorAll(".selection-card").forEach((card) => card.light(at));
  lightColumn(at);
};
onChosen(highlight);

const runModel = async () => {
  const { example } = page.now();
  if (example === ranOn || find("weights").hidden) return;
  ranOn = example;
  const place = find("model-run");
  place?.classList.add("stale");
  const answer = await page.ask("model_run", asModel());
  if (answer.replaced || !place?.isConnected || example !== ranOn) return;
  place.classList.toggle("stale", Boolean(answer.error));
  place.querySelectorAll(".complaint").forEach((one) => one.remove());
  if (answer.error) place.prepend(complaint(answer.error)); // the last input's run stays, faded
  else place.replaceChildren(...runShown(answer, made.name));
  highlight(...chosenNow());
};

const compile = async (event) => {
  event.preventDefault();
  const place = find("weights-answer");
  place.replaceChildren(make("p", { class: "soft" }, "compiling…"));
  const key = keyNow();
  made = { key, name: chosenName() };
  const answer = await page.ask("weights", { ...page.now(), ...settings(), name: made.name });
  if (answer.replaced || made?.key !== key) return;
  if (answer.error) {
    made = null;
    place.replaceChildren(complaint(answer.error));
    return;
  }
  made = { ...made, vocabulary: answer.vocabulary, max_length: answer.max_length };
  place.replaceChildren(...shown(answer));
  ranOn = "";
  await runModel();
};

const menu = (name, title, words) => make("label", { title }, `${name} `, make("select", { name }, ...words.map((word) => make("option", { value: word }, word))));
const field = (name, text, title, more) => make("label", { title }, `${text} `, make("input", { name, autocomplete: "off", spellcheck: "false", ...more }));
const box = (name, text, title) => make("label", { title }, make("input", { type: "checkbox", name, value: "yes" }), ` ${text}`);

// The options of `rasp compile`, in its words.
const options = () => make("details", { class: "options" }, make("summary", {}, "Options"), make("div", { class: "toolbar" },
  field("bos", "BOS", "The token that every input begins with", { size: 3 }),
  field("where", "where", "A promise: this bool s-op is true at every position of every input", { size: 10 }),
  box("causal", "causal", "Positions see only what came before"),
  box("next_token", "next token", "A model that generates: outputs are tokens, or the empty string, which ends"),
  box("no_sink", "no sink", "Put no hidden token before the input"),
  menu("heads", "split: one more head where that makes the model much smaller", ["paper", "split"]),
  menu("style", "robust: moderate weights that bear noise; compact: the smallest model; auto: robust if it can be", ["auto", "robust", "compact"]),
  field("extra_feed_forwards", "extra feed-forwards", "Allow so many feed-forward blocks without heads", { type: "number", min: 0, max: 16, placeholder: "0" })));

export const setUpWeights = (context, isStatic) => {
  page = context;
  if (isStatic) {
    find("weights").replaceChildren(staticNote());
    return;
  }
  find("weights").replaceChildren(
    make("form", { class: "toolbar fit", onsubmit: compile, oninput: () => checkWeights() },
      nameMenu("Compile", () => { checkWeights(); showTrained(); }),
      make("label", {}, "for tokens ", make("input", { name: "vocabulary", size: 19, placeholder: "those of the example", autocomplete: "off", spellcheck: "false" })),
      make("label", {}, "up to length ", make("input", { name: "max_length", type: "number", min: 1, max: 256, placeholder: "10" })),
      options(),
      make("button", { type: "submit", class: "primary" }, "Compile")),
    make("div", { id: "weights-answer", "aria-live": "polite" },
      make("p", { class: "soft" }, "A program can be compiled into the weights of a transformer that computes exactly what the program does, with a certificate that says for which inputs.")),
    make("div", { id: "trained" }));
};
