"""A program and a distribution of inputs make a task: what a transformer is trained to do.

A task is data, so that it can be written into a run's configuration and read back: the program is
its text, the distribution is an alphabet, a range of lengths, a BOS and the name of a way to draw
(`rasp.models.training.random_inputs`). Targets are never stated: the program gives them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from rasp.base.atoms import Atom, PythonAtom, from_python, show
from rasp.base.errors import RaspTypeError, RaspValueError
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
        if self.bos in self.alphabet:
            raise RaspValueError(
                f"the BOS {show(self.bos or '')} is in the alphabet too",
                hint="a BOS is at the beginning and nowhere else: choose another token",
            )

    @property
    def vocabulary(self) -> tuple[Atom, ...]:
        """Every token an input can hold; the BOS comes last."""
        bos = () if self.bos is None else (self.bos,)
        return (*(from_python(token) for token in self.alphabet), *bos)

    @property
    def longest(self) -> int:
        """The most positions of an input, the BOS among them."""
        return self.lengths[1] + (self.bos is not None)

    @property
    def handle(self) -> Handle:
        """The s-op to be learnt, with the program it belongs to."""
        return s_op_of(self.name, self.program, self.output)


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
