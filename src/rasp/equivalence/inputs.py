"""Programs in, the inputs that must be tried out: all of an alphabet, or fewer that stand for more.

A program that only asks whether tokens are equal cannot tell one unknown token from another:
rename the tokens it does not compare with others, and its answer is renamed with them. So it
is enough to try inputs in which unknown tokens appear in a fixed order (`aba` stands for `bab`,
and for `xyx` over any alphabet), and what holds for these holds for every input of non-empty
strings of that length, over any alphabet whatever. The unknown tokens tried must be none that
a program answers with, or two different answers could look alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from rasp.architecture.inputs import show_alphabet
from rasp.atoms import Atom, show
from rasp.graph import (
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

YIELDS_TRUTHS = (*COMPARISONS, "in", "and", "or", "not", "bool", "indicator")
PASSES_ON = {"if": slice(1, None), "at": slice(1, None), "lookup": slice(2, None, 2)}
"""Operators that hand an operand's atoms on unchanged, and which operands those are."""


@dataclass(frozen=True)
class Inputs:
    """Which inputs to try: a prefix, then any tokens of the alphabet.

    With `any_alphabet`, the last tokens of the alphabet are unknown to both programs, and stand
    for all others; `known` is how many are not.
    """

    alphabet: tuple[Atom, ...]
    prefix: tuple[Atom, ...] = ()
    any_alphabet: bool = False
    known: int = 0
    avoid: tuple[Atom, ...] = ()
    """Constants of the programs: a token that stands for others must be none of them."""
    reads_tokens: bool = True

    def of_length(self, length: int) -> Iterator[tuple[Atom, ...]]:
        """List every input of a length that must be tried, those with early tokens first."""
        free = length - len(self.prefix)
        if free < 0:
            return
        if not self.reads_tokens:
            yield self.prefix + self.alphabet[:1] * free
        elif not self.any_alphabet:
            for tokens in product(self.alphabet, repeat=free):
                yield self.prefix + tokens
        else:
            for numbers in _in_order_of_appearance(self.known, free):
                yield self.prefix + tuple(self.alphabet[number] for number in numbers)

    def count(self, length: int) -> int:
        """How many inputs of a length there are to try."""
        free = length - len(self.prefix)
        if free < 0:
            return 0
        if not self.reads_tokens:
            return 1
        if not self.any_alphabet:
            return int(len(self.alphabet) ** free)
        ways = {0: 1}  # how many unknown tokens have appeared -> in how many ways
        for _ in range(free):
            after: dict[int, int] = {}
            for seen, number in ways.items():
                after[seen] = after.get(seen, 0) + number * (self.known + seen)
                after[seen + 1] = after.get(seen + 1, 0) + number
            ways = after
        return sum(ways.values())

    def with_unknown(self, length: int) -> Inputs:
        """The same with enough unknown tokens for a length."""
        missing = length - len(self.prefix) - (len(self.alphabet) - self.known)
        if not self.any_alphabet or missing <= 0:
            return self
        more = fresh_tokens((*self.alphabet, *self.prefix, *self.avoid), missing)
        return replace(self, alphabet=(*self.alphabet, *more))

    def describe(self) -> str:
        """Say which inputs these are: `inputs over {a, b}`."""
        start = ""
        if self.prefix:
            shown = "".join(show(token) for token in self.prefix)
            start = f" that begin with {shown} and hold it nowhere else"
        if not self.reads_tokens:
            return f"inputs{start}"
        if self.any_alphabet:
            return f"inputs of non-empty strings over any alphabet{start}"
        return f"inputs over {show_alphabet(self.alphabet)}{start}"


def _in_order_of_appearance(known: int, length: int) -> Iterator[tuple[int, ...]]:
    """Sequences of numbers below `known`, and of others that first appear in order."""
    if length == 0:
        yield ()
        return
    for before in _in_order_of_appearance(known, length - 1):
        seen = max((number - known + 1 for number in before), default=0)
        for number in range(known + max(0, seen) + 1):
            yield (*before, number)


def fresh_tokens(known: Sequence[Atom], count: int) -> tuple[str, ...]:
    """Make tokens that are not among the known ones: letters, then numbered letters."""
    letters = [chr(ord("a") + number) for number in range(26)]
    numbered = (f"t{number}" for number in range(count + len(known)))
    found = [token for token in (*letters, *numbered) if token not in known]
    return tuple(found[:count])


def every_string(nodes: Sequence[Node]) -> tuple[Atom, ...]:
    """List the strings that a program mentions anywhere, also those it only answers with."""
    found: dict[Atom, None] = {}
    for node in in_order(nodes):
        atom = node.value if isinstance(node, Const) else getattr(node, "default", None)
        if isinstance(atom, str):
            found[atom] = None
    return tuple(found)


def reads_tokens(nodes: Sequence[Node]) -> bool:
    """Tell whether a program looks at its tokens at all."""
    return any(isinstance(node, (Tokens, TokensAs)) for node in in_order(nodes))


@dataclass(frozen=True)
class Flow:
    """What is known of the atoms that an s-op can hold."""

    tokens: bool = False
    """They may come from the input."""
    joined: bool = False
    """They may be joined from several strings."""
    constants: frozenset[tuple[type, Atom]] = frozenset()
    """The program's own constants among them, with their types (`1 == True` in Python)."""


NOTHING = Flow()


def flows(nodes: Sequence[Node]) -> dict[Node, Flow]:
    """Follow tokens and constants through a graph, as far as they are handed on."""
    flow: dict[Node, Flow] = {}
    for node in in_order(nodes):
        match node:
            case Tokens() | TokensAs():
                flow[node] = Flow(tokens=True)
            case Const(value):
                flow[node] = _constant(value)
            case Elementwise(op, operands) if op in PASSES_ON:
                flow[node] = _united([flow[each] for each in operands[PASSES_ON[op]]])
            case Elementwise(op, operands) if op not in YIELDS_TRUTHS:
                united = _united([flow[each] for each in operands])
                flow[node] = replace(united, joined=united.joined or op == "+")
            case Aggregate(values=values, default=default):
                flow[node] = _united(
                    [flow[values], Flow(constants=frozenset([(type(default), default)]))]
                )
            case _:
                flow[node] = NOTHING
    return flow


def _constant(value: Atom) -> Flow:
    return Flow(constants=frozenset([(type(value), value)]))


def _united(flows_in: Sequence[Flow]) -> Flow:
    return Flow(
        any(flow.tokens for flow in flows_in),
        any(flow.joined for flow in flows_in),
        frozenset().union(*(flow.constants for flow in flows_in)),
    )


def compared_constants(nodes: Sequence[Node]) -> list[Atom]:
    """The constants that an atom of the input may be compared with, in order.

    >>> from rasp.graph import Indices
    >>> compared_constants([Elementwise("if", (Elementwise("==", (Tokens(), Const("a"))),
    ...                                         Const("T"), Const("F")))])
    ['a']
    """
    flow = flows(nodes)
    met: set[tuple[type, Atom]] = set()
    for node in in_order(nodes):
        sides = [flow[each] for each in _compared(node)]
        if any(side.tokens for side in sides):
            joined = any(side.joined for side in sides)
            for kind, atom in frozenset().union(*(side.constants for side in sides)):
                parts = atom if joined and isinstance(atom, str) else (atom,)
                met.update((kind, part) for part in parts)
    return [atom for _, atom in sorted(met, key=lambda each: (each[0].__name__, each[1]))]


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
            case Select(op=op) if any(given) and op not in ("==", "!="):
                return False
            case Score() if any(given):
                return False
    return True
