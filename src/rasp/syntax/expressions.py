"""Tokens in, expressions out: a Pratt parser over the binding table of `rasp.words`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rasp.errors import RaspError, RaspLimitError, RaspSyntaxError
from rasp.limits import Clock, Limits
from rasp.source import Source, Span
from rasp.syntax import tree
from rasp.syntax.foreign import FOREIGN_INFIX, FOREIGN_WORDS
from rasp.syntax.lexer import Token
from rasp.words import BINDING, COMPARISONS, NOT, OR, SIGN

T = TypeVar("T")

TOKENS_PER_LOOK = 1024
"""Tokens between two looks at the clock."""


class ExpressionParser:
    """A place in a list of tokens, and how to read expressions from there."""

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

    # Expressions, from the loosest binding to the tightest

    def expression_list(self) -> tree.Expression:
        """One expression, or several with commas between: those are a list."""
        first = self.expression()
        if not self.sees(","):
            return first
        items = [first]
        while self.sees(","):
            self.advance()
            if self.token.text in (";", "") and len(items) > 1:
                break
            items.append(self.expression())
        return tree.ListDisplay(tuple(items), bare=True, span=first.span.to(items[-1].span))

    def expression(self) -> tree.Expression:
        then = self.operation(OR)
        if not self.sees("if"):
            return then
        opening = self.advance()
        with self.nested(opening):
            condition = self.operation(OR)
            hint = "use `==` to compare" if self.sees("=") else "add `else …`"
            self.expect("else", "`else`: a ternary reads `a if condition else b`", hint=hint)
            otherwise = self.expression()
        return tree.Ternary(condition, then, otherwise, span=then.span.to(otherwise.span))

    def operation(self, loosest: int) -> tree.Expression:
        """Read operators that bind at least as tightly as `loosest`."""
        left = self.prefixed(loosest)
        while True:
            op = self.operator()
            binding = BINDING.get(op, -1)
            if binding < loosest:
                return left
            if op in COMPARISONS and self.tokens[self.at + 1].text in (",", ")"):
                return left  # a bare comparison sign: the caller says what is missing
            opening = self.advance()
            if op == "not in":
                self.advance()
            with self.nested(opening):
                right = self.operation(binding if op == "^" else binding + 1)
            left = tree.Binary(op, left, right, span=left.span.to(right.span))

    def operator(self) -> str:
        """The operator that comes next; `not in` is one, of two words."""
        if self.sees("not") and self.tokens[self.at + 1].text == "in":
            return "not in"
        return self.token.text if self.token.kind in ("symbol", "keyword") else ""

    def prefixed(self, loosest: int) -> tree.Expression:
        token = self.token
        if loosest > NOT and self.sees("not"):
            raise RaspSyntaxError(
                "`not` binds more loosely than the operator before it",
                self.span_of(token),
                "put brackets around it: `(not …)`",
            )
        if token.text in ("not", "-", "+") and token.kind in ("symbol", "keyword"):
            self.advance()
            with self.nested(token):
                operand = self.operation(NOT if token.text == "not" else SIGN)
            return tree.Unary(token.text, operand, span=self.span_of(token).to(operand.span))
        return self.postfixed()

    def postfixed(self) -> tree.Expression:
        """A primary, then any number of calls and indices; powers bind looser than those."""
        base = self.primary()
        links = 0
        while self.sees("(") or self.sees("["):
            links += 1
            if links > self.limits.nesting:
                raise self.too_deep(self.token)
            if self.sees("("):
                arguments = tuple(self.bracketed("(", ")", self.argument))
                keywords = [
                    (argument.keyword, argument.span) for argument in arguments if argument.keyword
                ]
                self.refuse_repeats(keywords, "keyword")
                span = base.span.to(self.span_of(self.previous))
                base = tree.Call(base, arguments, span=span)
            else:
                opening = self.advance()
                with self.nested(opening):
                    index = self.index_in_brackets()
                self.close(opening, "]")
                base = tree.Index(base, index, span=base.span.to(self.span_of(self.previous)))
        return base

    def index_in_brackets(self) -> tree.Expression:
        """The one index between `[` and `]`; slices and calls are explained."""
        if not self.sees(":"):
            index = self.expression()
        if self.sees(":"):
            hint = "`x[0]` is one position; `shift(seq, steps)` moves all of them"
            raise RaspSyntaxError("RASP has no slices: a sequence keeps its length",
                                  self.span_of(self.token), hint)  # fmt: skip
        if self.sees(","):
            raise RaspSyntaxError(
                "`[ ]` takes one index", self.span_of(self.token), "call a function with `( )`"
            )
        return index

    def argument(self) -> tree.Argument:
        token, after = self.token, self.tokens[min(self.at + 1, len(self.tokens) - 1)]
        if token.text in COMPARISONS and token.kind == "symbol":
            self.advance()
            return tree.Argument(tree.Comparison(token.text, span=self.span_of(token)),
                            span=self.span_of(token))  # fmt: skip
        keyword = None
        if token.kind == "name" and after.text == "=" and after.kind == "symbol":
            keyword = self.advance().text
            self.advance()
        value = self.expression()
        return tree.Argument(value, keyword, span=self.span_of(token).to(value.span))

    def primary(self) -> tree.Expression:
        token = self.token
        span = self.span_of(token)
        if token.kind == "name":
            self.advance()
            return tree.Name(token.text, span=span)
        if token.kind in ("number", "string"):
            self.advance()
            assert token.value is not None
            is_scientific = token.kind == "number" and "e" in token.text.lower()
            return tree.Literal(token.value, token.text if is_scientific else None, span=span)
        if token.text in ("True", "False") and token.kind == "keyword":
            self.advance()
            return tree.Literal(token.text == "True", span=span)
        if self.sees("("):
            return self.group()
        if self.sees("["):
            return self.list_display()
        if self.sees("{"):
            return self.dict_display()
        raise self.unexpected("an expression", hint=self.hint_for(token))

    def group(self) -> tree.Expression:
        opening = self.advance()
        with self.nested(opening):
            inner = self.expression()
        self.close(opening, ")")
        return tree.Bracketed(inner, span=self.span_of(opening).to(self.span_of(self.previous)))

    def list_display(self) -> tree.Expression:
        opening = self.token
        items: list[tree.Expression] = []
        comprehension: tree.Expression | None = None

        def item() -> tree.Expression:
            nonlocal comprehension
            value = self.expression()
            if self.sees("for") and not items:
                comprehension = self.comprehension(value, None, opening)
            items.append(value)
            return value

        self.bracketed("[", "]", item)
        span = self.span_of(opening).to(self.span_of(self.previous))
        return comprehension or tree.ListDisplay(tuple(items), span=span)

    def dict_display(self) -> tree.Expression:
        opening = self.token
        items: list[tuple[tree.Expression, tree.Expression]] = []
        comprehension: tree.Expression | None = None

        def item() -> None:
            nonlocal comprehension
            key = self.expression()
            self.expect(
                ":", "`:` between a dict's key and its value", hint='write `{"a": 1, "b": 2}`'
            )
            value = self.expression()
            if self.sees("for") and not items:
                comprehension = self.comprehension(value, key, opening)
            items.append((key, value))

        self.bracketed("{", "}", item)
        span = self.span_of(opening).to(self.span_of(self.previous))
        return comprehension or tree.DictDisplay(tuple(items), span=span)

    def comprehension(
        self, item: tree.Expression, key: tree.Expression | None, opening: Token
    ) -> tree.Comprehension:
        self.advance()  # the `for`
        targets = self.targets()
        self.expect("in", "`in` after the comprehension's names", hint="write `for x in list`")
        closing = "]" if opening.text == "[" else "}"
        source = self.comprehension_source(closing)
        if not self.sees(closing):
            raise self.unclosed(opening, closing)
        span = self.span_of(opening).to(self.span_of(self.token))
        return tree.Comprehension(item, targets, source, key, span=span)

    def comprehension_source(self, closing: str) -> tree.Expression:
        """The list that a comprehension goes through; a filter after it is told from a ternary."""
        start = self.at
        try:
            return self.expression()
        except RaspSyntaxError:
            words = [token for token in self.tokens[start : self.at] if token.text == "if"]
            if not words or not self.sees(closing):
                raise
            raise RaspSyntaxError(
                "a comprehension takes every item: it has no `if` to leave some out",
                self.span_of(words[0]),
                "collect them in a loop: `for x in list { kept = kept + ([x] if x > 1 else []); }`",
            ) from None

    # Pieces that statements use too

    def targets(self) -> tuple[tree.Name, ...]:
        names = [self.name("a name")]
        while self.sees(","):
            self.advance()
            names.append(self.name("a name after the `,`"))
        return tuple(names)

    def name(self, what: str) -> tree.Name:
        token = self.token
        if token.kind != "name":
            hint = "a name begins with a letter or `_`"
            if self.previous.kind == "keyword" and token.text == "=":
                hint = f"`{self.previous.text}` is a word of the language and cannot be a name"
            elif token.kind == "keyword":
                hint = f"`{token.text}` is a word of the language: choose another name"
            raise self.unexpected(what, hint=hint)
        self.advance()
        return tree.Name(token.text, span=self.span_of(token))

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

    def span(self, start: int, end: int) -> Span:
        return Span(self.source, start, end)

    def span_of(self, token: Token) -> Span:
        return Span(self.source, token.start, token.end)

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
            hint = FOREIGN_INFIX[token.text]
            return RaspSyntaxError(f"RASP has no `{token.text}`", self.span_of(token), hint)
        is_word = previous.kind == "name" and previous.text in FOREIGN_WORDS
        if is_word and token.kind in ("name", "number", "string"):
            hint = FOREIGN_WORDS[previous.text]
            return RaspSyntaxError(f"RASP has no `{previous.text}`", self.span_of(previous), hint)
        return None

    def unclosed(self, opening: Token, closing: str) -> RaspError:
        if foreign := self.foreign_word():
            return foreign
        line, column = self.source.line_and_column(opening.start)
        where = f"`{closing}` to close the `{opening.text}` at {line}:{column}"
        hint = f"add `{closing}`"
        if self.sees("="):
            hint = "use `==` to compare"
        elif self.token.kind in ("name", "number", "string"):
            hint = "is a `,` or an operator missing here?"
        return self.unexpected(where, hint=hint)

    def never_closed(self, opening: Token, closing: str) -> RaspError:
        error = RaspSyntaxError(
            f"this `{opening.text}` is never closed", self.span_of(opening), f"add `{closing}`"
        )
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
