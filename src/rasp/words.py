"""The words and signs of RASP, in one table: lexer, printers, completion and editors read it."""

from __future__ import annotations

KEYWORDS = ("and", "or", "not", "in", "if", "else", "for", "def", "return", "True", "False")

# Words that, like `load`, mean something only where a statement begins, and elsewhere are names.
COMMANDS = {
    "set": "set example INPUT: what new s-ops and selectors are shown on",
    "show": "show example: the running example",
    "examples": "examples on|off: show values of new s-ops and selectors, or do not",
    "full": "full seq display on|off: long sequences in full, or shortened",
    "names": "names: what is defined",
    "doc": "doc NAME: what a name is for",
    "undo": "undo: take the last definition back",
    "arch": "arch NAME: layers and heads, and why",
    "help": "help: how to talk to this prompt",
    "exit": "exit: leave (so does quit, and Ctrl-D)",
    "quit": "quit: leave (so does exit, and Ctrl-D)",
}

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
SYMBOLS = (*COMPARISONS, "=", "+", "-", "*", "//", "/", "%", "^",
           "(", ")", "[", "]", "{", "}", ",", ";", ":")  # fmt: skip

# How tightly each operator binds, loosest first; an operand that binds more loosely gets brackets.
TERNARY, OR, AND, NOT, COMPARISON, SUM, PRODUCT, SIGN, POWER, ATOM = range(10)
BINDING = {
    "or": OR,
    "and": AND,
    "in": COMPARISON,
    "not in": COMPARISON,
    **dict.fromkeys(COMPARISONS, COMPARISON),
    "+": SUM,
    "-": SUM,
    "*": PRODUCT,
    "/": PRODUCT,
    "//": PRODUCT,
    "%": PRODUCT,
    "^": POWER,
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
    "select": "select(keys, queries, op): query i picks key j where keys[j] op queries[i]",
    "aggregate": "aggregate(selector, values, default=0): per query, the mean of the picked values",
    "score": "score(keys, queries): for query i and key j the number keys[j] * queries[i]",
    "select_best": "select_best(selector, scorer): in each row only the best-scored picks stay",
    "indicator": "indicator(x): 1 where x is true, else 0",
    "round": "round(x): the nearest int, halves to the even one",
    "floor": "floor(x): the nearest int below or at x",
    "int": "int(x): a number without its fraction, or the int that a string spells",
    "abs": "abs(x): how far x is from 0",
    "range": "range(stop), range(start, stop), range(start, stop, step): a list of ints",
    "zip": "zip(list, list, …): a list of lists, item by item",
    "len": "len(list): how many items (for inputs, use the s-op `length`)",
    "draw": "draw(s_op, input): a picture of the computation, layer by layer",
}
