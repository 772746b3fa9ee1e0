"""Tokens in, words to the REPL out: `set example "hello"`, `s-op examples off`, `names`."""

from __future__ import annotations

from rasp.language.syntax import tree
from rasp.language.syntax.expressions import ExpressionParser
from rasp.language.words import COMMANDS


class CommandReader(ExpressionParser):
    """How to read a command, which ends with its line."""

    def starts_command(self) -> bool:
        """Tell a command from an expression, in which no name comes after a name."""
        words = [token.text for token in self.tokens[self.at : self.at + 4]]
        if words == ["s", "-", "op", "examples"]:
            return True
        return self.token.kind == "name" and self.token.text in COMMANDS and self._is_command()

    def _is_command(self) -> bool:
        """Tell `show example` from `show = 3;`."""
        token, following = self.token, self.tokens[self.at + 1]
        same_line = "\n" not in self.source.text[token.end : following.start]
        if token.text == "save":
            return following.kind == "string" and same_line
        if token.text in ("exit", "quit", "names", "undo", "help"):
            return following.text in ("", ";") or not same_line or following.kind == "name"
        return following.kind == "name" and same_line

    def command(self) -> tree.Statement:
        start = self.token
        line = self.source.line_and_column(start.start)[0]
        words: list[str] = []
        argument: tree.Expression | None = None
        while self.token.kind in ("name", "keyword") and self._is_on_line(line):
            if self.token.text in ("True", "False"):
                break
            words.append(self.advance().text)
            if self.sees("-") and words[-1] == "s":  # the word `s-op`
                self.advance()
                words[-1] = f"s-{self.advance().text}"
            if words[0] == "set" and words[-1] == "example":
                break
        if self._is_on_line(line) and self.token.kind != "end" and not self.sees(";"):
            argument = self._expression_on_line()
        if self.sees(";"):
            self.advance()
        return tree.Command(tuple(words), argument, span=self.since(start))

    def _expression_on_line(self) -> tree.Expression:
        """Read an expression that ends with its line, unless a bracket is open there."""
        depth, end = 0, self.at
        while self.tokens[end].kind != "end":
            token, before = self.tokens[end], self.tokens[end - 1]
            if depth <= 0 and "\n" in self.source.text[before.end : token.start]:
                break
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.text, 0)
            end += 1
        every_token = self.tokens
        start = self.tokens[end].start
        self.tokens = [*every_token[:end], every_token[-1]._replace(start=start, end=start)]
        try:
            return self.expression()
        finally:
            self.tokens = every_token

    def _is_on_line(self, line: int) -> bool:
        return self.source.line_and_column(self.token.start)[0] == line
