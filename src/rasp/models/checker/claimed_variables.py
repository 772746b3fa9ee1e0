"""What claims name: variables, the s-ops that they are, and the heads that give them.

A variable is a token, an index, the length, what a head gives to a query, or the value of an s-op.
Claims only name them; what they are is said by the program's own nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from rasp.base.atoms import Atom
from rasp.language.graph import Const, Elementwise, Indices, SOp, Tokens, TokensAs
from rasp.models.certificate.claims import (
    INDEX,
    TOKEN,
    ClaimedCount,
    ClaimedNode,
    ClaimedOutput,
    ClaimedSum,
    Claims,
    HeadClaim,
    Inputs,
    Refused,
)
from rasp.models.checker.aggregated import Given
from rasp.models.checker.lookups import Pick
from rasp.models.checker.relations import LENGTH, Name, typed

T = TypeVar("T")


class Once(Generic[T]):
    """A function that is computed once for each argument, and refused where it needs itself: so
    every result rests on others that were complete before it."""

    def __init__(self, find: Callable[..., T]) -> None:
        self.find = find
        self.known: dict[tuple[Any, ...], T] = {}
        self.begun: set[tuple[Any, ...]] = set()

    def __call__(self, *asked: Any) -> T:
        if asked not in self.known:
            if asked in self.begun:
                raise Refused("claims tell of something by itself")
            self.begun.add(asked)
            self.known[asked] = self.find(*asked)
        return self.known[asked]


class ClaimedVariables:
    """The variables of claims, and the numbers of their states."""

    def __init__(
        self, claims: Claims, inputs: Inputs, plain: ClaimedVariables | None = None
    ) -> None:
        """States have the same numbers as in `plain`."""
        self.claims, self.inputs = claims, inputs
        self.numbering: dict[Name, dict[object, int]] = plain.numbering if plain else {}
        self.atoms: dict[Name, list[Atom | None]] = plain.atoms if plain else {}
        """What the states of a variable are; `numbering` is the other way round."""
        self.loose: set[Name] = plain.loose if plain else set()
        """The variables of which numbers may be of several kinds."""
        self.numbers: dict[Given, Name] = plain.numbers if plain else {}
        self.over, self.base_of = Once(self._over), Once(self._base_of)
        self.closure, self.told_by = Once(self._closure), Once(self._told_by)

    def _base_of(self, name: Name) -> tuple[Name, ...]:
        """What sums and counts are made of; any other variable is itself."""
        if not 0 <= name < len(self.claims.variables):
            raise Refused("a variable that there is not")
        match self.claims.variables[name]:
            case ClaimedSum(_, parts):
                return self.base(part.variable for part in parts)
            case ClaimedCount(conditions):
                return tuple(dict.fromkeys(v for node in conditions for v in self.over(node)))
        return (name,)

    def base(self, names: Iterable[Name]) -> tuple[Name, ...]:
        """Variables, with what sums and counts are made of in their place."""
        return tuple(dict.fromkeys(part for name in names for part in self.base_of(name)))

    def _over(self, node: SOp) -> tuple[Name, ...]:
        """The variables that an s-op is claimed to be a function of."""
        match node:
            case Tokens() | TokensAs():
                return (TOKEN,)
            case Indices():
                return (INDEX,)
            case Const():
                return ()
        if node in self.claims.over:
            return self.base(self.claims.over[node])
        if isinstance(node, Elementwise):
            return tuple(dict.fromkeys(v for part in node.operands for v in self.over(part)))
        raise Refused("nothing is said of what an s-op depends on")

    def _closure(self, node: SOp) -> frozenset[Name]:
        """The variables that may have to do with an s-op."""
        found = {*self.over(node)}
        if isinstance(node, Elementwise):
            found.update(*(self.closure(part) for part in node.operands))
        found |= {place for place, claimed in enumerate(self.claims.variables)
                  if isinstance(claimed, ClaimedNode) and claimed.node is node}  # fmt: skip
        return frozenset(found)

    def node_of(self, name: Name) -> SOp | None:
        """The s-op that a variable is the value of."""
        claimed = self.claims.variables[name] if name >= 0 else None
        return claimed.node if isinstance(claimed, ClaimedNode) else None

    def head_of(self, name: Name) -> tuple[int, int] | None:
        """The head that gives a variable."""
        claimed = self.claims.variables[name] if name >= 0 else None
        return (claimed.layer, claimed.head) if isinstance(claimed, ClaimedOutput) else None

    def head(self, place: tuple[int, int]) -> HeadClaim:
        layer, number = place
        heads = self.claims.heads[layer - 1] if layer else self.claims.spare
        return heads[number]

    def given(self, name: Name) -> Given:
        """What a head gives: values added up, or averaged, over what it picks."""
        claimed = self.claims.variables[name]
        assert isinstance(claimed, ClaimedOutput)
        head = self.head((claimed.layer, claimed.head))
        output = head.outputs[claimed.output]
        if output.carrier is not None or head.mode not in ("mean", "sum") or head.family:
            raise Refused("a head of a kind that is not followed")
        pick = Pick(tuple(head.selectors), head.best, self.inputs.causal)
        return Given(pick, output.values, output.default, head.mode == "sum")

    def leaf(self, given: Given) -> Name:
        """The number of something aggregated that is not given by a head."""
        return self.numbers.setdefault(given, LENGTH - 1 - len(self.numbers))

    def state(self, name: Name, atom: Atom | None) -> int:
        """The state of a variable that an atom is: a new one for one that is new."""
        numbering = self.numbering.setdefault(name, {})
        if typed(atom) not in numbering:
            numbering[typed(atom)] = len(numbering)
            self.atoms.setdefault(name, []).append(atom)
        return numbering[typed(atom)]

    def _told_by(self, name: Name) -> frozenset[Name]:
        """What a head's queries, or an s-op, depend on; and what that does."""
        node, place = (self.node_of(name), self.head_of(name)) if name >= 0 else (None, None)
        found: set[Name] = set()
        if node is not None:
            found = {*self.over(node)}
        elif place is not None:
            sides = self.given(name).pick.sides
            found = {v for side in sides for v in self.over(side.queries)}
        return frozenset(found.union(*(self.told_by(other) for other in found)))
