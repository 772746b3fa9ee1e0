// A vocabulary and a length in, the compiled transformer out: its size, certificate, attention.

import { complaint, find, make, prose, save } from "./elements.js";
import { chosenName, nameMenu } from "./chooser.js";
import { heatMap } from "./heat.js";
import { choose, chosenNow, onChosen } from "./selection.js";

let page = null;

const figure = (number, word) => make("div", { class: "figure" }, make("strong", {}, number.toLocaleString("en")), make("span", {}, word));

const comparison = (answer, head, onChoose) => make("div", { class: "pair" },
  heatMap(answer.tokens, {}, head, { onChoose, name: `layer ${head.layer}, head ${head.number}: attention of the model`, weights: head.attention, caption: head.selector }),
  heatMap(answer.tokens, {}, head, { onChoose, name: "the program's selection, as shares", weights: head.selection, caption: head.difference < 5e-4 ? "no visible difference" : `largest difference ${head.difference.toFixed(3)}` }));

const shown = (answer) => [
  make("div", { class: "figures" }, figure(answer.parameters, "parameters"), figure(answer.layers, "layers"),
    figure(answer.d_model, "dimensions"), figure(answer.hidden, "hidden units")),
  make("p", { class: `verdict ${answer.is_exact ? "yes" : "no"}` }, make("strong", {}, answer.is_exact ? "Certified: " : "Not certified: "), answer.statement),
  make("p", {}, answer.model_answer === answer.program_answer ? "On the example, model and program both give " : `On the example the program gives ${answer.program_answer}, but the model `, make("code", {}, answer.model_answer)),
  ...(answer.files ? [make("button", { type: "button", onclick: () => save(`${answer.name}.zip`, Uint8Array.from(atob(answer.files), (letter) => letter.charCodeAt(0)), "application/zip") }, "Download the weights (.zip)")] : []),
  make("details", {}, make("summary", {}, "The whole certificate"), make("pre", {}, answer.certificate)),
  ...(answer.heads.length ? [make("h2", {}, "Attention beside selection"),
    answer.uses_sink ? make("p", { class: "soft" }, "The model puts a hidden token, the sink, before the input. Shown is how each row's attention divides among the input's own tokens.") : null] : []),
  ...answer.heads.map((head) => comparison(answer, head, (at) => choose({ row: answer.name, at }))),
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

// A result belongs to the program, the example and the settings it was made for, or is gone.
let madeFor = "";
const request = () => ({ ...page.now(), name: chosenName(), ...Object.fromEntries(new FormData(find("weights").querySelector("form"))) });

export const checkWeights = () => {
  const place = find("weights-answer");
  if (!place || !madeFor || madeFor === JSON.stringify(request())) return;
  madeFor = "";
  place.replaceChildren(make("p", { class: "soft" }, "The program, the example or a setting has changed: compile again to see its weights."));
};

// The position that is chosen asks in every head.
const highlight = (chosen, told) => find("weights").querySelectorAll(".selection-card").forEach((card) => card.light(chosen && told ? chosen.at : null));
onChosen(highlight);

const compile = async (event) => {
  event.preventDefault();
  const place = find("weights-answer");
  place.replaceChildren(make("p", { class: "soft" }, "compiling…"));
  const asked = request();
  madeFor = JSON.stringify(asked);
  const answer = await page.ask("weights", asked);
  if (answer.replaced || madeFor !== JSON.stringify(asked)) return;
  place.replaceChildren(...(answer.error ? [complaint(answer.error)] : shown(answer).filter(Boolean)));
  highlight(...chosenNow());
};

export const setUpWeights = (context, isStatic) => {
  page = context;
  if (isStatic) {
    find("weights").replaceChildren(make("p", {}, prose("Weights are made by the full edition: install it with `pip install \"rasp-lang[play]\"` and start `rasp play`.")));
    return;
  }
  find("weights").replaceChildren(
    make("form", { class: "toolbar fit", onsubmit: compile, oninput: () => checkWeights() },
      nameMenu("Compile", () => { checkWeights(); showTrained(); }),
      make("label", {}, "for tokens ", make("input", { name: "vocabulary", size: 19, placeholder: "those of the example", autocomplete: "off", spellcheck: "false" })),
      make("label", {}, "up to length ", make("input", { name: "max_length", type: "number", min: 1, max: 64, placeholder: "10" })),
      make("label", {}, "BOS ", make("input", { name: "bos", size: 3, autocomplete: "off" })),
      make("button", { type: "submit", class: "primary" }, "Compile")),
    make("div", { id: "weights-answer", "aria-live": "polite" },
      make("p", { class: "soft" }, "A program can be compiled into the weights of a transformer that computes exactly what the program does, with a certificate that says for which inputs.")),
    make("div", { id: "trained" }));
};
