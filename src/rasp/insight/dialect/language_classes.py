"""A minimal automaton in, the classes its language belongs to out, each with a witness.

Star-free (McNaughton and Papert): no input permutes states in a circle. R-trivial: no state can
be left and come back to. In C-RASP: see `decomposition`. B-RASP recognises exactly the star-free
languages (Yang, Chiang and Angluin, 2024).

Where a language's answer is read matters to C-RASP alone: at an end token after the input, as in
the published labels, or at the last token, which a program of ours sees as it answers there.

Membership in C-RASP is the best predictor known of whether a decoder that was trained on short
inputs goes on being right on longer ones (`forecast`). It is not a guarantee: not even for C-RASP
of two layers is there a computable bound on the length up to which one must train.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rasp.base.atoms import Atom, show_input
from rasp.base.terminal_text import visibly
from rasp.insight.dialect.automaton import Automaton
from rasp.insight.dialect.decomposition import Decomposition, decompose

MOST_MOVES = 50_000
"""Different effects of inputs on the states that are looked at; more is left undecided."""
TITLES = {
    "star_free": "star-free (B-RASP)",
    "r_trivial": "R-trivial",
    "c_rasp": "C-RASP",
    "c_rasp_at_last": "C-RASP at last",
}
"""The classes, by the names of their answers."""


@visibly
@dataclass(frozen=True)
class Membership:
    """Whether a language is in a class (None: not decided), and what shows it."""

    holds: bool | None
    witness: str

    def __str__(self) -> str:
        word = {True: "yes", False: "no", None: "not decided"}[self.holds]
        return f"{word}: {self.witness}"

    __repr__ = __str__


@visibly
@dataclass(frozen=True)
class Classes:
    """What is known of a regular language.

    >>> from rasp.insight.dialect.regular_expression import automaton_of
    >>> classes(automaton_of("(aa)*")).star_free.holds
    False
    """

    automaton: Automaton
    star_free: Membership
    r_trivial: Membership
    c_rasp: Membership
    """Where the answer is read after the input, at an end token: the published convention."""
    c_rasp_at_last: Membership
    """Where it is read at the last token, which is then seen: the convention of programs."""
    decomposition: Decomposition

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON-able data.

        >>> from rasp.insight.dialect.regular_expression import automaton_of
        >>> classes(automaton_of("a*")).as_dict()["star_free"]["in"]
        True
        """
        return {"states": self.automaton.size} | {
            name: {"in": getattr(self, name).holds, "witness": getattr(self, name).witness}
            for name in TITLES
        }

    def __str__(self) -> str:
        return "\n".join(f"{title + ':':20}{getattr(self, name)}" for name, title in TITLES.items())

    __repr__ = __str__


def classes(automaton: Automaton) -> Classes:
    """Decide which classes the language of an automaton belongs to.

    >>> from rasp.insight.dialect.regular_expression import automaton_of
    >>> print(classes(automaton_of("(ab)*")))
    star-free (B-RASP): yes: no input takes states round in a circle
    R-trivial:          no: "a" leads from state 0 to state 1, and "b" back
    C-RASP:             yes: 1 round of counters tells the states of each component apart
    C-RASP at last:     yes: for every last token, what comes before it is in C-RASP
    """
    smallest = automaton.minimal()
    decomposition = decompose(smallest)
    return Classes(
        smallest,
        _star_free(smallest),
        _r_trivial(smallest),
        _c_rasp(decomposition),
        _c_rasp_at_last(smallest),
        decomposition,
    )


def _r_trivial(automaton: Automaton) -> Membership:
    for states in automaton.components:
        if len(states) > 1:
            first, second = states[:2]
            there = show_word(automaton.word_between(first, second))
            back = show_word(automaton.word_between(second, first))
            told = f"{there} leads from state {first} to state {second}, and {back} back"
            return Membership(False, told)
    return Membership(True, "a state that is left is never entered again")


def _c_rasp(decomposition: Decomposition) -> Membership:
    confused = decomposition.confused
    if confused is None:
        rounds = max(len(component.stages) for component in decomposition.components)
        how = {0: "order tells", 1: "1 round of counters tells"}.get(
            rounds, f"{rounds} rounds of counters tell"
        )
        return Membership(True, f"{how} the states of each component apart")
    first, second = (_reached_by(decomposition.automaton, state) for state in confused)
    return Membership(
        False,
        f"no counter tells state {confused[0]} (reached by {first}) "
        f"from state {confused[1]} (by {second})",
    )


def _c_rasp_at_last(automaton: Automaton) -> Membership:
    """Read at the last token, a program sees it: what came before decides the rest.

    So the language is in C-RASP where, for every letter, the inputs that may come before that
    letter are a language in C-RASP.
    """
    for letter in automaton.alphabet:
        before = frozenset(
            state
            for state in range(automaton.size)
            if automaton.state_after([letter], state) in automaton.accepting
        )
        smaller = Automaton(automaton.alphabet, automaton.moves, before).minimal()
        answer = _c_rasp(decompose(smaller))
        if not answer.holds:
            return Membership(
                False, f"what may come before {show_word((letter,))}: {answer.witness}"
            )
    return Membership(True, "for every last token, what comes before it is in C-RASP")


def _reached_by(automaton: Automaton, state: int) -> str:
    return "nothing" if state == 0 else show_word(automaton.word_between(0, state))


def show_word(word: tuple[Atom, ...] | None) -> str:
    """An input as people write it."""
    return "nothing" if not word else show_input(word)


def _star_free(automaton: Automaton) -> Membership:
    """Look at what every input does to the states, shortest inputs first."""
    for number, (word, effect) in enumerate(_effects(automaton)):
        circle = _circle(effect)
        if circle:
            states = ", ".join(map(str, circle))
            return Membership(False, f"{show_word(word)} takes states {states} round in a circle")
        if number > MOST_MOVES:
            return Membership(None, f"inputs act on the states in more than {MOST_MOVES} ways")
    return Membership(True, "no input takes states round in a circle")


def _effects(automaton: Automaton) -> Iterator[tuple[tuple[Atom, ...], tuple[int, ...]]]:
    """The elements of the transition monoid, each with a shortest input that acts so."""
    letters = list(zip(automaton.alphabet, zip(*automaton.moves, strict=True), strict=True))
    nothing = tuple(range(automaton.size))
    waiting: list[tuple[tuple[Atom, ...], tuple[int, ...]]] = [((), nothing)]
    seen = {nothing}
    for word, effect in waiting:  # grows while it is read
        yield word, effect
        for letter, move in letters:
            after = tuple(move[state] for state in effect)
            if after not in seen:
                seen.add(after)
                waiting.append(((*word, letter), after))


def _circle(effect: tuple[int, ...]) -> tuple[int, ...]:
    """States that an effect takes round in a circle of two or more; none: an empty tuple."""
    for start in range(len(effect)):
        state, way = start, [start]
        for _ in effect:
            state = effect[state]
            if state == start:
                break
            way.append(state)
        if state == start and len(way) > 1:
            return tuple(way)
    return ()


RECORD = (
    "of 125 published regular languages, membership predicted generalisation right for 97.6 % "
    "(arXiv:2608.13433)"
)
CAVEAT = (
    "no guarantee: how a decoder knows positions matters, and no computable bound on the length "
    "exists even for C-RASP of two layers"
)


def forecast(is_in_c_rasp: bool | None) -> str:
    """Say what to expect of a program or language, and how good such expectations were.

    >>> print(forecast(True).splitlines()[0])
    forecast: C-RASP, so likely to generalise to longer inputs
    """
    if is_in_c_rasp is None:
        return "forecast: none: it is not in C-RASP as written, and its language is not known"
    expected = (
        "C-RASP, so likely to generalise to longer inputs"
        if is_in_c_rasp
        else "not in C-RASP, so unlikely to generalise to longer inputs"
    )
    return f"forecast: {expected}\n  record: {RECORD}\n  {CAVEAT}"
