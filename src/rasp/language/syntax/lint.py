"""A syntax tree in, warnings out: expressions that another reader would take another way.

The authors' REPL of 2021 gave `not`, `and`, `or`, `in`, unary minus and `^` other precedences
than Python has. A program that means one thing here and another there deserves a bracket.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rasp.base.errors import Warned
from rasp.language.syntax.bindings import bindings_of
from rasp.language.syntax.printer import print_expression
from rasp.language.syntax.tree import (
    Assign,
    Binary,
    Define,
    Expression,
    Literal,
    Statement,
    Tree,
    Unary,
    walk,
)
from rasp.language.words import COMPARISONS


def misreadings(tree: Tree) -> list[Warned]:
    """List the expressions that the 2021 REPL reads differently, or that only look like Python.

    >>> from rasp.base.source import Source
    >>> from rasp.language.syntax import parse
    >>> [warned.message for warned in misreadings(parse(Source("demo", "x = -2 ^ 2;"))[0])]
    ['the 2021 REPL reads `-2 ^ 2` as `(-2) ^ 2`']
    """
    found = (_read_otherwise(node) or _looks_like_python(node) for node in walk(tree))
    return [warned for warned in found if warned is not None]


def read_otherwise(statements: Iterable[Tree]) -> list[Warned]:
    """Sum up what the 2021 REPL reads differently: one warning, or none.

    >>> from rasp.base.source import Source
    >>> from rasp.language.syntax import parse
    >>> statements = parse(Source("demo", "x = a or b and c; y = not x in [1];"))
    >>> [(warned.message, warned.hint) for warned in read_otherwise(statements)]
    [('the 2021 REPL reads `a or b and c` as `(a or b) and c`, and 1 other expression differently',
    'put brackets where you mean them; `rasp check` shows all of them')]
    """
    nodes = (node for statement in statements for node in walk(statement))
    found = [warned for node in nodes if (warned := _read_otherwise(node)) is not None]
    if len(found) < 2:
        return found
    first, others = found[0], len(found) - 1
    counted = f"and {others} other expression{'s' * (others > 1)} differently"
    hint = f"{first.hint}; `rasp check` shows all of them"
    return [Warned(f"{first.message}, {counted}", first.span, hint)]


def _read_otherwise(node: Tree) -> Warned | None:
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
        case _:
            return None
    return Warned(
        f"the 2021 REPL reads `{_text(node)}` as `{reading}`",
        node.span,
        "put brackets where you mean them",
    )


def _looks_like_python(node: Tree) -> Warned | None:
    match node:
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
    return None


def _is_value(operand: Expression) -> bool:
    """Whether an operand is written as a string or number, which nobody asks for its truth."""
    return isinstance(operand, Literal) and not isinstance(operand.value, bool)


def _text(expression: Tree) -> str:
    assert isinstance(expression, Expression)
    text = print_expression(expression)
    return text if len(text) < 60 else text[:57] + "…"


def unused(statements: tuple[Statement, ...]) -> Iterator[Warned]:
    """Warn of private and local names that nothing reads; public ones are the program's result.

    >>> from rasp.base.source import Source
    >>> from rasp.language.syntax import parse
    >>> [warned.message for warned in unused(parse(Source("demo", "_x = 1; y = 2;")))]
    ['`_x` is never used']
    """
    occurrences = bindings_of(statements).occurrences
    variables = {occurrence.start: occurrence.variable for occurrence in occurrences}
    read = {occurrence.variable for occurrence in occurrences if not occurrence.is_definition}
    functions = [node for whole in statements for node in walk(whole) if isinstance(node, Define)]
    for block in (*(function.body for function in functions), statements):
        is_body = block is not statements
        for statement in block:
            for target in statement.targets if isinstance(statement, Assign) else ():
                if variables[target.span.start] not in read and (is_body or target.name[0] == "_"):
                    hint = "remove it, or use it"
                    if is_body and statement is block[-1]:
                        hint = f"to give it to the caller, write `return {target.name};`"
                    yield Warned(f"`{target.name}` is never used", target.span, hint)
