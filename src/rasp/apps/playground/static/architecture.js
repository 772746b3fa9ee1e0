// Layers and heads in, boxes with the reasons out; and a form that asks what the s-op fits into.

import { complaint, find, make, prose } from "./elements.js";
import { chosenName, nameMenu } from "./chooser.js";

let page = null;
let wantedKey = "";

const headBox = (head) => make("div", { class: "head-box" },
  make("code", {}, head.selector),
  make("p", {}, head.gives.length ? `gives ${head.gives.join(", ")}` : ""),
  head.line ? make("button", { type: "button", class: "link", onclick: () => page.goToLine(head.line) }, `line ${head.line}`) : null);

const layerRow = (layer, number) => make("li", {},
  make("h3", {}, `layer ${number + 1}`),
  make("div", { class: "head-boxes" }, ...layer.heads.map(headBox)),
  layer.feed_forward.length ? make("p", { class: "soft" }, `feed-forward makes ${layer.feed_forward.join(", ")}`) : null);

const reasons = (title, lines) => lines.length
  ? [make("h3", {}, title), make("p", {}, prose(lines[0])), lines.length > 1 ? make("pre", {}, lines.slice(1).join("\n")) : null]
  : [];

const drawn = (answer) => [
  make("p", { class: "summary" }, answer.layers ? answer.summary : "No attention is needed: the embedding and one feed-forward do it."),
  answer.input_feed_forward.length ? make("p", { class: "soft" }, `before the first attention, a feed-forward makes ${answer.input_feed_forward.join(", ")}`) : null,
  make("ol", { class: "layers" }, ...answer.layer_list.map(layerRow)),
  ...reasons(`Why ${answer.layers} layer${answer.layers === 1 ? "" : "s"}?`, answer.why_so_deep),
  ...reasons(`Why ${answer.width} heads?`, answer.why_so_wide),
  ...answer.notes.map((note) => make("p", { class: "soft" }, "note: ", prose(note))),
  ...answer.suggestions.map((each) => make("p", { class: "advice" }, "to save: ", prose(each.advice), make("span", { class: "soft" }, ` (heads per layer: ${each.heads_per_layer})`))),
];

const badge = (each) => make("span", {
  class: `badge ${each.in ? "yes" : "no"}`, title: `${each.dialect}: ${each.why}`,
}, each.in ? `${each.dialect}${each.as_written ? "" : " (equal to one that is)"}` : `not ${each.dialect}`);

const showBadges = async (name, asked) => {
  const answer = await page.ask("dialects", { ...page.now(), name });
  if (answer.replaced || answer.error || asked !== wantedKey || !answer.badges.length) return;
  find("dialect-badges").replaceChildren(
    make("h3", {}, "Dialects"), ...answer.badges.map(badge), make("p", { class: "soft" }, answer.forecast));
};

const verdict = (each) => make("div", { class: `verdict ${each.fits ? "yes" : "no"}` },
  make("p", {}, make("strong", {}, each.fits ? "Yes" : "No"), ` · ${each.question}`, each.is_proved ? "" : " (tested, not proved)"),
  make("pre", {}, each.reason),
  each.counterexample ? make("button", { type: "button", onclick: () => page.setExample(each.counterexample.example) }, "Use this input as the example") : null);

const ask = async (event) => {
  event.preventDefault();
  const form = event.target;
  const place = find("fit-answer");
  const given = Object.fromEntries(new FormData(form));
  if (!Object.values(given).some((value) => value.trim())) {
    place.replaceChildren(make("p", { class: "soft" }, "Fill in any of the fields: layers, heads, an order of sublayers, or an attention pattern."));
    return;
  }
  place.replaceChildren(make("p", { class: "soft" }, "thinking…"));
  const answer = await page.ask("fit", { ...page.now(), name: chosenName(), ...given });
  if (answer.replaced) return;
  place.replaceChildren(...(answer.error ? [complaint(answer.error)]
    : [...answer.verdicts.map(verdict), ...answer.notes.map((note) => make("p", { class: "soft" }, "note: ", prose(note)))]));
};

const field = (label, name, attributes) => make("label", {}, `${label} `, make("input", { name, autocomplete: "off", spellcheck: "false", ...attributes }));

export const setUpArchitecture = (context) => {
  page = context;
  const patterns = make("datalist", { id: "patterns" }, ...["causal", "window:2", "strided:3", "block:4", "bigbird:1,1,1"].map((value) => make("option", { value })));
  find("architecture").replaceChildren(
    make("div", { class: "toolbar" }, nameMenu("The transformer for", () => showArchitecture())),
    make("div", { id: "architecture-drawn" }),
    make("div", { id: "dialect-badges", "aria-live": "polite" }),
    make("h2", {}, "Does it fit?"),
    make("form", { class: "toolbar fit", onsubmit: ask },
      field("layers", "layers", { type: "number", min: 0, max: 1000 }), field("heads in each", "heads", { type: "number", min: 0, max: 1000 }),
      field("or sublayers in order", "order", { placeholder: "sfsf", size: 8 }),
      field("attention", "attention", { placeholder: "causal", size: 12, list: "patterns" }), patterns,
      make("button", { type: "submit" }, "Ask")),
    make("div", { id: "fit-answer", "aria-live": "polite" }));
};

// Another program is opened: nothing of this one stays.
export const forgetArchitecture = () => {
  wantedKey = "";
  for (const id of ["architecture-drawn", "dialect-badges", "fit-answer"]) find(id).replaceChildren();
};

export const showArchitecture = async () => {
  const name = chosenName();
  const place = find("architecture-drawn");
  if (!name) {
    place.replaceChildren(make("p", { class: "soft" }, "Define an s-op, and its layers and heads are shown here."));
    return;
  }
  const asked = JSON.stringify([page.now().program, name]);
  if (asked === wantedKey) return;
  wantedKey = asked;
  const answer = await page.ask("architecture", { ...page.now(), name });
  if (answer.replaced || asked !== wantedKey) return;
  place.querySelectorAll(".complaint").forEach((one) => one.remove());
  place.classList.toggle("stale", Boolean(answer.error));
  find("dialect-badges").classList.toggle("stale", Boolean(answer.error));
  if (answer.error) { // the last one stays, faded
    wantedKey = "";
    place.prepend(complaint(answer.error));
    return;
  }
  find("fit-answer").replaceChildren();
  find("dialect-badges").replaceChildren();
  place.replaceChildren(...drawn(answer).flat().filter(Boolean));
  await showBadges(name, asked);
};
