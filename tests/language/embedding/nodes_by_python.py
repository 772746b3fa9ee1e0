"""A graph in, the same graph out, built by the operators and functions of Python."""

from __future__ import annotations

from collections.abc import Iterable
from pkgutil import resolve_name
from typing import Any

import rasp
from rasp.language.embedding.handles import Handle
from rasp.language.graph import (
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
    in_order,
)
from rasp.language.operators import OPERATORS

BASES = {"int": rasp.tokens_int, "float": rasp.tokens_float, "string": rasp.tokens_str,
         "bool": rasp.tokens_bool}  # fmt: skip


def built_nodes(outputs: Iterable[Node]) -> dict[Node, Any]:
    """Build every node by Python's operators: handles, or atoms for constants."""
    found: dict[Node, Any] = {}
    for node in in_order(outputs):
        found[node] = _built(node, [found[needed] for needed in node.needs])
    return found


def _built(node: Node, parts: list[Any]) -> Any:
    match node:
        case Const(value):
            return value
        case Tokens():
            return rasp.tokens
        case Indices():
            return rasp.indices
        case TokensAs(kind):
            return BASES[kind]
        case Elementwise(op):
            return built_elementwise(op, parts)
        case Aggregate(default=default):
            return rasp.aggregate(parts[0], parts[1], default)
        case Select(op=op):
            return rasp.select(parts[0], parts[1], op)  # type: ignore[arg-type]
        case SelectorAnd():
            return parts[0] & parts[1]
        case SelectorOr():
            return parts[0] | parts[1]
        case SelectorNot():
            return ~parts[0]
        case SelectBest():
            return rasp.select_best(parts[0], parts[1])
        case Score():
            return rasp.score(parts[0], parts[1])
        case ScoreSum():
            return parts[0] + parts[1]
    raise AssertionError(f"no way to build {type(node).__name__}")


def built_elementwise(op: str, parts: list[Any]) -> Any:
    first = parts[0]
    row = OPERATORS[op]
    if row.arity == 1 or row.written == "call":
        return resolve_name(row.python)(*parts)
    if op in ("and", "or"):
        handles: list[Any] = [
            each if isinstance(each, Handle) else rasp.constant(each) for each in parts
        ]
        return resolve_name(row.python)(*handles)
    if row.written == "infix":
        # Python turns comparisons round, and makes a float of a fraction before a power
        turned = op in (*rasp.language.graph.COMPARISONS, "^") and not isinstance(first, Handle)
        return resolve_name(row.python)(rasp.constant(first) if turned else first, parts[1])
    match op:
        case "if":
            return rasp.where(*parts)
        case "in":
            return first.is_in(parts[1:])
        case "at":
            return first.lookup(parts[1:])
        case "lookup":
            return first.lookup(dict(zip(parts[1::2], parts[2::2], strict=True)))
    raise AssertionError(f"no way to build `{op}`")
