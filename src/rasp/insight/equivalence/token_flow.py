"""Programs in, what they do with their tokens out: are they read, and what do they meet?

Tokens and constants are followed through the graph as far as they are handed on unchanged, so
that it is known which of a program's own constants an atom of the input can ever meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rasp.base.atoms import Atom
from rasp.language.graph import (
    COMPARISONS,
    Aggregate,
    Const,
    Elementwise,
    Node,
    Score,
    Select,
    Tokens,
    TokensAs,
    in_order,
)
from rasp.language.operators import ORDERINGS, giving

YIELDS_TRUTHS = (*giving("bool"), "indicator")
PASSES_ON = {"if": slice(1, None), "at": slice(1, None), "lookup": slice(2, None, 2)}
"""Operators that hand an operand's atoms on unchanged, and which operands those are."""


def every_string(nodes: Sequence[Node]) -> tuple[Atom, ...]:
    """List the strings that a program mentions anywhere, also those it only answers with."""
    strings: dict[Atom, None] = {}
    for node in in_order(nodes):
        atom = node.value if isinstance(node, Const) else getattr(node, "default", None)
        if isinstance(atom, str):
            strings[atom] = None
    return tuple(strings)


def reads_tokens(nodes: Sequence[Node]) -> bool:
    """Tell whether a program looks at its tokens at all."""
    return any(isinstance(node, (Tokens, TokensAs)) for node in in_order(nodes))


@dataclass(frozen=True)
class AtomFlow:
    """What is known of the atoms that an s-op can hold."""

    tokens: bool = False
    """They may come from the input."""
    joined: bool = False
    """They may be joined from several strings."""
    constants: frozenset[tuple[type, Atom]] = frozenset()
    """The program's own constants among them, with their types (`1 == True` in Python)."""


NOTHING = AtomFlow()


def flows(nodes: Sequence[Node]) -> dict[Node, AtomFlow]:
    """Follow tokens and constants through a graph, as far as they are handed on."""
    flow: dict[Node, AtomFlow] = {}
    for node in in_order(nodes):
        match node:
            case Tokens() | TokensAs():
                flow[node] = AtomFlow(tokens=True)
            case Const(value):
                flow[node] = _constant(value)
            case Elementwise(op, operands) if op in PASSES_ON:
                flow[node] = _united([flow[operand] for operand in operands[PASSES_ON[op]]])
            case Elementwise(op, operands) if op not in YIELDS_TRUTHS:
                united = _united([flow[operand] for operand in operands])
                flow[node] = replace(united, joined=united.joined or op == "+")
            case Aggregate(values=values, default=default):
                flow[node] = _united([flow[values], _constant(default)])
            case _:
                flow[node] = NOTHING
    return flow


def _constant(value: Atom) -> AtomFlow:
    return AtomFlow(constants=frozenset([(type(value), value)]))


def _united(flows_in: Sequence[AtomFlow]) -> AtomFlow:
    return AtomFlow(
        any(flow.tokens for flow in flows_in),
        any(flow.joined for flow in flows_in),
        frozenset().union(*(flow.constants for flow in flows_in)),
    )


def compared_constants(nodes: Sequence[Node]) -> list[Atom]:
    """The constants that an atom of the input may be compared with, in order.

    >>> from rasp.language.graph import Indices
    >>> compared_constants([Elementwise("if", (Elementwise("==", (Tokens(), Const("a"))),
    ...                                         Const("T"), Const("F")))])
    ['a']
    """
    flow = flows(nodes)
    met: set[tuple[type, Atom]] = set()
    for node in in_order(nodes):
        sides = [flow[pair] for pair in _compared(node)]
        if any(side.tokens for side in sides):
            joined = any(side.joined for side in sides)
            for kind, atom in frozenset().union(*(side.constants for side in sides)):
                parts = atom if joined and isinstance(atom, str) else (atom,)
                met.update((kind, part) for part in parts)
    return [atom for _, atom in sorted(met, key=lambda pair: (pair[0].__name__, pair[1]))]


def _compared(node: Node) -> Sequence[Node]:
    """What a node compares with one another, if it does."""
    match node:
        case Select():
            return node.needs
        case Elementwise("lookup", operands):
            return (operands[0], *operands[1::2])
        case Elementwise(op, operands) if op in COMPARISONS or op == "in":
            return operands
    return ()


def only_asks_for_equality(nodes: Sequence[Node]) -> bool:
    """Tell whether tokens that are strings are only compared by `==` and `!=`, and moved.

    >>> only_asks_for_equality([Select(Tokens(), Tokens(), "==")])
    True
    >>> only_asks_for_equality([Select(Tokens(), Tokens(), "<")])
    False
    """
    flow = flows(nodes)
    for node in in_order(nodes):
        given = [flow[needed].tokens for needed in node.needs]
        match node:
            case TokensAs(kind) if kind != "string":
                return False
            case Elementwise("if") if given[0]:
                return False
            case Elementwise(op) if any(given) and op not in (*PASSES_ON, "==", "!=", "in"):
                return False
            case Select(op=op) if any(given) and op in ORDERINGS:
                return False
            case Score() if any(given):
                return False
    return True
