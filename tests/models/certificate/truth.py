"""What variables, s-ops and selectors are on an input, found by looking: so that what the checker
says of them for all inputs can be compared with it.

No weights are looked at. `beliefs` lists what it says, and compares.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from rasp.base.atoms import Atom
from rasp.base.errors import RaspError
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
    apply_operator,
    in_order,
)
from rasp.models.certificate.claims import (
    TOKEN,
    ClaimedCount,
    ClaimedNode,
    ClaimedSum,
    HeadClaim,
    SumPart,
)
from rasp.models.certificate.program.tables import same, typed, variants_of
from rasp.models.certificate.program.values import ProvedValues

NO_VALUE = object()
"""What a helper of claims is where it fails."""


class Unknown(Exception):
    """Something that depends on a helper that fails."""


class Truth:
    """One input, and everything on it; helpers of claims may mix kinds, which programs may not."""

    def __init__(self, values: ProvedValues, tokens: tuple[Atom, ...]) -> None:
        self.values, self.tokens = values, tokens
        self.size = len(tokens)
        self._known: dict[Node, Any] = {}

    def of(self, node: Node) -> Any:
        if node not in self._known:
            for inner in in_order([node]):
                if inner not in self._known:
                    self._known[inner] = self._find(inner)
        return self._known[node]

    def _find(self, node: Node) -> Any:
        got = [self._known[needed] for needed in node.needs]
        every = range(self.size)
        match node:
            case Tokens():
                return list(self.tokens)
            case TokensAs(kind):
                return [_applied(kind, (token,)) for token in self.tokens]
            case Indices():
                return list(every)
            case Const(value):
                return [value] * self.size
            case Elementwise(op):
                return [_applied(op, tuple(row[at] for row in got)) for at in every]
            case Aggregate(default=default):
                return [_mean([got[1][key] for key in every if got[0][query][key]], default)
                        for query in every]  # fmt: skip
            case Select(op=op):
                return [[_holds(key, query, op) for key in got[0]] for query in got[1]]
            case SelectorAnd():
                return [
                    [a and b for a, b in zip(*rows, strict=True)] for rows in zip(*got, strict=True)
                ]
            case SelectorOr():
                return [
                    [a or b for a, b in zip(*rows, strict=True)] for rows in zip(*got, strict=True)
                ]
            case SelectorNot():
                return [[not a for a in row] for row in got[0]]
            case Score():
                return [[_applied("*", (key, query)) for key in got[0]] for query in got[1]]
            case ScoreSum():
                return [[_applied("+", pair) for pair in zip(*rows, strict=True)]
                        for rows in zip(*got, strict=True)]  # fmt: skip
            case SelectBest():
                return [_best(*rows) for rows in zip(*got, strict=True)]
        raise AssertionError

    def picked(self, head: HeadClaim, query: int) -> list[int]:
        rows = [self.of(selector)[query] for selector in head.selectors]
        chosen = [all(row[key] for row in rows) for key in range(self.size)]
        if head.best is not None:
            chosen = _best(chosen, self.of(head.best)[query])
        return [key for key, fine in enumerate(chosen) if fine]

    def state(self, variable: int, at: int) -> list[int]:
        """The states that a variable may be in at a position; none where that is not listed."""
        domain = self.values.domain(variable)
        match self.values.claims.variables[variable]:
            case None if variable == 0:
                return [
                    place
                    for place, token in enumerate(self.values.inputs.vocabulary)
                    if typed(token) == typed(self.tokens[at])
                ]
            case None:
                return [at]
            case ClaimedNode(node):
                atom = self.of(node)[at]
                if atom is NO_VALUE:
                    raise Unknown
                return [state for state, known in enumerate(domain.atoms)
                        if fits(atom, known, domain.kinds)]  # fmt: skip
            case ClaimedCount(conditions):
                return [sum(self.of(node)[at] is True for node in conditions)]
            case ClaimedSum():
                number = self.number(variable, at)
                return [state for state, known in enumerate(domain.atoms) if known == number]
        atom, number = self.output(variable, at)
        return [
            state
            for state, known in enumerate(zip(domain.atoms, domain.numbers, strict=True))
            if known[1] == number and (atom is NO_VALUE or typed(known[0]) == typed(atom))
        ]

    def number(self, variable: int, at: int) -> Fraction:
        match self.values.claims.variables[variable]:
            case ClaimedSum(constant, parts):
                return constant + sum(
                    (weight * self.part(part, at) for part, weight in parts.items()), Fraction(0)
                )
        return self.output(variable, at)[1]

    def part(self, part: SumPart, at: int) -> Fraction:
        if part.state is None:
            return self.number(part.variable, at)
        if part.variable == TOKEN:
            return Fraction(self.values.inputs.vocabulary[part.state] == self.tokens[at])
        return Fraction(part.state == at)

    def output(self, variable: int, at: int) -> tuple[Any, Fraction]:
        """What a head puts out at a query: the atom, and the number that stands for it."""
        head, output = self.values.head(variable), self.values.output(variable)
        picked = self.picked(head, at)
        if head.mode == "share":
            others = len({*picked} - {0})
            portion = head.weight / (head.weight + others)
            whole = Fraction(head.outweighs)
            return NO_VALUE, portion if (0 in picked) != head.outweighs else whole
        held = [self.of(output.values)[key] for key in picked]
        if head.mode == "sum":
            return NO_VALUE, sum(map(_number, held), Fraction(0))
        if not picked:
            return output.default, output.base
        if output.carrier is not None:
            states = [self.state(output.carrier, key)[0] for key in picked]
            return NO_VALUE, sum(map(Fraction, states), Fraction(0)) / len(states)
        if any(atom is NO_VALUE for atom in held):
            raise Unknown
        codes = [output.code(atom) for atom in held]
        mean = sum(codes, Fraction(0)) / len(codes)
        if len(held) == 1:
            return held[0], mean
        is_number = not any(isinstance(atom, (bool, str)) for atom in held)
        return (sum(map(Fraction, held), Fraction(0)) / len(held) if is_number else NO_VALUE), mean


def _applied(op: str, atoms: tuple[Any, ...]) -> Any:
    if any(atom is NO_VALUE for atom in atoms):
        return NO_VALUE
    try:
        return apply_operator(op, atoms)
    except RaspError:
        return NO_VALUE


def _mean(picked: list[Any], default: Atom) -> Any:
    if len(picked) < 2:
        return picked[0] if picked else default
    if any(isinstance(atom, (bool, str)) or atom is NO_VALUE for atom in picked):
        return NO_VALUE
    return sum(map(Fraction, picked), Fraction(0)) / len(picked)


def _number(atom: Any) -> Fraction:
    if atom is NO_VALUE or isinstance(atom, str):
        raise Unknown
    return Fraction(atom)


def _holds(key: Any, query: Any, op: str) -> bool:
    if key is NO_VALUE or query is NO_VALUE:
        raise Unknown
    if isinstance(key, str) != isinstance(query, str) and op not in ("==", "!="):
        return False
    return bool(apply_operator(op, (key, query)))


def _best(row: Sequence[bool], scores: Sequence[Any]) -> list[bool]:
    if any(score is NO_VALUE or isinstance(score, str) for score in scores):
        raise Unknown
    top = max((score for score, fine in zip(scores, row, strict=True) if fine), default=None)
    return [fine and score == top for score, fine in zip(scores, row, strict=True)]


def fits(atom: Any, known: Atom | None, kinds: frozenset[type]) -> bool:
    if known is None or not same(atom, known):
        return False
    return any(type(atom) is type(variant) for variant in variants_of(known, kinds))
