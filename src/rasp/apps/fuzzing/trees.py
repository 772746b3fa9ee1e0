"""Syntax trees that come from no text: made, and kept as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from fractions import Fraction
from typing import Any

from rasp.base.atoms import Atom
from rasp.base.errors import RaspValueError
from rasp.base.source import Source, Span
from rasp.language.syntax import tree

NOWHERE = Span(Source("<fuzzing>", ""), 0, 0)
CLASSES: dict[str, type[tree.Tree]] = {
    name: kind
    for name, kind in vars(tree).items()
    if isinstance(kind, type) and issubclass(kind, tree.Tree)
}


def name(text: str) -> tree.Name:
    return tree.Name(text, span=NOWHERE)


def literal(value: Atom) -> tree.Expression:
    """An atom as people write it: with a sign below zero, thirds as a quotient."""
    if not isinstance(value, (str, bool)) and value < 0:
        return tree.Unary("-", literal(-value), span=NOWHERE)
    if isinstance(value, Fraction) and 10**60 % value.denominator:  # no decimal that ends
        return binary("/", literal(Fraction(value.numerator)), literal(value.denominator))
    return tree.Literal(value, span=NOWHERE)


def binary(op: str, left: tree.Expression, right: tree.Expression) -> tree.Expression:
    return tree.Binary(op, left, right, span=NOWHERE)


def unary(op: str, operand: tree.Expression) -> tree.Expression:
    return tree.Unary(op, operand, span=NOWHERE)


def ternary(
    condition: tree.Expression, then: tree.Expression, otherwise: tree.Expression
) -> tree.Expression:
    return tree.Ternary(condition, then, otherwise, span=NOWHERE)


def listed(items: Iterable[tree.Expression], bare: bool = False) -> tree.Expression:
    return tree.ListDisplay(tuple(items), bare=bare, span=NOWHERE)


def index(base: tree.Expression, position: tree.Expression) -> tree.Expression:
    return tree.Index(base, position, span=NOWHERE)


def call(
    function: str | tree.Expression, *values: tree.Expression, **keywords: tree.Expression
) -> tree.Expression:
    called = name(function) if isinstance(function, str) else function
    arguments = [tree.Argument(value, span=NOWHERE) for value in values]
    arguments += [
        tree.Argument(value, keyword, span=NOWHERE) for keyword, value in keywords.items()
    ]
    return tree.Call(called, tuple(arguments), span=NOWHERE)


def assign(target: str, value: tree.Expression) -> tree.Statement:
    return tree.Assign((name(target),), value, span=NOWHERE)


def record(part: object) -> Any:
    """A tree as JSON-able data."""
    if isinstance(part, tree.Tree):
        kept = {
            field.name: record(getattr(part, field.name)) for field in fields(part) if field.compare
        }
        return {"tree": type(part).__name__, **kept}
    if isinstance(part, tuple):
        return [record(item) for item in part]
    if isinstance(part, Fraction):
        return {"float": str(part)}
    return part


def read(kept: Any) -> Any:
    """A tree from JSON-able data."""
    if isinstance(kept, list):
        return tuple(read(item) for item in kept)
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
