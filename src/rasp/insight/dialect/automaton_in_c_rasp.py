"""A complete decomposition in, the C-RASP formula that accepts the same inputs out.

A position knows in which state it is read as follows. Each component is entered at most once, by
a step that can be seen where it is taken; a component's counters sum the weights of all steps
since then, and are right until the component is left. So the *first* step that seems to leave is
the one that does, whatever the counters say afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property

from rasp.insight.dialect.automaton import Automaton
from rasp.insight.dialect.c_rasp import CountSum, CRasp, constant
from rasp.insight.dialect.decomposition import Component, Decomposition
from rasp.insight.dialect.named_lines import Truth


def c_rasp_of(decomposition: Decomposition) -> str:
    """A program in C-RASP whose line `accept` holds after exactly the accepted inputs.

    >>> from rasp.insight.dialect.decomposition import decompose
    >>> from rasp.insight.dialect.regular_expression import automaton_of
    >>> from rasp.insight.dialect.interpreters import run_c_rasp
    >>> text = c_rasp_of(decompose(automaton_of("(ab)*")))
    >>> run_c_rasp(text, ["abab"])["accept"].tolist()
    [[False, True, False, True]]
    """
    program = CRasp()
    return program.text({"accept": _Following(decomposition, program).accepted()})


class _Following:
    """Knows the truth "this position is read in that state", state by state."""

    def __init__(self, decomposition: Decomposition, program: CRasp) -> None:
        self.automaton: Automaton = decomposition.automaton
        self.program = program
        self.entries: dict[int, list[Truth]] = {}
        """For each state, the steps by which its component is entered there."""
        self.read_in: dict[int, Truth] = {}
        for component in _in_order(decomposition):
            self._follow(component)

    def accepted(self) -> Truth:
        steps = [
            self.program.both([self.read_in[state], self.program.letter(letter)])
            for state, row in enumerate(self.automaton.moves)
            for letter, after in zip(self.automaton.alphabet, row, strict=True)
            if after in self.automaton.accepting
        ]
        return self.program.either(steps)

    def _follow(self, component: Component) -> None:
        """Work out where each state of a component is the one a position is read in."""
        program = self.program
        entered = {
            state: program.true if state == 0 else self._happened(self.entries.get(state, []))
            for state in component.states
        }
        counting = _Counting(self.automaton, component, entered, program)
        seems = {state: counting.says(state) for state in component.states}
        leaving = self._leaving(component, seems)
        stays = program.negated(self._happened([step for _, step in leaving]))
        for state in component.states:
            self.read_in[state] = program.both([seems[state], stays])
        for after, step in leaving:
            self.entries.setdefault(after, []).append(program.both([step, stays]))

    def _leaving(self, component: Component, seems: Mapping[int, Truth]) -> list[tuple[int, Truth]]:
        """The steps that lead out of a component, each with where it leads."""
        return [
            (after, self.program.both([seems[state], self.program.letter(letter)]))
            for state in component.states
            for letter, after in zip(
                self.automaton.alphabet, self.automaton.moves[state], strict=True
            )
            if after not in component.states
        ]

    def _happened(self, steps: list[Truth]) -> Truth:
        """Whether any of these steps was taken before this position."""
        program = self.program
        return program.negated(program.at_most_zero(program.before(program.either(steps))))


class _Counting:
    """The counters of one component: what they say of the state a position is read in."""

    def __init__(
        self,
        automaton: Automaton,
        component: Component,
        entered: Mapping[int, Truth],
        program: CRasp,
    ) -> None:
        self.automaton = automaton
        self.component = component
        self.entered = {state: truth for state, truth in entered.items() if truth != program.false}
        self.program = program

    @cached_property
    def inside(self) -> Truth:
        """Whether the component was entered before this position."""
        return self.program.either(self.entered.values())

    def says(self, state: int) -> Truth:
        """Whether the counters say that this position is read in a state."""
        rounds = len(self.component.stages)
        return self.program.either(
            self.program.both([was_entered, self._sums_are(rounds, entry, state)])
            for entry, was_entered in self.entered.items()
        )

    def _sums_are(self, rounds: int, entry: int, state: int) -> Truth:
        """Whether the first rounds of counters hold what they hold at a state."""
        conditions = []
        for number, stage in enumerate(self.component.stages[:rounds]):
            for place, counter in enumerate(stage.counters):
                wanted = counter.sums[state] - counter.sums[entry]
                total = self._sum(number, place, entry).plus(constant(-wanted))
                conditions.append(self.program.is_zero(total))
        return self.program.both(conditions)

    def _sum(self, number: int, place: int, entry: int) -> CountSum:
        """The weights of all steps since the component was entered, before this position."""
        total = CountSum()
        for (letter, group), weight in (
            self.component.stages[number].counters[place].weights.items()
        ):
            step = self.program.both(
                [
                    self.program.letter(self.automaton.alphabet[letter]),
                    self.inside,
                    self._is_known(number, group, entry),
                ]
            )
            total = total.plus(self.program.before(step), Fraction(weight))
        return total

    def _is_known(self, number: int, group: int, entry: int) -> Truth:
        """Whether the rounds before say what a step's weight depends on."""
        states = self.component.stages[number].known
        return self.program.either(
            self._sums_are(number, entry, state) for state in states if states[state] == group
        )


def _in_order(decomposition: Decomposition) -> list[Component]:
    """Components in an order in which each comes after those that lead to it."""
    automaton = decomposition.automaton
    component_of = {
        state: component for component in decomposition.components for state in component.states
    }
    order: list[Component] = []

    def visit(component: Component) -> None:
        for state in component.states:
            for after in automaton.moves[state]:
                following = component_of[after]
                if following is not component and following not in order:
                    visit(following)
        order.append(component)

    visit(component_of[0])
    return order[::-1]
