"""Text in, tokens out, and comments: remarks between statements and after them.

The lexer never stops at a mistake: it notes it and goes on, so that one run can report several.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, NamedTuple

from rasp.base.atoms import Atom, quote
from rasp.base.errors import RaspError, RaspLimitError, RaspSyntaxError
from rasp.base.limits import DEFAULT_LIMITS, Limits
from rasp.base.source import Source, Span
from rasp.language.syntax import tree
from rasp.language.syntax.foreign import FOREIGN_SIGNS
from rasp.language.words import KEYWORDS, SYMBOLS

_PATTERN = re.compile(
    r"""(?P<space>[ \t\r\n\f\ufeff]+)
      |(?P<comment>\#[^\n]*)
      |(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
      |(?P<name>[^\W\d]\w*)
      |(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      |(?P<foreign>&&|\|\||\*\*|===|!==|=>|:=|<>|->|(?://|[-+*/%^])=(?!=))
      |(?P<symbol>"""
    + "|".join(re.escape(symbol) for symbol in sorted(SYMBOLS, key=len, reverse=True))
    + r""")
      |(?P<curly>[“”][^“”"\n]*[“”]|[‘’][^‘’\n]*[‘’])
      |(?P<wrong>"[^\n]*|'[^\n]*|.)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPES = {"\\": "\\", '"': '"', "'": "'", "n": "\n", "t": "\t"}


class Token(NamedTuple):
    """One word or sign of the text: its kind, its characters, where it is, and its value."""

    kind: str  # number, name, keyword, string, symbol or end
    text: str
    start: int
    end: int
    value: Atom | None = None


class Comment(NamedTuple):
    """A comment, from its `#` to the end of the line."""

    text: str
    start: int
    end: int


class Lexed(NamedTuple):
    """Everything the lexer found."""

    tokens: list[Token]
    comments: list[Comment]
    errors: list[RaspError]


def lex(source: Source, limits: Limits = DEFAULT_LIMITS) -> Lexed:
    """Split a program text into tokens; the last one is always of kind `end`.

    >>> [token.text for token in lex(Source("demo", "a = 1;")).tokens]
    ['a', '=', '1', ';', '']
    """
    lexed = Lexed([], [], [])
    if len(source.text) > limits.text_length:
        message = f"a program of {len(source.text)} characters is over the limit of "
        hint = "split it into files and `load` them"
        lexed.errors.append(RaspLimitError(f"{message}{limits.text_length}", hint=hint))
        lexed.tokens.append(Token("end", "", 0, 0))
        return lexed
    for match in _PATTERN.finditer(source.text):
        kind = match.lastgroup or ""
        text, start, end = match.group(), match.start(), match.end()
        if kind == "space":
            continue
        if kind == "comment":
            lexed.comments.append(Comment(text.rstrip(), start, end))
        elif kind == "name":
            lexed.tokens.append(Token("keyword" if text in KEYWORDS else "name", text, start, end))
        elif kind == "symbol":
            lexed.tokens.append(Token(kind, text, start, end))
        else:
            lexed.tokens.extend(_read(kind, text, Span(source, start, end), lexed, limits))
    length = len(source.text)
    lexed.tokens.append(Token("end", "", length, length))
    return lexed


def _read(kind: str, text: str, span: Span, lexed: Lexed, limits: Limits) -> list[Token]:
    """Give a number or string its value; note what is wrong with anything else."""
    value: Atom = 0
    error: RaspError | None = None
    if kind == "number" and (digits := _digits(text)) > limits.number_digits:
        message = f"a number of {digits} digits is over the limit of {limits.number_digits}"
        error = RaspLimitError(message, span, "work with smaller numbers")
    elif kind == "number":
        value = int(text) if text.isdigit() else Fraction(text)
    elif kind == "string":
        value = _unescape(text, span, lexed)
        if len(value) > limits.string_length:
            message = f"a string of {len(value)} characters is over the limit of "
            hint = "keep strings short: a token is a word, not a text"
            error = RaspLimitError(f"{message}{limits.string_length}", span, hint)
    elif kind == "curly":
        hint = f"use straight ones: `{quote(text[1:-1])}`"
        error = RaspSyntaxError(f"`{text}` has curly quotes", span, hint)
        kind, value = "string", text[1:-1]
    elif text[0] in "\"'":
        error = _unclosed(text, span)
        kind, value = "string", ""
    else:
        lexed.errors.append(_wrong_character(text, span))
        return []
    if error is not None:
        lexed.errors.append(error)
    return [Token(kind, text, span.start, span.end, value)]


def _digits(text: str) -> int:
    """How many digits a number has when it is written out."""
    mantissa, _, exponent = text.lower().partition("e")
    if len(exponent) > 9:
        return 10**9
    return len(mantissa) + abs(int(exponent or 0))


def _unescape(text: str, span: Span, lexed: Lexed) -> str:
    inner = text[1:-1]
    if "\\" not in inner:
        return inner

    def replace(match: re.Match[str]) -> str:
        letter = match.group(1)
        if letter not in _ESCAPES:
            at = span.start + 1 + match.start()
            hint = r"the escapes are `\\`, `\"`, `\'`, `\n` and `\t`"
            place = Span(span.source, at, at + 2)
            message = f"`\\{letter}` means nothing in a string"
            lexed.errors.append(RaspSyntaxError(message, place, hint))
        return _ESCAPES.get(letter, letter)

    return re.sub(r"\\(.)", replace, inner, flags=re.DOTALL)


def _unclosed(text: str, span: Span) -> RaspError:
    before = re.search(r"[^\W\d]\w*$", span.source.text[: span.start])
    if before and not re.search(r"\w", text):
        return RaspSyntaxError(
            "this string is closed, but was never opened",
            Span(span.source, span.start, span.start + 1),
            f"write `{text[0]}{before.group()}{text[0]}`",
        )
    return RaspSyntaxError(
        "this string is never closed",
        Span(span.source, span.start, span.start + 1),
        f"end it with `{text[0]}` on the same line; write `\\n` for a new line",
    )


def _wrong_character(text: str, span: Span) -> RaspError:
    shown = f"`{text}`" if text.isprintable() else f"the character number {ord(text)}"
    instead = FOREIGN_SIGNS.get(text)
    if instead is None and text.endswith("=") and len(text) > 1:
        instead = f"`=` alone: `x = x {text[:-1]} 1`"
    hint = f"use {instead}" if instead else "remove it, or put it in quotes if it is a token"
    return RaspSyntaxError(f"{shown} means nothing in RASP", span, hint)


class Comments:
    """The comments of a text that no statement has taken yet."""

    def __init__(self, source: Source, comments: list[Comment]) -> None:
        self.source = source
        self.left = comments

    def before(self, offset: int) -> list[tree.Statement]:
        """Take the comments before an offset, each as a statement of its own."""
        remarks: list[tree.Statement] = []
        while self.left and self.left[0].start < offset:
            comment = self.left.pop(0)
            span = Span(self.source, comment.start, comment.end)
            blank = blank_line_before(self.source, comment.start)
            remarks.append(tree.Remark(comment.text, span=span, blank_before=blank))
        return remarks

    def after(self, offset: int) -> dict[str, Any]:
        """Take the comment that follows a statement on its last line, as fields of that."""
        if self.left:
            comment = self.left[0]
            between = self.source.text[offset : comment.start]
            if "\n" not in between and not between.strip():
                self.left.pop(0)
                column = self.source.line_and_column(comment.start)[1] - 1
                return {"trailing": comment.text, "trailing_column": column,
                        "trailing_gap": len(between)}  # fmt: skip
        return {}


def blank_line_before(source: Source, offset: int) -> bool:
    """Tell whether an empty line is before an offset.

    >>> blank_line_before(Source("demo", "a;\\n\\nb;"), 4)
    True
    """
    before = source.text[max(0, offset - 400) : offset]
    spaces = before[len(before.rstrip()) :]
    return spaces.count("\n") > 1
