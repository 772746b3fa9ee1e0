"""What people write in other languages, and what RASP has in its place: for hints."""

from __future__ import annotations

FOREIGN_SIGNS = {
    "&&": "`and`",
    "&": "`and`",
    "||": "`or`",
    "|": "`or`",
    "!": "`not`, or `!=` to compare",
    "**": "`^` for powers",
    "“": 'straight quotes: `"`',
    "”": 'straight quotes: `"`',
    "‘": "straight quotes: `'`",
    "’": "straight quotes: `'`",
    ".": "`f(x)` in place of `x.f()`: RASP has no dots outside numbers",
    "?": "`a if condition else b` to choose",
    "===": "`==` to compare",
    "!==": "`!=` to compare",
    "=>": "`>=` to compare",
    "<>": "`!=` to compare",
    ":=": "`=` to give a name to a value",
    "->": "`=` to give a name to a value",
    "≤": "`<=`",
    "≥": "`>=`",
    "≠": "`!=`",
    "×": "`*`",
    "÷": "`/`",
    "−": "`-`",
    "–": "`-`",
    "~": "`not`",
    "@": "`*` to multiply at every position",
}

# Words of other languages that come before something else, and between two things.
FOREIGN_WORDS = {
    "while": "use `for x in range(n) { … }`",
    "elif": "use `a if condition else b`",
    "lambda": "write a function, `def f(x) { return x; }`; `select` takes a sign, as in "
    "`select(tokens, tokens, ==)`",
    "import": 'use `load "file";`',
    "from": 'use `load "file";`',
    "print": "write the expression alone: `expression;` shows its value",
    "var": "a name needs no `var`: write `x = 1;`",
    "let": "a name needs no `let`: write `x = 1;`",
    "const": "a name needs no `const`: write `x = 1;`",
    "function": "write `def f(x) { return x; }`",
    "fn": "write `def f(x) { return x; }`",
    "func": "write `def f(x) { return x; }`",
    "del": "at the prompt, `undo` takes the last definition back",
    "assert": "write the expression alone: `expression;` shows whether it holds",
    "class": "a program is made of names and functions: `def f(x) { return x; }`",
}
FOREIGN_INFIX = {
    "is": "use `==` to compare",
    "AND": "use `and`",
    "OR": "use `or`",
    "NOT": "use `not`",
    "xor": "use `!=` between two bools",
    "mod": "use `%`",
    "div": "use `//`",
    "then": "a choice reads `a if condition else b`",
}
