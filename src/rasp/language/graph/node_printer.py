"""A graph in, RASP text out: one expression, with the names people gave used on the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from rasp.base.atoms import quote, show_literal
from rasp.language.graph.nodes import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Node,
    Score,
    ScoreSum,
    Select,
    SelectBest,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    Tokens,
    TokensAs,
)
from rasp.language.operators import OPERATORS
from rasp.language.words import AND, ATOM, BINDING, COMPARISON, NOT, OR, SIGN, SUM, TERNARY

CONVERSIONS = {"int": "tokens_int", "float": "tokens_float", "string": "tokens_str",
               "bool": "tokens_bool"}  # fmt: skip


def expression(node: Node, names: Mapping[Node, str] | None = None, depth: int = 12) -> str:
    """Write a node as RASP; below `depth` levels an unnamed node is written as `…`.

    >>> from rasp.language.graph.nodes import Elementwise, Indices, Const
    >>> expression(Elementwise("+", (Indices(), Const(1))))
    'indices + 1'
    """
    return _write(node, names or {}, depth, top=True)[0]


class _Inner(Protocol):
    """Writes an operand, in brackets where it binds more loosely than `binding`."""

    def __call__(self, needed: Node, binding: int = TERNARY) -> str: ...


def _write(node: Node, names: Mapping[Node, str], depth: int, top: bool = False) -> tuple[str, int]:
    """Return the text and how tightly it binds."""
    if not top and node in names:
        return names[node], ATOM
    if depth == 0 and node.needs:
        return "…", ATOM

    def inner(needed: Node, binding: int = TERNARY) -> str:
        text, bound = _write(needed, names, depth - 1)
        return text if bound >= binding else f"({text})"

    match node:
        case Tokens():
            return "tokens", ATOM
        case TokensAs(kind):
            return CONVERSIONS[kind], ATOM
        case Indices():
            return "indices", ATOM
        case Const(value):
            text = show_literal(value)
            return text, SIGN if text.startswith("-") else ATOM
        case Elementwise("not", (Elementwise("in") as inside,)) if inside not in names:
            return _write_membership("not in", inside, inner)
        case Elementwise():
            return _write_elementwise(node, inner)
        case Aggregate(selector, values, default):
            parts = [inner(selector), inner(values)]
            if default != 0 or type(default) is not int:
                parts.append(show_literal(default))
            return f"aggregate({', '.join(parts)})", ATOM
    return _write_pairs(node, inner)


def _write_pairs(node: Node, inner: _Inner) -> tuple[str, int]:
    """The same of a selector or scorer."""
    match node:
        case Select(keys, queries, op):
            return f"select({inner(keys)}, {inner(queries)}, {op})", ATOM
        case SelectorAnd(left, right):
            return f"{inner(left, AND)} and {inner(right, AND + 1)}", AND
        case SelectorOr(left, right):
            return f"{inner(left, OR)} or {inner(right, OR + 1)}", OR
        case SelectorNot(selector):
            return f"not {inner(selector, NOT)}", NOT
        case SelectBest(selector, scorer):
            return f"select_best({inner(selector)}, {inner(scorer)})", ATOM
        case Score(keys, queries):
            return f"score({inner(keys)}, {inner(queries)})", ATOM
        case ScoreSum(left, right):
            return f"{inner(left, SUM)} + {inner(right, SUM + 1)}", SUM
    raise AssertionError(f"no way to print {type(node).__name__}")


def _write_elementwise(node: Elementwise, inner: _Inner) -> tuple[str, int]:
    op, operands = node.op, node.operands
    if op in BINDING and op != "in":
        binding = BINDING[op]
        right_associative = op == "^"
        left = inner(operands[0], binding + right_associative)
        right = inner(operands[1], binding + (not right_associative))
        return f"{left} {op} {right}", binding
    row = OPERATORS[op]
    if row.written == "prefix":
        space = " " if row.text.isalpha() else ""
        return f"{row.text}{space}{inner(operands[0], row.binding)}", row.binding
    match op:
        case "if":
            condition, then, otherwise = operands
            text = f"{inner(then, OR)} if {inner(condition, OR)} else {inner(otherwise)}"
            return text, TERNARY
        case "in":
            return _write_membership("in", node, inner)
        case "at":
            return f"{_write_items(operands[1:], inner)}[{inner(operands[0])}]", ATOM
        case "lookup":
            pairs = zip(operands[1::2], operands[2::2], strict=True)
            table = ", ".join(f"{inner(key)}: {inner(value)}" for key, value in pairs)
            return f"{{{table}}}[{inner(operands[0])}]", ATOM
    return f"{op}({', '.join(inner(operand) for operand in operands)})", ATOM


def _write_membership(op: str, node: Elementwise, inner: _Inner) -> tuple[str, int]:
    item, *members = node.operands
    listed = ", ".join(inner(member) for member in members)
    return f"{inner(item, COMPARISON)} {op} [{listed}]", COMPARISON


def _write_items(items: tuple[Node, ...], inner: _Inner) -> str:
    texts = [item.value for item in items if isinstance(item, Const)]
    letters = [text for text in texts if isinstance(text, str) and len(text) == 1]
    if items and len(letters) == len(items):
        return quote("".join(letters))
    return "[" + ", ".join(inner(item) for item in items) + "]"
