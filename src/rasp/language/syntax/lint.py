"""A syntax tree in, warnings out: expressions that another reader would take another way.

The authors' REPL of 2021 gave `not`, `and`, `or`, `in`, unary minus and `^` other precedences
than Python has. A program that means one thing here and another there deserves a bracket.
"""

from __future__ import annotations

from rasp.base.errors import Warned
from rasp.language.syntax.printer import print_expression
from rasp.language.syntax.tree import Binary, Expression, Literal, Tree, Unary, walk
from rasp.language.words import COMPARISONS


def misreadings(tree: Tree) -> list[Warned]:
    """List the expressions that the 2021 REPL reads differently, or that only look like Python.

    >>> from rasp.base.source import Source
    >>> from rasp.language.syntax import parse
    >>> [warned.message for warned in misreadings(parse(Source("demo", "x = -2 ^ 2;"))[0])]
    ['the 2021 REPL reads `-2 ^ 2` as `(-2) ^ 2`']
    """
    return [warned for node in walk(tree) if (warned := _misreading(node)) is not None]


def _misreading(node: Tree) -> Warned | None:
    match node:
        case Unary("not", Binary(op, left, right)) if op in (*COMPARISONS, "in"):
            reading = f"(not {_text(left)}) {op} {_text(right)}"
        case Unary("-" | "+" as sign, Binary("^", base, exponent)):
            reading = f"({sign}{_text(base)}) ^ {_text(exponent)}"
        case Binary("^", base, Binary("^", middle, top)):
            reading = f"({_text(base)} ^ {_text(middle)}) ^ {_text(top)}"
        case Binary("or", left, Binary("and", middle, right)):
            reading = f"({_text(left)} or {_text(middle)}) and {_text(right)}"
        case Binary("and" | "or" as op, Binary("in", item, container), right):
            reading = f"{_text(item)} in ({_text(container)} {op} {_text(right)})"
        case Binary("and" | "or" as op, left, right) if _is_value(left) or _is_value(right):
            return Warned(
                f"`{op}` gives True or False, never one of its operands: `{_text(node)}`",
                node.span,
                "to choose between two values, write `x if condition else y`",
            )
        case Binary(op, Binary(inner, first, middle), last) if {op, inner} <= set(COMPARISONS):
            return Warned(
                f"comparisons do not chain: `{_text(node)}` is read as "
                f"`({_text(first)} {inner} {_text(middle)}) {op} {_text(last)}`",
                node.span,
                f"write `{_text(first)} {inner} {_text(middle)} and {_text(middle)} {op} "
                f"{_text(last)}`",
            )
        case _:
            return None
    return Warned(
        f"the 2021 REPL reads `{_text(node)}` as `{reading}`",
        node.span,
        "put brackets where you mean them",
    )


def _is_value(operand: Expression) -> bool:
    """Whether an operand is written as a string or number, which nobody asks for its truth."""
    return isinstance(operand, Literal) and not isinstance(operand.value, bool)


def _text(expression: Tree) -> str:
    assert isinstance(expression, Expression)
    text = print_expression(expression)
    return text if len(text) < 60 else text[:57] + "…"
