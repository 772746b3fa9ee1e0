"""What a decoder learns: a causal program, and how its inputs are drawn.

There are two kinds. An *answering* program says something at every position, and the decoder
learns all of it. A *generating* program is asked for the next token again and again after a
prompt, and the decoder learns what it appends. Either way a position sees only what came before,
so one evaluation of a whole sequence says what is right at each of its positions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from rasp.base.atoms import PythonAtom
from rasp.base.errors import RaspUnsupportedError
from rasp.insight.schedule.patterns import Pattern, stays_within
from rasp.language.embedding.handles import Handle
from rasp.models.training.tasks import s_op_of

Draw = Callable[[np.random.Generator, int], list[PythonAtom]]
"""Draws an input (a prompt) of a length."""


@dataclass(frozen=True)
class NextToken:
    """A program to learn, and the inputs to learn it on."""

    name: str
    program: str
    output: str
    alphabet: tuple[PythonAtom, ...]
    """Every token that an input, a prompt or a continuation can hold."""
    draw: Draw
    generates: bool = False
    guess: Callable[[Sequence[PythonAtom]], list[PythonAtom]] | None = None
    """What the program appends, computed another way: it is only ever checked against it."""

    @property
    def handle(self) -> Handle:
        """The s-op to be learnt; refused where a head may look at later positions."""
        return _causal(self.name, self.program, self.output)


def own_task(
    program: str, output: str, alphabet: Sequence[PythonAtom], after: str | None = None
) -> NextToken:
    """Anyone's causal program, on inputs drawn uniformly; with `after`, prompts end so.

    >>> own_task("again = has_prev(tokens);", "again", "ab").handle("aba")
    [False, False, True]
    """

    def draw(random: np.random.Generator, length: int) -> list[PythonAtom]:
        chosen = [alphabet[number] for number in random.integers(0, len(alphabet), length)]
        return chosen if after is None else [*chosen, after]

    every = tuple(dict.fromkeys([*alphabet, *([] if after is None else [after])]))
    return NextToken(output, program, output, every, draw, generates=after is not None)


@cache
def _causal(name: str, program: str, output: str) -> Handle:
    handle = s_op_of(name, program, output)
    if not stays_within(Pattern("causal"), [handle.node]):
        raise RaspUnsupportedError(
            f"`{output}` may look at later positions, which a decoder cannot",
            hint="add `and select(indices, indices, <=)` to its selectors",
        )
    return handle
