"""The words and signs of RASP, in one table: lexer, printers, completion and editors read it."""

from __future__ import annotations

from rasp.language.operators.comparisons import COMPARISONS
from rasp.language.operators.table import (
    AND,
    ATOM,
    COMPARISON,
    NOT,
    OR,
    SIGN,
    SUM,
    TERNARY,
    written,
)

__all__ = [
    "AND",
    "ATOM",
    "BINDING",
    "BUILT_IN_DOCS",
    "COMMANDS",
    "COMMAND_PHRASES",
    "COMPARISON",
    "COMPARISONS",
    "CONSTANTS",
    "KEYWORDS",
    "KEYWORD_DOCS",
    "NOT",
    "OR",
    "SIGN",
    "SUM",
    "SYMBOLS",
    "TERNARY",
    "WORD_OPERATORS",
]

WORD_OPERATORS, CONSTANTS = ("and", "or", "not", "in"), ("True", "False")
KEYWORDS = (*WORD_OPERATORS, "if", "else", "for", "def", "return", *CONSTANTS)

# Words that, like `load`, mean something only where a statement begins, and elsewhere are names.
COMMANDS = {
    "set": "set example INPUT: what new s-ops and selectors are shown on",
    "show": "show example: the running example",
    "examples": "examples on|off: show values of new s-ops and selectors, or do not",
    "s-op": "s-op examples on|off: the same for s-ops alone",
    "selector": "selector examples on|off: the same for selectors alone",
    "full": "full seq display on|off: long sequences in full, or shortened",
    "names": "names: what is defined",
    "doc": "doc NAME: what a name is for (so do help NAME and ?NAME)",
    "undo": "undo: take the last definition back",
    "arch": "arch NAME: layers and heads, and why",
    "generate": "generate NAME INPUT: append its last value to the input, again and again",
    "save": 'save "FILE": write what you defined to a file',
    "help": "help: how this prompt works",
    "exit": "exit: leave (so does quit, and Ctrl-D)",
    "quit": "quit: leave (so does exit, and Ctrl-D)",
}

# What can be typed after each, for completion.
COMMAND_PHRASES = (
    "set example ", "set s-op example ", "set selector example ", "show example",
    "show s-op example", "show selector example", "examples on", "examples off",
    "s-op examples on", "s-op examples off", "selector examples on", "selector examples off",
    "full seq display on", "full seq display off", "names", "undo", "help", "exit", "quit",
    "doc ", "arch ", "generate ", 'load "', 'save "',
)  # fmt: skip

SYMBOLS = tuple(dict.fromkeys([
    *(row.text for how in ("infix", "prefix") for row in written(how) if not row.text.isalpha()),
    "=", "(", ")", "[", "]", "{", "}", ",", ";", ":",
]))  # fmt: skip
BINDING = {
    **{row.text: row.binding for row in written("infix")}, "in": COMPARISON, "not in": COMPARISON
}  # fmt: skip

KEYWORD_DOCS = {
    "and": "a and b: both are true; two selectors: what both pick",
    "or": "a or b: one of them is true (a bool, not a or b); two selectors: what either picks",
    "not": "not a: a is false; a selector: what it does not pick",
    "in": "x in list: is it one of them, at each position; atom in s_op: is it anywhere",
    "if": "a if condition else b: a where the condition is true, else b",
    "else": "a if condition else b: a where the condition is true, else b",
    "for": "for x in list { … }, or [f(x) for x in list]",
    "def": "def f(a, b=1) { return a + b; }",
    "return": "return x; gives a function's value",
    "True": "True: what holds",
    "False": "False: what does not hold",
    "load": 'load "file"; imports the public names of another file',
}

# Built into the language; everything else is library code, written in RASP.
BUILT_IN_DOCS = {
    "tokens": "the input itself",
    "tokens_asis": "the input itself, the same as `tokens`",
    "tokens_str": "the input's tokens as strings",
    "tokens_int": "the input's tokens read as ints",
    "tokens_float": "the input's tokens read as floats",
    "tokens_bool": "the input's tokens as bools: is it anything but 0, False or empty?",
    "indices": "the positions 0, 1, … n-1",
    "select": "select(keys, queries, op): query i picks key j where keys[j] op queries[i]; "
    "op is a sign such as ==",
    "aggregate": "aggregate(selector, values, default=0): per query, the mean of the picked values",
    "score": "score(keys, queries): for query i and key j the number keys[j] * queries[i]",
    "select_best": "select_best(selector, scorer): in each row only the best-scored picks stay",
    **{row.name: row.doc for row in written("call")},
    "range": "range(stop), range(start, stop), range(start, stop, step): a list of ints",
    "zip": "zip(list, list, …): a list of lists, item by item",
    "len": "len(list): how many items (for inputs, use the s-op `length`)",
    "draw": "draw(s_op, input): a picture, layer by layer; without an input, of the example",
}
