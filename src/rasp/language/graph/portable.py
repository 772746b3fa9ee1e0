"""Graphs and atoms as plain data, and back: nothing is ever run to read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from rasp.base.atoms import Atom
from rasp.base.errors import RaspValueError
from rasp.language.graph.nodes import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Node,
    Score,
    Scorer,
    ScoreSum,
    Select,
    SelectBest,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SOp,
    Tokens,
    TokensAs,
)
from rasp.language.graph.walks import in_order
from rasp.language.operators import COMPARISONS, OPERATORS

READ_AS = ("int", "float", "string", "bool")


class DamagedFile(RaspValueError):
    """A part of a file is not what it should be; who reads the file says what file it is."""


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Say that a part of a file is damaged, however reading it goes wrong.

    >>> with reading("a number"):
    ...     int("x")
    Traceback (most recent call last):
    rasp.language.graph.portable.DamagedFile: error: a number in it is damaged
    """
    try:
        yield
    except (
        LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError,
    ) as error:  # fmt: skip
        raise broken(what) from error


def atom_to_json(atom: Atom) -> list[Any]:
    """An atom with its kind: JSON knows neither exact fractions nor large ints.

    >>> atom_to_json(Fraction(1, 3))
    ['float', '1/3']
    """
    if isinstance(atom, bool):
        return ["bool", atom]
    if isinstance(atom, str):
        return ["string", atom]
    return ["int" if isinstance(atom, int) else "float", str(atom)]


def atom_from_json(data: object) -> Atom:
    """Read an atom back."""
    match data:
        case ["bool", bool() as value]:
            return value
        case ["string", str() as value]:
            return value
        case ["int", str() as value]:
            return int(value)
        case ["float", str() as value] if set(value) <= set("-/0123456789"):  # no exponents
            return Fraction(value)
    raise broken("an atom")


def graph_to_json(
    outputs: Mapping[str, Node], names: Mapping[Node, str], lines: Mapping[Node, int] | None = None
) -> dict[str, Any]:
    """Nodes in order, each with the places of what it needs, its name and its line if known."""
    order = in_order(outputs.values())
    places = {node: place for place, node in enumerate(order)}
    return {
        "nodes": [
            {"kind": type(node).__name__, "needs": [places[needed] for needed in node.needs]}
            | _fields(node)
            | ({"name": names[node]} if node in names else {})
            | ({"line": lines[node]} if lines and node in lines else {})
            for node in order
        ],
        "outputs": {name: places[node] for name, node in outputs.items()},
    }


def lines_from_json(data: Any) -> dict[Node, int]:
    """The lines of the program that nodes come from."""
    places = {str(place): place for place in range(len(data["nodes"]))}
    nodes, _ = graph_from_json({"nodes": data["nodes"], "outputs": places})
    lines = {}
    for place, entry in enumerate(data["nodes"]):
        if "line" in entry:
            if not isinstance(entry["line"], int):
                raise broken("a line")
            lines[nodes[str(place)]] = entry["line"]
    return lines


def _fields(node: Node) -> dict[str, Any]:
    match node:
        case Const(value):
            return {"value": atom_to_json(value)}
        case TokensAs(kind):
            return {"read_as": kind}
        case Elementwise(op) | Select(op=op):
            return {"op": op}
        case Aggregate(default=default):
            return {"default": atom_to_json(default)}
    return {}


@reading("its program")
def graph_from_json(data: Any) -> tuple[dict[str, Node], dict[Node, str]]:
    """Read a graph back: its outputs, and the names of its nodes."""
    nodes: list[Node] = []
    names: dict[Node, str] = {}
    for entry in data["nodes"]:
        needs = [nodes[place] for place in entry["needs"] if 0 <= place < len(nodes)]
        if len(needs) != len(entry["needs"]):
            raise broken("a node")
        nodes.append(_node(entry, needs))
        if "name" in entry:
            names.setdefault(nodes[-1], str(entry["name"]))
    return {str(name): nodes[place] for name, place in data["outputs"].items()}, names


def _node(entry: dict[str, Any], needs: Sequence[Node]) -> Node:
    match entry["kind"], needs:
        case "Tokens", []:
            return Tokens()
        case "Indices", []:
            return Indices()
        case "TokensAs", [] if entry["read_as"] in READ_AS:
            return TokensAs(entry["read_as"])
        case "Const", []:
            return Const(atom_from_json(entry["value"]))
        case "Elementwise", operands if entry["op"] in OPERATORS:
            arity = OPERATORS[entry["op"]].arity
            if arity is None or arity == len(operands):
                return Elementwise(entry["op"], tuple(map(_s_op, operands)))
        case "Aggregate", [Selector() as selector, SOp() as values]:
            return Aggregate(selector, values, atom_from_json(entry["default"]))
        case "Select", [SOp() as keys, SOp() as queries] if entry["op"] in COMPARISONS:
            return Select(keys, queries, entry["op"])
        case "SelectorAnd", [Selector() as left, Selector() as right]:
            return SelectorAnd(left, right)
        case "SelectorOr", [Selector() as left, Selector() as right]:
            return SelectorOr(left, right)
        case "SelectorNot", [Selector() as inner]:
            return SelectorNot(inner)
        case "SelectBest", [Selector() as selector, Scorer() as scorer]:
            return SelectBest(selector, scorer)
        case "ScoreSum", [Scorer() as first, Scorer() as second]:
            return ScoreSum(first, second)
        case "Score", [SOp() as keys, SOp() as queries]:
            return Score(keys, queries)
    raise broken("a node")


def _s_op(node: Node) -> SOp:
    if not isinstance(node, SOp):
        raise broken("a node")
    return node


def broken(what: str) -> DamagedFile:
    """The error for a file that does not hold what it should."""
    return DamagedFile(f"{what} in it is damaged")
