// A place on the page in, CodeMirror for RASP out. It lives in a shadow root, where its styles
// are adopted sheets: the page's content security policy needs no exception for it.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, toggleComment } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorSelection, EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, drawSelection, highlightActiveLine, highlightSpecialChars, hoverTooltip, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const { keywords, builtins } = RASP_WORDS; // put in by the build, from the language's own table
const KEYWORDS = new Set(keywords);
const BUILTINS = new Set(builtins);

const rasp = StreamLanguage.define({
  name: "rasp",
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match(/^#.*/)) return "comment";
    if (stream.match(/^"(?:\\.|[^"\\])*"?/) || stream.match(/^'(?:\\.|[^'\\])*'?/)) return "string";
    if (stream.match(/^\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/)) return "number";
    const word = stream.match(/^[\p{L}_][\p{L}\p{N}_]*/u);
    if (word) {
      if (["True", "False"].includes(word[0])) return "bool";
      if (KEYWORDS.has(word[0])) return "keyword";
      if (BUILTINS.has(word[0])) return "standard";
      return stream.match(/^\s*\(/, false) ? "function" : "variableName";
    }
    if (stream.match(/^(?:[=!<>]=|\/\/|[-+*/%^<>=])/)) return "operator";
    stream.next();
    return null;
  },
  languageData: { commentTokens: { line: "#" }, closeBrackets: { brackets: ["(", "[", "{", '"', "'"] } },
  tokenTable: { standard: tags.standard(tags.variableName), function: tags.function(tags.variableName) },
});

const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: tags.string, color: "var(--green)" },
  { tag: [tags.number, tags.bool], color: "var(--orange)" },
  { tag: tags.keyword, color: "var(--purple)", fontWeight: "600" },
  { tag: tags.standard(tags.variableName), color: "var(--purple)" },
  { tag: tags.function(tags.variableName), color: "var(--blue)" },
]);

const look = EditorView.theme({
  "&": { height: "100%", background: "var(--paper)", color: "var(--ink)", fontSize: "14px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--ink)", padding: "10px 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { background: "var(--paper)", color: "var(--soft)", border: "none" },
  ".cm-activeLine": { background: "color-mix(in srgb, var(--wash) 60%, transparent)" },
  ".cm-line.cm-lit": { background: "var(--lit)", boxShadow: "inset 3px 0 var(--pink)" },
  ".cm-activeLineGutter": { background: "var(--wash)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { background: "var(--lit) !important" },
  "&.cm-focused .cm-matchingBracket": { background: "var(--purple-wash)", outline: "1px solid var(--purple)" },
  ".cm-tooltip": { background: "var(--paper)", border: "1px solid var(--line)", borderRadius: "6px", color: "var(--ink)", boxShadow: "0 4px 18px rgb(0 0 0 / 20%)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "2px 8px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { background: "var(--purple-wash) !important", color: "var(--ink) !important" },
  ".cm-completionDetail": { color: "var(--soft)", fontStyle: "normal" },
  ".cm-completionInfo": { maxWidth: "320px", fontFamily: "var(--sans)", fontSize: "13px", padding: "6px 10px" },
  ".cm-explained": { maxWidth: "380px", padding: "6px 10px", fontFamily: "var(--sans)", fontSize: "13px", whiteSpace: "pre-wrap" },
  ".cm-explained p": { margin: "0" },
  ".cm-explained p:first-child": { fontFamily: "var(--mono)", fontWeight: "600" },
  ".cm-explained small": { marginLeft: "10px", fontFamily: "var(--sans)", fontWeight: "400", color: "var(--soft)" },
  ".cm-explained code": { display: "block", fontFamily: "var(--mono)", color: "var(--purple)" },
  ".cm-diagnostic": { fontFamily: "var(--sans)", fontSize: "13px", whiteSpace: "pre-wrap" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--red)" },
});

const ICONS = { "s-op": "variable", selector: "type", scorer: "type", function: "function", keyword: "keyword" };

const complete = (words) => (context) => {
  const word = context.matchBefore(/[\p{L}_][\p{L}\p{N}_]*/u);
  if (!word && !context.explicit) return null;
  const before = context.state.sliceDoc(Math.max(0, context.pos - 200), context.pos);
  if (/#[^\n]*$/.test(before)) return null;
  const own = new Map([...(words.language || []), ...(words.own || [])].map((each) => [each.name, each]));
  return {
    from: word ? word.from : context.pos,
    options: [...own.values()].map((each) => ({
      label: each.name, type: ICONS[each.kind] || "constant", detail: each.kind === "keyword" ? "" : each.kind,
      info: [each.doc.startsWith(`${each.name}(`) ? "" : each.detail, each.doc].filter(Boolean).join("\n") || undefined,
    })),
    validFor: /^[\p{L}\p{N}_]*$/u,
  };
};

const paragraph = (tag, text) => {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
};

// What a name is, what it holds on the example, and what it is for.
const explain = (words) => hoverTooltip((view, at) => {
  const { from, text } = view.state.doc.lineAt(at);
  const found = [...text.matchAll(/[\p{L}_][\p{L}\p{N}_]*/gu)].find((word) => from + word.index <= at && at <= from + word.index + word[0].length);
  if (!found || text.slice(0, found.index).includes("#")) return null;
  const known = [...(words.own || []), ...(words.language || [])].find((each) => each.name === found[0]);
  if (!known || (known.kind === "keyword" && !known.doc)) return null;
  return {
    pos: from + found.index, end: from + found.index + found[0].length, above: true,
    create() {
      const dom = document.createElement("div");
      dom.className = "cm-explained";
      const title = paragraph("p", known.detail || known.name);
      title.append(paragraph("small", known.kind));
      dom.append(title, ...(known.value ? [paragraph("code", known.value)] : []), ...(known.doc ? [paragraph("p", known.doc)] : []));
      return { dom };
    },
  };
}, { hoverTime: 250 });

const diagnostics = (length, severity, found) => found
  .filter((each) => each.start !== undefined && each.start <= length)
  .map((each) => ({
    from: each.start, to: Math.min(length, Math.max(each.end, each.start + 1)), severity,
    message: each.hint ? `${each.message}\nhint: ${each.hint}` : each.message,
  }));

// The lines that made what is chosen on the page; an edit moves them along.
const lightLines = StateEffect.define();
const litLine = Decoration.line({ class: "cm-lit" });
const litLines = StateField.define({
  create: () => Decoration.none,
  update(lit, transaction) {
    const effect = transaction.effects.find((each) => each.is(lightLines));
    if (!effect) return lit.map(transaction.changes);
    const { doc } = transaction.state;
    const starts = new Set(effect.value.filter((place) => place.line <= doc.lines).map((place) => doc.line(place.line).from));
    return Decoration.set([...starts].sort((one, other) => one - other).map((start) => litLine.range(start)));
  },
  provide: (field) => EditorView.decorations.from(field),
});

export const codeEditor = (parent, label, text, onChange) => {
  const words = {};
  const host = document.createElement("div");
  parent.replaceChildren(host);
  const root = host.attachShadow({ mode: "open" });
  let isOurs = false;
  const view = new EditorView({
    root, parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(), lintGutter(), litLines, highlightSpecialChars(), history(), drawSelection(), highlightActiveLine(), bracketMatching(), closeBrackets(),
        EditorView.lineWrapping, rasp, syntaxHighlighting(colours), look, explain(words), autocompletion({ override: [complete(words)], activateOnTypingDelay: 150 }),
        keymap.of([{ key: "Mod-/", run: toggleComment }, ...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0", spellcheck: "false", autocapitalize: "off" }),
        EditorView.updateListener.of((update) => { if (update.docChanged && !isOurs) onChange(); }),
      ],
    }),
  });
  return {
    get text() { return view.state.doc.toString(); },
    set text(value) {
      isOurs = true;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value } });
      isOurs = false;
    },
    focus: () => view.focus(),
    goTo(start, end) {
      const most = view.state.doc.length;
      const selection = EditorSelection.range(Math.min(start, most), Math.min(end, most));
      view.dispatch({ selection, effects: EditorView.scrollIntoView(selection, { y: "center" }) });
      view.focus();
    },
    replace(start, end, text) {
      const most = view.state.doc.length;
      isOurs = true;
      view.dispatch({ changes: { from: Math.min(start, most), to: Math.min(end, most), insert: text }, scrollIntoView: true, selection: { anchor: Math.min(start, most) + text.length } });
      isOurs = false;
      view.focus();
    },
    setProblems(errors, warnings, failed) {
      const length = view.state.doc.length;
      view.dispatch(setDiagnostics(view.state, [
        ...diagnostics(length, "error", errors), ...diagnostics(length, "warning", failed), ...diagnostics(length, "info", warnings),
      ].sort((one, other) => one.from - other.from)));
    },
    light(places) { view.dispatch({ effects: lightLines.of(places) }); },
    setWords(found, whose) { words[whose] = found; },
  };
};
