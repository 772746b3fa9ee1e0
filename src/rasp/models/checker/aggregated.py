"""What is aggregated over keys, as a relation: the rule `reach`, read as atoms.

`together` finds what several things are at once: outputs of heads, and aggregates of the program.
Both are values added up or averaged over picks. All of them are sums over the same keys of one
input, so their vectors are reached together, and say how one decides another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from rasp.base.atoms import Atom
from rasp.language.graph import Aggregate, SelectBest, SOp
from rasp.models.certificate.claims import Refused
from rasp.models.checker.lookups import Lookup, Pick, SumTerm
from rasp.models.checker.node_parts import aggregates_in, ground_of, is_of_counts
from rasp.models.checker.reached_sums import reach
from rasp.models.checker.relations import (
    LENGTH,
    Array,
    Name,
    Relation,
    TooMuch,
    codes_of,
    distinct,
    groups,
    kinds,
    number_of,
    times,
)
from rasp.models.checker.sumsets import Vector

if TYPE_CHECKING:
    from rasp.models.checker.program_spaces import ProgramSpaces

MOST_BITS = 4096
"""Of a mean that no limit of the language is near to."""


@dataclass(frozen=True)
class Given:
    """What a query gets: the mean of the values that it picks, or their sum."""

    pick: Pick
    values: SOp
    default: Atom | None
    is_sum: bool


def together(
    facts: ProgramSpaces, wanted: Sequence[tuple[Name, Given]], context: Sequence[Name],
    by_length: bool, asked: Sequence[Name] = (),
) -> Relation:  # fmt: skip
    """Everything that some of what a query gets can be, beside those variables of `context` that
    the picks depend on, or that are `asked` for, and the length."""
    conditions = [node for node in facts.conditions if is_of_counts(node)]
    leaves = dict.fromkeys(leaf for node in conditions for leaf in aggregates_in(node))
    beside = [(facts.leaf(given_of(leaf)), given_of(leaf)) for leaf in leaves]
    beside = [one for one in beside if one not in wanted]
    if not beside:
        return _Together(facts, wanted, asked).relation(context, by_length)
    ground = [name for node in conditions for name in ground_of(node)]
    wide = [*context, *ground]
    whole = _Together(facts, [*wanted, *beside], [*asked, *ground]).relation(wide, by_length)
    for node in conditions:
        whole = whole.where(facts.holds(node, whole))
    kept = {*context, LENGTH, *(name for name, _ in wanted)}
    return whole.onto([name for name in whole.names if name in kept])


def given_of(node: Aggregate) -> Given:
    """What an aggregate averages, over which picks."""
    match node.selector:
        case SelectBest(selector, scorer):
            pick = Pick((selector,), scorer)
        case selector:
            pick = Pick((selector,))
    return Given(pick, node.values, node.default, False)


class _Together:
    def __init__(
        self, facts: ProgramSpaces, wanted: Sequence[tuple[Name, Given]], asked: Sequence[Name]
    ) -> None:  # fmt: skip
        self.facts, self.wanted = facts, wanted
        self.picks = list(dict.fromkeys(given.pick for _, given in wanted))
        terms = [SumTerm(given.pick, given.values, given.is_sum) for _, given in wanted]
        self.lookup = Lookup(facts, self.picks, terms, asked)
        self.held = [self._held(term) for term in range(len(terms))]
        self.alone = [self.facts.is_single(pick) for pick in self.picks]
        """For each pick, whether no query picks two keys."""
        self.failing = [False] * len(self.picks)
        """For each pick, whether the program fails where it has two."""
        for term, (name, given) in enumerate(wanted):
            if self.lookup.is_odd(term):
                place = self.picks.index(given.pick)
                self.failing[place] |= name < 0 or facts.is_own(name)
        self.dropped = False

    def _held(self, term: int) -> dict[object, list[Atom | None]]:
        """The atoms that a term's values have, by the number that is added for them."""
        column, found = self.lookup.columns[term], dict[object, list[Atom | None]]()
        assert column is not None
        for number, atom in zip(self.lookup.whole(term), column.atoms, strict=True):
            if atom is not None:
                some = found.setdefault(number, [])
                some += [one for one in (kinds(atom) if column.loose else [atom])
                         if all(type(one) is not type(other) for other in some)]  # fmt: skip
        return found

    def _fits(self, vector: Vector) -> bool:
        """Whether sums of this kind are those of an input in question."""
        for count, alone, failing in zip(vector, self.alone, self.failing, strict=False):
            if count > 1 and (alone or failing):
                self.dropped |= not alone
                return False
        return True

    def relation(self, context: Sequence[Name], by_length: bool) -> Relation:
        facts, queries = self.facts, self.lookup.queries
        kept = [*(name for name in queries.names if name in context), *([LENGTH] * by_length)]
        tables, total = [np.zeros((0, len(kept) + len(self.wanted)), int)], 0
        for known, vectors in self._cases(kept):
            states = self._states(vectors)
            total += len(known) * len(states)
            if total > 4 * facts.budget.rows:
                raise TooMuch("rows", f"a head can give {total:,} rows")
            tables.append(times(known, states))
        facts.partial |= self.dropped
        self._check_kinds()
        names = (*kept, *(name for name, _ in self.wanted))
        return Relation(names, distinct(np.vstack(tables)))

    def _cases(self, kept: Sequence[Name]) -> Iterator[tuple[Array, set[Vector]]]:
        """What queries know, at each length, and the sums that they can get."""
        timed = self.facts.space((*self.lookup.queries.names, LENGTH))
        fits = self._fits if any(self.alone) or any(self.failing) else None
        places, reached = timed.places(self.lookup.queries), list(reach(self.lookup, fits))
        kind_of = np.full(len(self.lookup.queries) + 1, -1)
        for kind, part in enumerate(reached):
            kind_of[part.rows] = kind
        ids = np.stack([kind_of[places], timed.states(LENGTH)], axis=1)
        table = distinct(np.hstack([ids, timed.columns(kept)])[kind_of[places] >= 0])
        pending: dict[tuple[int, bytes], tuple[Array, set[Vector]]] = {}
        for alike in groups(codes_of(table[:, :2])[0]):
            (kind, length), rows = table[alike[0], :2].tolist(), table[alike, 2:]
            _, sums = pending.setdefault((kind, rows.tobytes()), (rows, set()))
            sums.update(reached[kind].by_length[length])
        yield from pending.values()

    def _states(self, vectors: Iterable[Vector]) -> Array:
        """(row, thing): the states that all these are."""
        memo: dict[tuple[int, int, int], list[int]] = {}
        rows: list[tuple[int, ...]] = []
        count = len(self.picks)
        where = [self.picks.index(given.pick) for _, given in self.wanted]
        for vector in vectors:
            options = []
            for term, pick in enumerate(where):
                key = term, vector[pick], vector[count + term]
                if key not in memo:
                    memo[key] = self._states_of(*key)
                options.append(memo[key])
            rows += product(*options)
        return np.array(rows, int).reshape(len(rows), len(where))

    def _states_of(self, term: int, count: int, total: int) -> list[int]:
        name, given = self.wanted[term]
        return [self.facts.state(name, atom) for atom in self._atoms(given, term, count, total)]

    def _atoms(self, given: Given, term: int, count: int, total: int) -> list[Atom | None]:
        """What a query gets that picks so many keys, of such a sum; a lone pick is as it is."""
        unit = self.lookup.units[term]
        if given.is_sum:
            if not unit:
                raise Refused("a head adds up what is no number")
            return [Fraction(total, unit)]
        if count == 0:
            return [given.default]
        if count == 1:
            return self.held[term][total]
        if not unit:
            raise Refused("a head averages what has no mean")
        mean = Fraction(total, unit * count)
        self.facts.partial |= (
            max(mean.numerator.bit_length(), mean.denominator.bit_length()) > MOST_BITS
        )
        return [mean]

    def _check_kinds(self) -> None:
        """A sequence is of strings or of numbers: else the program may fail."""
        for name, _ in self.wanted:
            atoms = self.facts.atoms.get(name, [])
            self.facts.partial |= len({number_of(atom)[0] for atom in atoms}) > 1
