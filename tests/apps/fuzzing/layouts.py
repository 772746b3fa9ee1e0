"""A syntax tree in, text out, in as many ways as there are: blanks, comments, quotes, brackets.

Every operand is in brackets, so this writer knows nothing of how tightly operators bind:
what the parser makes of its text must be the tree that it was given.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from rasp.base.atoms import quote, show_literal
from rasp.language.syntax.tree import (
    Argument,
    Assign,
    Binary,
    Bracketed,
    Call,
    Command,
    Comprehension,
    Define,
    DictDisplay,
    Evaluate,
    Expression,
    For,
    Index,
    ListDisplay,
    Literal,
    Load,
    Name,
    Parameter,
    Remark,
    Return,
    Sign,
    Statement,
    Ternary,
    Unary,
)

BLANKS = (" ", " ", " ", "  ", "\n", "\t", "\r\n", " # a note; (\n", "\n\n")


@dataclass
class Spacing:
    """Writes trees; what comes between the words is left to chance."""

    rng: random.Random

    def program(self, statements: Iterable[Statement]) -> str:
        """Write a whole program, without its remarks."""
        kept = [each for each in statements if not isinstance(each, Remark)]
        return "".join(self.statement(each) for each in kept)

    def blank(self) -> str:
        return self.rng.choice(BLANKS)

    def joined(self, *words: str) -> str:
        return self.blank().join(words)

    def statement(self, statement: Statement) -> str:
        match statement:
            case Assign(targets, value):
                # a line that is a word to the REPL and nothing else is a command
                first = self.names(targets) + ("" if len(targets) > 1 else " =")
                second = "=" if len(targets) > 1 else ""
                return self.joined(first, second, self.value(value), ";") + self.blank()
            case Evaluate(Name(name)):
                return f"{name};" + self.blank()
            case Evaluate(expression):
                return self.joined(self.value(expression), ";") + self.blank()
            case Return(value):
                return self.joined("return", self.value(value), ";") + self.blank()
            case Load(path):
                return f"load {quote(path)};\n"
            case Command(words, argument):
                after = f" {self.leaf(argument)}" if argument else ""
                return f"{' '.join(words)}{after}\n"
            case Define(name, parameters, body):
                given = self.commas(self.parameter(each) for each in parameters)
                head = self.joined("def", name.name, "(", given, ")", "{", "")
                return head + self.program(body) + "}" + self.blank()
            case For(targets, source, body):
                head = self.joined("for", self.names(targets), "in", self.write(source), "{", "")
                return head + self.program(body) + "}" + self.blank()
        raise AssertionError(f"no way to write {type(statement).__name__}")

    def names(self, targets: Iterable[Name]) -> str:
        return self.joined(",").join(target.name for target in targets)

    def parameter(self, parameter: Parameter) -> str:
        if parameter.default is None:
            return parameter.name
        return self.joined(parameter.name, "=", self.write(parameter.default))

    def commas(self, items: Iterable[str]) -> str:
        """Items with commas between them, and sometimes after the last."""
        written = list(items)
        last = "," if written and self.rng.random() < 0.2 else ""
        return f"{self.blank()},".join(written) + last

    def value(self, value: Expression) -> str:
        if isinstance(value, ListDisplay) and value.bare:
            return " , ".join(self.write(item) for item in value.items)
        return self.write(value)

    def write(self, expression: Expression) -> str:
        """Write an expression that may be in brackets."""
        text = self.plainly(expression)
        is_leaf = isinstance(expression, (Name, Literal))
        return text if is_leaf and self.rng.random() < 0.8 else self.joined("(", text, ")")

    def plainly(self, expression: Expression) -> str:
        match expression:
            case Bracketed(inner):
                return self.write(inner)
            case Binary(op, left, right):
                return self.joined(self.write(left), op, self.write(right))
            case Unary(op, operand):
                return self.joined(op, self.write(operand))
            case Ternary(condition, then, otherwise):
                return self.joined(
                    self.write(then), "if", self.write(condition), "else", self.write(otherwise)
                )
            case Call(function, arguments):
                given = self.commas(self.argument(each) for each in arguments)
                return self.joined(self.write(function), "(", given, ")")
            case Index(base, index):
                return self.joined(self.write(base), "[", self.write(index), "]")
            case ListDisplay(items):
                return self.joined("[", self.commas(map(self.write, items)), "]")
            case DictDisplay(pairs):
                written = (self.joined(self.write(a), ":", self.write(b)) for a, b in pairs)
                return self.joined("{", self.commas(written), "}")
            case Comprehension(item, targets, source, key):
                tail = [self.write(item), "for", self.names(targets), "in", self.write(source)]
                if key is None:
                    return self.joined("[", *tail, "]")
                return self.joined("{", self.write(key), ":", *tail, "}")
        return self.leaf(expression)

    def argument(self, argument: Argument) -> str:
        if isinstance(argument.value, Sign):
            return argument.value.op
        value = self.write(argument.value)
        return value if argument.keyword is None else self.joined(argument.keyword, "=", value)

    def leaf(self, expression: Expression) -> str:
        match expression:
            case Name(name):
                return name
            case Literal(str(text)) if "'" not in text and self.rng.random() < 0.5:
                return "'" + quote(text)[1:-1].replace('\\"', '"') + "'"
            case Literal(value):
                return show_literal(value)
        raise AssertionError(f"no way to write {type(expression).__name__}")
