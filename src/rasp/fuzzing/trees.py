"""Syntax trees that come from no text: made, compared without brackets, and kept as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any, TypeVar

from rasp.atoms import Atom
from rasp.errors import RaspValueError
from rasp.source import Source, Span
from rasp.syntax import tree as trees
from rasp.syntax.tree import (
    Argument,
    Assign,
    Binary,
    Bracketed,
    Call,
    Command,
    Evaluate,
    Expression,
    Index,
    ListDisplay,
    Literal,
    Name,
    Remark,
    Statement,
    Ternary,
    Tree,
    Unary,
)

NOWHERE = Span(Source("<fuzzing>", ""), 0, 0)
CLASSES: dict[str, type[Tree]] = {
    name: each
    for name, each in vars(trees).items()
    if isinstance(each, type) and issubclass(each, Tree)
}
T = TypeVar("T")


def name(text: str) -> Name:
    return Name(text, span=NOWHERE)


def literal(value: Atom) -> Expression:
    """An atom as people write it: with a sign below zero, thirds as a quotient."""
    if not isinstance(value, (str, bool)) and value < 0:
        return Unary("-", literal(-value), span=NOWHERE)
    if isinstance(value, Fraction) and 10**60 % value.denominator:  # no decimal that ends
        return binary("/", literal(Fraction(value.numerator)), literal(value.denominator))
    return Literal(value, span=NOWHERE)


def binary(op: str, left: Expression, right: Expression) -> Expression:
    return Binary(op, left, right, span=NOWHERE)


def unary(op: str, operand: Expression) -> Expression:
    return Unary(op, operand, span=NOWHERE)


def ternary(condition: Expression, then: Expression, otherwise: Expression) -> Expression:
    return Ternary(condition, then, otherwise, span=NOWHERE)


def listed(items: Iterable[Expression], bare: bool = False) -> Expression:
    return ListDisplay(tuple(items), bare=bare, span=NOWHERE)


def index(base: Expression, position: Expression) -> Expression:
    return Index(base, position, span=NOWHERE)


def call(function: str | Expression, *values: Expression, **keywords: Expression) -> Expression:
    called = name(function) if isinstance(function, str) else function
    arguments = [Argument(value, span=NOWHERE) for value in values]
    arguments += [Argument(value, keyword, span=NOWHERE) for keyword, value in keywords.items()]
    return Call(called, tuple(arguments), span=NOWHERE)


def assign(target: str, value: Expression) -> Statement:
    return Assign((name(target),), value, span=NOWHERE)


def bare(part: T) -> T:
    """The same tree without brackets, remarks and comments: what it says, however it is written."""
    result: Any = part
    if isinstance(part, Bracketed):
        return bare(part.inner)  # type: ignore[return-value]
    if isinstance(part, Command) and len(part.words) == 1 and part.argument is None:
        result = Evaluate(name(part.words[0]), span=NOWHERE)  # `names;` may be either
    elif isinstance(part, tuple):
        result = tuple(bare(each) for each in part if not isinstance(each, Remark))
    elif isinstance(part, Tree):
        changed = {each.name: bare(getattr(part, each.name)) for each in fields(part)}
        if isinstance(part, Statement):
            changed["trailing"] = None
        result = replace(part, **changed)
    return result  # type: ignore[no-any-return]


def record(part: object) -> Any:
    """A tree as JSON-able data."""
    if isinstance(part, Tree):
        kept = {
            each.name: record(getattr(part, each.name)) for each in fields(part) if each.compare
        }
        return {"tree": type(part).__name__, **kept}
    if isinstance(part, tuple):
        return [record(each) for each in part]
    if isinstance(part, Fraction):
        return {"float": str(part)}
    return part


def read(kept: Any) -> Any:
    """A tree from JSON-able data."""
    if isinstance(kept, list):
        return tuple(read(each) for each in kept)
    if not isinstance(kept, dict):
        return kept
    try:
        if "float" in kept:
            return Fraction(kept["float"])
        values = {key: read(value) for key, value in kept.items() if key != "tree"}
        return CLASSES[kept["tree"]](**values, span=NOWHERE)
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise RaspValueError(
            f"this is not a syntax tree: {error}", hint="give a file that `rasp fuzz` wrote"
        ) from None
