"""A list of tokens and a place in it: what comes next, brackets, and what is wrong there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rasp.base.errors import RaspError, RaspLimitError, RaspSyntaxError
from rasp.base.limits import Clock, Limits
from rasp.base.source import Source, Span
from rasp.language.syntax.foreign import FOREIGN_INFIX, FOREIGN_WORDS
from rasp.language.syntax.lexer import Token
from rasp.language.words import COMPARISONS

T = TypeVar("T")

TOKENS_PER_LOOK = 1024
"""Tokens between two looks at the clock."""


class TokenReader:
    """A place in a list of tokens."""

    def __init__(self, source: Source, tokens: list[Token], limits: Limits) -> None:
        self.source = source
        self.tokens = tokens
        self.limits = limits
        self.clock = Clock(limits)
        self.at = 0
        self.depth = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    @property
    def previous(self) -> Token:
        return self.tokens[max(0, self.at - 1)]

    def advance(self) -> Token:
        token = self.tokens[self.at]
        if token.kind != "end":
            self.at += 1
            if self.at % TOKENS_PER_LOOK == 0:
                self.clock.check()
        return token

    def sees(self, text: str) -> bool:
        token = self.tokens[self.at]
        return token.text == text and token.kind in ("symbol", "keyword")

    def bracketed(self, opening: str, closing: str, item: Callable[[], T]) -> list[T]:
        """Read items with commas between, a last comma allowed, up to the closing bracket."""
        if not self.sees(opening):
            raise self.unexpected(f"`{opening}`", hint="brackets follow the name")
        first = self.advance()
        items: list[T] = []
        with self.nested(first):
            while not self.sees(closing):
                items.append(item())
                if not self.sees(","):
                    break
                self.advance()
        self.close(first, closing)
        return items

    def close(self, opening: Token, closing: str) -> None:
        if not self.sees(closing):
            raise self.unclosed(opening, closing)
        self.advance()

    def expect(self, text: str, what: str, hint: str | None = None) -> None:
        if not self.sees(text):
            raise self.unexpected(what, hint=hint)
        self.advance()

    def refuse_repeats(self, names: list[tuple[str, Span]], what: str) -> None:
        seen: set[str] = set()
        for name, span in names:
            if name in seen:
                raise RaspSyntaxError(
                    f"the {what} `{name}` is given twice", span, "remove or rename one of them"
                )
            seen.add(name)

    @contextmanager
    def nested(self, opening: Token) -> Iterator[None]:
        """Count how deep we are; a text nested too deeply is refused before Python's stack is."""
        self.depth += 1
        if self.depth > self.limits.nesting:
            raise self.too_deep(opening)
        try:
            yield
        finally:
            self.depth -= 1

    # Spans and errors

    def span_of(self, token: Token) -> Span:
        return Span(self.source, token.start, token.end)

    def since(self, first: Token | Span) -> Span:
        """Everything from a token, or a stretch of text, to the token that was read last."""
        start = first if isinstance(first, Span) else self.span_of(first)
        return start.to(self.span_of(self.previous))

    def mistake(self, message: str, token: Token, hint: str) -> RaspSyntaxError:
        return RaspSyntaxError(message, self.span_of(token), hint)

    def describe(self, token: Token) -> str:
        if token.kind == "end":
            return "the end of the program"
        if token.kind == "string" and len(token.text) > 30:
            return "a string"
        return f"`{token.text}`" if len(token.text) <= 30 else f"`{token.text[:30]}…`"

    def unexpected(self, what: str, hint: str | None = None) -> RaspError:
        error = RaspSyntaxError(
            f"expected {what}, but found {self.describe(self.token)}",
            self.span_of(self.token if self.token.kind != "end" else self.previous),
            hint,
        )
        error.incomplete = self.token.kind == "end"
        return error

    def foreign_word(self) -> RaspError | None:
        """Explain a word of another language that is just here, or just before."""
        token, previous = self.token, self.previous
        if token.kind == "name" and token.text in FOREIGN_INFIX:
            return self.mistake(f"RASP has no `{token.text}`", token, FOREIGN_INFIX[token.text])
        is_word = previous.kind == "name" and previous.text in FOREIGN_WORDS
        if is_word and token.kind in ("name", "number", "string"):
            hint = FOREIGN_WORDS[previous.text]
            return self.mistake(f"RASP has no `{previous.text}`", previous, hint)
        return None

    def unclosed(self, opening: Token, closing: str, hint: str = "") -> RaspError:
        if foreign := self.foreign_word():
            return foreign
        line, column = self.source.line_and_column(opening.start)
        where = f"`{closing}` to close the `{opening.text}` at {line}:{column}"
        hint = hint or f"add `{closing}`"
        if self.sees("="):
            hint = "use `==` to compare"
        elif self.token.kind in ("name", "number", "string"):
            hint = "is a `,` or an operator missing here?"
        return self.unexpected(where, hint=hint)

    def never_closed(self, opening: Token, closing: str) -> RaspError:
        error = self.mistake(f"this `{opening.text}` is never closed", opening, f"add `{closing}`")
        error.incomplete = True
        return error

    def too_deep(self, token: Token) -> RaspError:
        return RaspLimitError(
            f"the program is nested more than {self.limits.nesting} levels deep here",
            self.span_of(token),
            "give the inner parts names of their own",
        )

    def hint_for(self, token: Token) -> str:
        if token.text in COMPARISONS:
            return "a comparison comes between two values; alone it can only be an argument"
        if token.text == "=":
            return "use `==` to compare"
        if token.text in ("/", "//"):
            return f"a comment begins with `#`; `{token.text}` divides two numbers"
        if token.text in ("if", "else"):
            return "RASP has no `if` statement: write `x = a if condition else b;`"
        if token.kind == "keyword":
            return f"`{token.text}` is a word of the language and cannot be a name"
        if token.text == ";":
            return "something is missing before the `;`, or it is one too many"
        if token.kind == "end":
            return "the text ends in the middle of an expression"
        return "an expression begins with a name, a number, a string or a bracket"
