"""An automaton in, its decomposition into counters out: or the two states none tells apart.

C-RASP can follow an automaton from component to component (a strongly connected component is
left at most once), and inside one by counting: give every letter a whole number such that every
cycle sums to zero. The sum since the component was entered then depends on the state alone, and
states with different sums are told apart. Knowing that much of the state, a second counter may
weigh each letter by what is known of the state it is read in, and so on. The decomposition is
*complete* when every state is told apart from every other of its component.

A language whose minimal automaton decomposes so is in C-RASP: `c_rasp_of_automaton` writes the
program. That the others are not is the decomposition criterion of arXiv:2608.13433; for all of
its 125 labelled languages both answers agree with the labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from rasp.insight.dialect.automaton import Automaton

WeighedStep: TypeAlias = tuple[int, int]
"""A letter's place in the alphabet, and what was known of the state in which it is read."""
Vector: TypeAlias = dict[WeighedStep, Fraction]


@dataclass(frozen=True)
class StateCounter:
    """Whole numbers for steps that sum to zero on every cycle, and the sum at each state."""

    weights: Mapping[WeighedStep, int]
    sums: Mapping[int, int]
    """For each state of the component, the sum on any way from its first state."""


@dataclass(frozen=True)
class Stage:
    """The counters that one round can have, and what is known of each state before them."""

    known: Mapping[int, int]
    counters: tuple[StateCounter, ...]


@dataclass(frozen=True)
class Component:
    """A strongly connected component, and the rounds of counting that tell its states apart."""

    states: tuple[int, ...]
    stages: tuple[Stage, ...]
    known: Mapping[int, int]
    """What is known of each state in the end: equal numbers are not told apart."""

    @property
    def confused(self) -> tuple[int, int] | None:
        """Two states that no counter tells apart; None: there are none."""
        first: dict[int, int] = {}
        for state in self.states:
            if first.setdefault(self.known[state], state) != state:
                return first[self.known[state]], state
        return None


@dataclass(frozen=True)
class Decomposition:
    """An automaton, component by component."""

    automaton: Automaton
    components: tuple[Component, ...]

    @property
    def confused(self) -> tuple[int, int] | None:
        """Two states that no counter tells apart; None: the decomposition is complete."""
        pairs = (component.confused for component in self.components)
        return next((pair for pair in pairs if pair is not None), None)


def decompose(automaton: Automaton) -> Decomposition:
    """Decompose an automaton into counters, as far as that goes.

    >>> from rasp.insight.dialect.regular_expression import automaton_of
    >>> decompose(automaton_of("(ab)*")).confused is None
    True
    >>> decompose(automaton_of("(aa)*")).confused
    (0, 1)
    """
    return Decomposition(
        automaton, tuple(_component(automaton, states) for states in automaton.components)
    )


def _component(automaton: Automaton, states: tuple[int, ...]) -> Component:
    known = dict.fromkeys(states, 0)
    stages: list[Stage] = []
    while True:
        counters = _counters(automaton, states, known)
        sums = {state: tuple(counter.sums[state] for counter in counters) for state in states}
        numbers: dict[tuple[int, tuple[int, ...]], int] = {}
        refined = {
            state: numbers.setdefault((known[state], sums[state]), len(numbers)) for state in states
        }
        if len(numbers) == len(set(known.values())):
            return Component(states, tuple(stages), known)
        stages.append(Stage(known, counters))
        known = refined


def _counters(
    automaton: Automaton, states: tuple[int, ...], known: Mapping[int, int]
) -> tuple[StateCounter, ...]:
    """A basis of the weights that sum to zero on every cycle, less those that tell nothing."""
    ways, cycles = _ways_and_cycles(automaton, states, known)
    steps = sorted({step for vector in (*ways.values(), *cycles) for step in vector})
    counters = []
    for weights in _orthogonal(_reduced(cycles), steps):
        sums = {
            state: sum((times * weights[step] for step, times in way.items()), Fraction(0))
            for state, way in ways.items()
        }
        if any(sums.values()):
            scale = lcm(*(weight.denominator for weight in weights.values()))
            counters.append(
                StateCounter(
                    {step: int(weight * scale) for step, weight in weights.items() if weight},
                    {state: int(total * scale) for state, total in sums.items()},
                )
            )
    return tuple(counters)


def _ways_and_cycles(
    automaton: Automaton, states: tuple[int, ...], known: Mapping[int, int]
) -> tuple[dict[int, Vector], list[Vector]]:
    """How often a way to each state takes each step; and the same of a basis of the cycles."""
    ways: dict[int, Vector] = {states[0]: {}}
    order = [states[0]]
    cycles: list[Vector] = []
    edges = []
    for state in order:  # grows while it is read
        for letter, after in enumerate(automaton.moves[state]):
            if after not in known:
                continue
            edges.append((state, letter, after))
            if after not in ways:
                ways[after] = _plus(ways[state], {(letter, known[state]): Fraction(1)})
                order.append(after)
    for state, letter, after in edges:
        there = _plus(ways[state], {(letter, known[state]): Fraction(1)})
        cycles.append(_plus(there, ways[after], Fraction(-1)))
    return ways, [cycle for cycle in cycles if cycle]


def _plus(one: Vector, other: Vector, factor: Fraction = Fraction(1)) -> Vector:
    total = dict(one)
    for step, times in other.items():
        total[step] = total.get(step, Fraction(0)) + factor * times
    return {step: times for step, times in total.items() if times}


def _reduced(vectors: list[Vector]) -> dict[WeighedStep, Vector]:
    """Gauss and Jordan: independent rows, each 1 at a step at which all others are 0."""
    rows: dict[WeighedStep, Vector] = {}
    for given in vectors:
        vector = given
        for pivot, row in rows.items():
            if pivot in vector:
                vector = _plus(vector, row, -vector[pivot])
        if not vector:
            continue
        pivot = min(vector)
        vector = {step: times / vector[pivot] for step, times in vector.items()}
        rows = {
            other: _plus(row, vector, -row[pivot]) if pivot in row else row
            for other, row in rows.items()
        }
        rows[pivot] = vector
    return rows


def _orthogonal(rows: Mapping[WeighedStep, Vector], steps: list[WeighedStep]) -> list[Vector]:
    """A basis of the weights under which every row sums to zero: one for each free step."""
    basis = []
    for free in steps:
        if free in rows:
            continue
        weights = dict.fromkeys(steps, Fraction(0))
        weights[free] = Fraction(1)
        for pivot, row in rows.items():
            weights[pivot] = -row.get(free, Fraction(0))
        basis.append(weights)
    return basis
