"""A program and a distribution of inputs make a task: what a transformer is trained to do.

A task is data, so that it can be written into a run's configuration and read back: the program is
its text, the distribution is an alphabet, a range of lengths, a BOS and the name of a way to draw
(`rasp.models.training.random_inputs`). Targets are never stated: the program gives them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from rasp.base.atoms import Atom, PythonAtom, from_python, show
from rasp.base.errors import RaspTypeError, RaspUnsupportedError, RaspValueError
from rasp.insight.schedule.patterns import Pattern, stays_within
from rasp.language.embedding.handles import Handle
from rasp.language.embedding.namespace import run as run_text
from rasp.language.graph import SOp
from rasp.models.training.random_inputs import WAYS


@dataclass(frozen=True)
class TrainingTask:
    """What to learn: the s-op `output` of `program`, on inputs drawn as the rest says.

    >>> TrainingTask("copy", "same = tokens;", "same", ("a", "b"), lengths=(1, 4)).vocabulary
    ('a', 'b')
    """

    name: str
    program: str
    output: str
    alphabet: tuple[PythonAtom, ...]
    lengths: tuple[int, int] = (1, 100)
    """Fewest and most tokens of an input, the BOS not counted."""
    bos: str | None = None
    """The token every input begins with, if any. The output there is not learnt."""
    way: str = "uniform"
    """How inputs are drawn: a name in `rasp.models.training.random_inputs.WAYS`."""
    clip: int | None = None
    """Targets above this number count as this number."""
    causal: bool = False
    """Whether a position of the model sees only those before it; the program must not need more."""
    after: str | None = None
    """The token that a prompt ends with, where the program generates. What it appends is learnt."""

    def __post_init__(self) -> None:
        if not self.alphabet or len(set(self.alphabet)) < len(self.alphabet):
            raise RaspValueError(
                f"the alphabet of `{self.name}` needs tokens, each once",
                hint="give a string of different characters, such as abc",
            )
        if not 1 <= self.lengths[0] <= self.lengths[1]:
            raise RaspValueError(
                f"inputs of {self.lengths[0]} to {self.lengths[1]} tokens cannot be drawn",
                hint="give the fewest tokens first, and at least 1",
            )
        if self.way not in WAYS:
            raise RaspValueError(
                f"`{self.way}` is not a way to draw inputs", hint="ways are " + ", ".join(WAYS)
            )
        if self.after is not None and (self.bos is not None or not self.causal):
            raise RaspValueError(
                "a program that generates is learnt by a causal model, and its prompts have no BOS",
                hint="leave out the BOS, and say `causal=True` (`--next-token`)",
            )
        if self.bos in self.alphabet:
            raise RaspValueError(
                f"the BOS {show(self.bos or '')} is in the alphabet too",
                hint="a BOS is at the beginning and nowhere else: choose another token",
            )

    @property
    def vocabulary(self) -> tuple[Atom, ...]:
        """Every token an input can hold; the end of prompts and the BOS come last."""
        more = [mark for mark in (self.after, self.bos) if mark and mark not in self.alphabet]
        return (*(from_python(token) for token in self.alphabet), *more)

    @property
    def handle(self) -> Handle:
        """The s-op to be learnt; refused where it is to be causal and may look at later positions.

        >>> later = "flip = aggregate(select(indices, length - 1 - indices, ==), tokens);"
        >>> TrainingTask("flip", later, "flip", ("a", "b"), causal=True).handle
        Traceback (most recent call last):
        rasp.base.errors.RaspUnsupportedError: error: `flip` may look at later positions...
        """
        handle = s_op_of(self.name, self.program, self.output)
        if self.causal and not stays_within(Pattern("causal"), [handle.node]):
            raise RaspUnsupportedError(
                f"`{self.output}` may look at later positions, which a causal model cannot",
                hint="add `and select(indices, indices, <=)` to its selectors",
            )
        return handle


@cache
def s_op_of(name: str, program: str, output: str) -> Handle:
    """Return the s-op of a program's text that is to be learnt."""
    names = run_text(program, name)
    if output not in names:
        defined = ", ".join(f"`{name}`" for name in names) or "nothing"
        raise RaspValueError(f"the program has no `{output}`", hint=f"it defines {defined}")
    value = names[output]
    if not isinstance(value, Handle) or not isinstance(value.node, SOp):
        raise RaspTypeError(
            f"`{output}` is not an s-op, so there is nothing to predict at each position",
            hint="name an s-op; a selector can be learnt through what aggregates over it",
        )
    return value
