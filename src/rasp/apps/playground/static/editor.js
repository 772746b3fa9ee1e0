// A place on the page in, an editor out: CodeMirror where it was bundled, else a plain text area.

import { make, tell } from "./elements.js";

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

export const makeEditor = async (parent, hasBundle, text, onChange) => {
  if (!hasBundle) {
    tell("The editor was not built in this checkout, so this is a plain text area: python scripts/build_web.py");
    return plainEditor(parent, text, onChange);
  }
  try {
    const { codeEditor } = await import("./bundle/editor.js");
    return codeEditor(parent, LABEL, text, onChange);
  } catch (error) {
    console.warn("the editor cannot start, so here is a plain text area", error);
    return plainEditor(parent, text, onChange);
  }
};
