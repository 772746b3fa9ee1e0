// A place on the page in, an editor out: CodeMirror where it was bundled, else a plain text area.

import { make } from "./elements.js";

const LABEL = "RASP program";

const plainEditor = (parent, text, onChange) => {
  const area = make("textarea", { "aria-label": LABEL, spellcheck: "false", autocapitalize: "off", autocomplete: "off" });
  area.value = text;
  area.addEventListener("input", () => onChange());
  parent.replaceChildren(area);
  return {
    get text() { return area.value; },
    set text(value) { area.value = value; },
    focus: () => area.focus(),
    goTo(start, end) {
      area.focus();
      area.setSelectionRange(start, end);
    },
    replace(start, end, text) { area.setRangeText(text, start, end, "end"); },
    setProblems() {},
    setWords() {},
    light() {},
  };
};

export const makeEditor = async (parent, without, text, onChange) => {
  if (without) {
    const plain = plainEditor(parent, text, onChange);
    parent.append(make("p", { id: "without-editor", class: "soft" }, without));
    return plain;
  }
  try {
    const { codeEditor } = await import("./bundle/editor.js");
    return codeEditor(parent, LABEL, text, onChange);
  } catch (error) {
    console.warn("the editor cannot start, so here is a plain text area", error);
    return plainEditor(parent, text, onChange);
  }
};
