"""One family of errors: what went wrong, where, and what to do about it. And warnings.

A `RaspError` prints with a caret under the place in the source. Everything the
package raises on purpose is one of the six kinds below; front doors print them,
nothing else does. An error is data until then: whoever learns more about it fills in where it
happened, what it is about, or whose words to use. What deserves a second look is collected as
`Warned`, never raised.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rasp.base.source import Span
from rasp.base.terminal_text import shown

LONGEST_LINE_SHOWN = 100
MOST_CALLS = 2
CODE = re.compile("`([^`]+)`")


@dataclass(frozen=True)
class Where:
    """Where in the inputs an error happened; what is not known is left out.

    >>> str(Where(position=1, given='"ab"', step=3))
    ' (at position 1 of "ab"), at step 3 of generating (the first is 0)'
    """

    position: int | None = None
    given: str = ""
    """The input, as it is shown."""
    expression: str = ""
    step: int | None = None
    number: int | None = None
    """Which input of several."""

    def __str__(self) -> str:
        text = "" if self.position is None else f" (at position {self.position} of {self.given})"
        text += f", in `{self.expression}`" if self.expression else ""
        if self.step is not None:
            text += f", at step {self.step} of generating (the first is 0)"
        return text + (f", in input {self.number} (the first is 0)" * (self.number is not None))


class RaspError(Exception):
    """Something a user can fix. `span` says where, `hint` says how.

    >>> import rasp
    >>> try:
    ...     rasp.run("x = token;")
    ... except RaspError as error:
    ...     print(error.kind, error.message, error.span.text, error.hint, sep="; ")
    name; `token` is not defined; token; did you mean `tokens`?
    """

    kind: ClassVar[str] = "error"

    def __init__(
        self, message: str, span: Span | None = None, hint: str | None = None, detail: str = ""
    ) -> None:
        super().__init__(message)
        self.said = message
        """What went wrong, and nothing about where."""
        self.detail = detail
        """What it went wrong with, such as `1 / 0`."""
        self.about: tuple[str, ...] = ()
        """What the error is about, as said before the message, outermost first."""
        self.where = Where()
        self.words: Mapping[str, str] = {}
        """What the reader of this error writes in place of some code between backticks."""
        self.span = span
        self.hints: tuple[str, ...] = () if hint is None else (hint,)
        self.others: tuple[RaspError, ...] = ()
        """Further mistakes found in the same run."""
        self.calls: list[tuple[str, Span]] = []
        """The functions it happened in, innermost first, and where each was called."""
        self.incomplete = False
        """True where more text could still fix it (the REPL then asks for more)."""

    @property
    def message(self) -> str:
        """What is said: it is put together here, and never edited.

        >>> error = RaspValueError("division by zero", detail="1 / 0")
        >>> error.about, error.where = ("line 3",), Where(number=2)
        >>> error.message
        'line 3: division by zero: 1 / 0, in input 2 (the first is 0)'
        """
        parts = [*self.about, self.said, *filter(None, [self.detail])]
        return self._worded(": ".join(parts) + str(self.where))

    @property
    def hint(self) -> str | None:
        """What to do about it, if anybody knows."""
        return self._worded("; ".join(self.hints)) or None

    def _worded(self, text: str) -> str:
        if not self.words:
            return text
        return CODE.sub(lambda code: f"`{self.words.get(code[1], code[1])}`", text)

    @property
    def everything(self) -> tuple[RaspError, ...]:
        """This error and the others found in the same run, in source order."""
        return (self, *self.others)

    def located(self, span: Span | None) -> RaspError:
        """Point this error at `span` unless it points somewhere already.

        >>> from rasp.base.source import Source
        >>> whole = Span(Source("demo", "1 / 0;"), 0, 5)
        >>> print(RaspValueError("division by zero").located(whole))
        error: division by zero
         --> demo:1:1
        1 | 1 / 0;
          | ^^^^^
        """
        if self.span is None:
            self.span = span
        return self

    def text(self, reword: Callable[[str], str] = str) -> str:
        """Write this error and the others of the run, with hints as the reader would say them.

        >>> print(RaspValueError("no", hint="use `a=1`").text(lambda hint: hint.replace("=", " ")))
        error: no
        hint: use `a 1`
        """
        return shown("\n\n".join(_render(error, reword) for error in self.everything))

    def __str__(self) -> str:
        return self.text()


class RaspSyntaxError(RaspError):
    """The text is not RASP."""

    kind = "syntax"


class RaspNameError(RaspError):
    """A name that nobody defined."""

    kind = "name"


class RaspTypeError(RaspError):
    """A value of the wrong kind for what is done with it."""

    kind = "type"


class RaspValueError(RaspError):
    """A value of the right kind that cannot be used (a zero divisor, an index out of range)."""

    kind = "value"


class RaspLimitError(RaspError):
    """A budget was exceeded."""

    kind = "limit"


class RaspUnsupportedError(RaspError):
    """A back end cannot do this."""

    kind = "unsupported"


def all_of(errors: Sequence[RaspError]) -> RaspError:
    """Return the first of several mistakes, with the others attached, in source order.

    >>> print(all_of([RaspValueError("one"), RaspValueError("two")]))
    error: one
    <BLANKLINE>
    error: two
    """
    places = [error.span for error in errors if error.span is not None]
    if len(places) == len(errors) and len({place.source.name for place in places}) == 1:
        errors = sorted(errors, key=lambda error: error.span.start if error.span else 0)
    first, *rest = errors
    first.others = tuple(rest)
    return first


@dataclass(frozen=True)
class Warned:
    """Something that is legal, and probably not what every reader takes it for."""

    message: str
    span: Span
    hint: str

    def __str__(self) -> str:
        return shown(f"warning: {self.message} ({self.span})\nhint: {self.hint}")


class Rebinding(Warned):
    """A library name that a program uses for something of its own."""


def error_record(error: RaspError, reword: Callable[[str], str] = str) -> dict[str, Any]:
    """Return an error as JSON can hold it, with its hint as the reader would say it.

    >>> error_record(RaspValueError("division by zero"))
    {'kind': 'value', 'message': 'division by zero', 'hint': None}
    """
    hint = error.hint and reword(error.hint)
    record: dict[str, Any] = {"kind": error.kind, "message": error.message, "hint": hint}
    if error.span is not None:
        record |= span_record(error.span)
    return record


def span_record(span: Span) -> dict[str, Any]:
    """Return a place in a source as JSON can hold it."""
    return {
        "file": span.source.name,
        "line": span.line,
        "column": span.column,
        "length": span.end - span.start,
    }


def _render(error: RaspError, reword: Callable[[str], str]) -> str:
    lines = [f"error: {error.message}"]
    if error.span is not None:
        lines += excerpt(error.span)
    lines += [f"note: in `{name}`, called at {span}" for name, span in error.calls[:MOST_CALLS]]
    if error.hint:
        lines.append(f"hint: {reword(error.hint)}")
    return "\n".join(lines)


def excerpt(span: Span) -> list[str]:
    """The source line with carets under the span; a very long line is cut around it."""
    line, column = span.line, span.column
    text = span.source.line_text(line).replace("\t", " ")
    start = column - 1
    end = max(start + 1, min(start + span.end - span.start, len(text)))
    if len(text) > LONGEST_LINE_SHOWN:
        left = max(0, start - 30)
        shown = text[left : left + LONGEST_LINE_SHOWN]
        text = ("…" if left else "") + shown + "…"
        shift = left - (1 if left else 0)
        start, end = start - shift, min(end - shift, len(text) - 1)
    number = str(line)
    pad = " " * len(number)
    carets = " " * start + "^" * max(1, end - start)
    printable = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return [f"{pad}--> {span}", f"{number} | {printable}", f"{pad} | {carets}"]
