"""A promise about inputs in; what is certain of the inputs that keep it, out.

The promise is a bool s-op, and the theorem is about the inputs on which it is true at every
position. Where it is an `and`, each of its conditions is, or is 2, or another atom that `and` takes
for true. Two rules use that:

- A combination of states in which a condition is false is one that no position has.
- Where a condition bounds a number w that adds up 1 for each key that is picked (and no less than
  0 for any other), no more keys are picked than w can be. Where w adds up 1 at most for each key
  that is picked, and 0 at most for any other, no fewer are.

What a condition is a function of is found without the promise (`ProvedValues.plain`): nothing that
is used to read it depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from rasp.language.graph import Const, Selector, SOp
from rasp.models.certificate.claims import Refused
from rasp.models.certificate.program.aggregates import taken
from rasp.models.certificate.program.tables import Array, Space, operands_of, places_among, typed

if TYPE_CHECKING:
    from rasp.models.certificate.program.domains import Domain
    from rasp.models.certificate.program.values import ProvedValues

Bounds = tuple[Fraction | None, Fraction]
"""The most (None where nothing is known) and the fewest keys that a query picks."""


class Promise:
    """What a promise says about spaces and about selectors."""

    def __init__(self, values: ProvedValues, where: SOp | None) -> None:
        self.values, self.plain = values, values.plain
        self.conditions = [] if where is None else operands_of(where, "and")
        self._bounds: dict[tuple[Selector, ...], Bounds] = {}

    def kept(self, space: Space) -> Array:
        """The combinations of a space in which every condition on its variables is true."""
        fine = np.ones(space.size, bool)
        for condition in self.conditions:
            try:
                over = self.plain.over(condition)
                if not over or not set(over) <= set(space.variables):
                    continue
                inner, column = self.plain.table(condition)
                rows = [self._states(variable, space) for variable in inner.variables]
            except Refused:
                continue
            holds = np.array([bool(atom) for atom in column.atoms])[column.places]
            sizes = self.plain.sizes(inner.variables)
            fine &= places_among(rows, inner.grid[:, holds], sizes) >= 0
        return np.asarray(space.grid[:, fine])

    def _states(self, variable: int, space: Space) -> Array:
        """(combination,): a variable's state, as it is numbered without the promise."""
        domain, plain = self.values.domain(variable), self.plain.domain(variable)
        row = space.row(variable)
        places = {key: place for place, key in enumerate(_keys(plain))}
        states = np.array([places.get(key, -1) for key in _keys(domain)], int)[row]
        if (states < 0).any():
            raise Refused("a variable is more with the promise than without it")
        return np.asarray(states)

    def bounds(self, selectors: Sequence[Selector]) -> Bounds:
        """How many keys some selectors, joined by `and`, pick."""
        key = tuple(selectors)
        if key not in self._bounds:
            most, least = None, Fraction(0)
            for condition in self.conditions:
                try:
                    high, low = self._counted(condition, key)
                except Refused:
                    continue
                most = high if most is None or (high is not None and high < most) else most
                least = max(least, low)
            self._bounds[key] = most, least
        return self._bounds[key]

    def _counted(self, condition: SOp, selectors: tuple[Selector, ...]) -> Bounds:
        """Compare what each key adds to the number of a condition with whether it is picked."""
        values = self.plain
        over = values.over(condition)
        if len(over) != 1 or not values.is_number(over[0]):
            raise Refused("a condition is not about a number")
        (variable,) = over
        numbers, (space, column) = values.numbers(variable), values.table(condition)
        allowed = [numbers[state] for state, place in zip(space.grid[0], column.places, strict=True)
                   if column.atoms[place]]  # fmt: skip
        linear = values.linear_of(variable)
        terms = linear.output_weights()
        if not allowed or terms is None:
            raise Refused("a condition is not about a sum over keys")
        at_least = at_most = True
        for cases, added in taken(values, terms, Const(1), selectors):
            picked = cases.holds(*selectors)
            at_least &= bool((added >= picked).all())
            at_most &= bool((added <= picked).all())
        return (
            max(allowed) - linear.constant if at_least else None,
            min(allowed) - linear.constant if at_most else Fraction(0),
        )


def _keys(domain: Domain) -> list[tuple[object, ...]]:
    numbers = domain.numbers or [Fraction(0)] * domain.size
    return [(typed(atom), number) for atom, number in zip(domain.atoms, numbers, strict=True)]
