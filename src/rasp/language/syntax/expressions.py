"""Tokens in, expressions out: a Pratt parser over the binding table of `rasp.language.words`."""

from __future__ import annotations

from rasp.base.errors import RaspSyntaxError
from rasp.language.syntax import tree
from rasp.language.syntax.lexer import Token
from rasp.language.syntax.token_reader import TokenReader
from rasp.language.words import BINDING, COMPARISONS, NOT, OR, SIGN


class ExpressionParser(TokenReader):
    """How to read expressions from a place in a list of tokens."""

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
            hint = "put brackets around it: `(not …)`"
            raise self.mistake("`not` binds more loosely than the operator before it", token, hint)
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
                base = tree.Call(base, arguments, span=self.since(base.span))
            else:
                opening = self.advance()
                with self.nested(opening):
                    index = self.index_in_brackets()
                self.close(opening, "]")
                base = tree.Index(base, index, span=self.since(base.span))
        return base

    def index_in_brackets(self) -> tree.Expression:
        """The one index between `[` and `]`; slices and calls are explained."""
        if not self.sees(":"):
            index = self.expression()
        if self.sees(":"):
            hint = "`x[0]` is one position; `shift(seq, steps)` moves all of them"
            raise self.mistake("RASP has no slices: a sequence keeps its length", self.token, hint)
        if self.sees(","):
            raise self.mistake("`[ ]` takes one index", self.token, "call a function with `( )`")
        return index

    def argument(self) -> tree.Argument:
        token, after = self.token, self.tokens[min(self.at + 1, len(self.tokens) - 1)]
        if token.text in COMPARISONS and token.kind == "symbol":
            self.advance()
            span = self.span_of(token)
            return tree.Argument(tree.Sign(token.text, span=span), span=span)
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
        if self.sees("[") or self.sees("{"):
            return self.display()
        raise self.unexpected("an expression", hint=self.hint_for(token))

    def group(self) -> tree.Expression:
        opening = self.advance()
        with self.nested(opening):
            inner = self.expression()
        if self.sees(","):
            raise self.unclosed(opening, ")", "a list has square brackets: `[1, 2]`")
        self.close(opening, ")")
        return tree.Bracketed(inner, span=self.since(opening))

    def display(self) -> tree.Expression:
        """A list or a dict, or the comprehension of one."""
        opening, is_dict = self.token, self.sees("{")
        keys: list[tree.Expression] = []
        values: list[tree.Expression] = []
        comprehension: tree.Expression | None = None

        def item() -> None:
            nonlocal comprehension
            if is_dict:
                keys.append(self.expression())
                what = "`:` between a dict's key and its value"
                self.expect(":", what, hint='write `{"a": 1, "b": 2}`')
            values.append(self.expression())
            if self.sees("for") and len(values) == 1:
                comprehension = self.comprehension(values[0], keys[0] if keys else None, opening)

        self.bracketed(opening.text, "}" if is_dict else "]", item)
        if comprehension is not None:
            return comprehension
        span = self.since(opening)
        if is_dict:
            return tree.DictDisplay(tuple(zip(keys, values, strict=True)), span=span)
        return tree.ListDisplay(tuple(values), span=span)

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
            raise self.mistake(
                "a comprehension takes every item: it has no `if` to leave some out",
                words[0],
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
