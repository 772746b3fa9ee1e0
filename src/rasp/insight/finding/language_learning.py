"""A yes/no function as the language of an automaton, and that as a program.

Where no small program was found, L* learns the smallest automaton that answers alike; the
automaton becomes C-RASP, and that becomes RASP, line by line. It is seldom small, but its size
follows the language, where enumeration ends with the program's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rasp.base.atoms import Atom
from rasp.insight.dialect.automaton_in_c_rasp import c_rasp_of
from rasp.insight.dialect.language_classes import classes
from rasp.insight.dialect.learning import learn
from rasp.insight.dialect.written import DialectProgram
from rasp.language.embedding.handles import Handle
from rasp.language.graph import Aggregate, Const, Indices, Score, SelectBest
from rasp.language.graph.idioms import ALL_KEYS

LAST_KEY = SelectBest(ALL_KEYS, Score(Indices(), Const(1)))


def learned_program(
    alphabet: Sequence[Atom], accepts: Callable[[tuple[Atom, ...]], bool | None]
) -> Handle | None:
    """Return a program that answers, everywhere, whether the input is in a language.

    None where no small automaton fits, where it is none of C-RASP, or where the function does
    not answer every input.

    >>> odd = learned_program("ab", lambda tokens: tokens.count("a") % 2 == 1)
    >>> odd is None  # parity is not in C-RASP
    True
    >>> learned_program("ab", lambda tokens: "".join(tokens).startswith("ab"))("abb")
    [True, True, True]
    """

    def members(words: list[tuple[Atom, ...]]) -> list[bool]:
        said = [accepts(word) for word in words]
        if None in said:
            raise _Unanswered
        return [answer is True for answer in said]

    try:
        automaton = learn(alphabet, members).automaton
    except _Unanswered:
        return None
    if automaton is None:
        return None
    decided = classes(automaton)
    if not decided.c_rasp.holds:
        return None
    text = c_rasp_of(decided.decomposition)
    accept = DialectProgram(text, (("accept", True),), True, "C-RASP").in_rasp()
    return Handle(Aggregate(LAST_KEY, accept, False))


class _Unanswered(Exception):
    """The function does not answer some input."""
