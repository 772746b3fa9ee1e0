"""Adapters: which ids are which tokens, and what logits answer.

Adapters are guessed for the models that we know (`model_files`), and always printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rasp.base.atoms import Atom, from_python, show
from rasp.base.errors import RaspTypeError, RaspValueError
from rasp.language.graph import Node
from rasp.models.proving.digits import Array
from rasp.models.proving.network_table import Network, PoolPositions, every_step

PLACES = {
    "each": "an answer at each position",
    "last": "one answer, at the last position",
    "first": "one answer, at the first position",
    "whole": "one answer for the whole input",
}
MOST_SHOWN = 12


@dataclass(frozen=True)
class Adapter:
    """How inputs become ids, and logits answers.

    A program's answer is its value at each position, or its value at the last one where the model
    gives one answer.

    >>> adapter = Adapter(tokens="01", ids=(5, 6), before=(1,), after=(2,),
    ...                   answers=(False, True), at="last")
    >>> print(adapter.describe().splitlines()[0])
    ids: 5 is "0", 6 is "1"; before every input 1, after it 2
    """

    tokens: tuple[Atom, ...]
    """What inputs are made of."""
    ids: tuple[int, ...]
    """The id of each."""
    answers: tuple[Atom, ...]
    """What each logit means; with `codes`, what the nearest code means."""
    at: str = "each"
    """Where answers are read: "each", "last", "first" or "whole"."""
    before: tuple[int, ...] = ()
    """Ids put before every input, such as that of a BOS; their logits are left out."""
    after: tuple[int, ...] = ()
    fill: int | None = None
    """An id that fills up every input to the model's longest."""
    shortest: int = 1
    longest: int | None = None
    """How many tokens an input has, at most."""
    first: Atom | None = None
    """A token that every input begins with, and holds nowhere else."""
    ignored: int = 0
    """How many positions at the start of an input are not compared."""
    logits: tuple[int, int] | None = None
    """Which logits are answers; None: all."""
    codes: tuple[float, ...] = ()
    """Where the model's answer is a number: the code of each answer, in ascending order."""
    where: Node | None = None
    """What the model promises inputs fulfil, at every position."""
    source: str = "as you said"
    """How all this is known."""

    def __post_init__(self) -> None:
        for name in ("tokens", "answers"):
            atoms = tuple(from_python(atom) for atom in getattr(self, name))
            object.__setattr__(self, name, atoms)
        if len(self.ids) != len(self.tokens) or not self.tokens:
            raise RaspValueError(
                f"an adapter has {len(self.tokens)} tokens and {len(self.ids)} ids",
                hint="give one id for each token",
            )
        if self.at not in PLACES:
            raise RaspValueError(
                f"`{self.at}` is not where answers are read",
                hint=f"choose from {', '.join(PLACES)}",
            )

    @cached_property
    def numbers(self) -> dict[str | float, int]:
        """The number of each answer: that of the first logit or code that means it."""
        numbers: dict[str | float, int] = {}
        for place, atom in enumerate(self.answers):
            numbers.setdefault(key(atom), place)
        return numbers

    @cached_property
    def meanings(self) -> Array:
        """For each logit or code, the number of its answer: several may mean one."""
        return np.array([self.numbers[key(atom)] for atom in self.answers], np.int64)

    def rows(self, places: Array, length: int, longest: int | None) -> Array:
        """Ids of inputs that are given as places in `tokens` (input, position).

        >>> Adapter("ab", (3, 4), (0, 1), before=(9,)).rows(np.array([[0, 1]]), 2, None).tolist()
        [[9, 3, 4]]
        """
        ids = np.array(self.ids, np.int64)[places]
        rest = list(self.after)
        if self.fill is not None and longest is not None:
            rest += [self.fill] * (longest - len(self.before) - length - len(rest))
        parts = [np.tile(np.array(part, np.int64), (len(ids), 1)) for part in (self.before, rest)]
        return np.concatenate([parts[0], ids, parts[1]], axis=1)

    def read_at(self, length: int) -> slice | int:
        """Which columns of the rows the answers are read at.

        >>> Adapter("ab", (3, 4), (0, 1), before=(9,)).read_at(2)
        slice(1, 3, None)
        """
        match self.at:
            case "each":
                return slice(len(self.before) + self.ignored, len(self.before) + length)
            case "first":
                return 0
        return -1

    def describe(self) -> str:
        """Say what is assumed, in a few lines.

        >>> print(Adapter("ab", (3, 4), (0, 1)).describe().splitlines()[2])
        adapter: as you said
        """
        named = [f"{number} is {show(token)}"
                 for number, token in zip(self.ids, self.tokens, strict=True)]  # fmt: skip
        around = [f"{side} {', '.join(map(str, ids))}"
                  for side, ids in (("before every input", self.before), ("after it", self.after))
                  if ids]  # fmt: skip
        if self.fill is not None:
            around.append(f"filled up with {self.fill}")
        start = self.logits[0] if self.logits else 0
        means = [f"{start + number if not self.codes else self.codes[number]:g} is {show(atom)}"
                 for number, atom in enumerate(self.answers)]  # fmt: skip
        kind = "codes" if self.codes else "logits"
        return "\n".join([
            f"ids: {_some(named)}; {', '.join(around) or 'nothing before or after an input'}",
            f"answers: {PLACES[self.at]}; {kind}: {_some(means)}",
            f"adapter: {self.source}",
        ])  # fmt: skip


def _some(items: Sequence[str]) -> str:
    return ", ".join(items[:MOST_SHOWN]) + (", …" if len(items) > MOST_SHOWN else "")


def key(atom: Atom) -> str | float:
    """What atoms that are the same answer share: 1, True and 1.0 are one.

    >>> key(True) == key(1), key("1") == key(1)
    (True, False)
    """
    return atom if isinstance(atom, str) else float(atom)


def check_fits(network: Network, adapter: Adapter) -> None:
    """Refuse an adapter that speaks of ids, logits or places that the network does not have."""
    largest = max([*adapter.ids, *adapter.before, *adapter.after, adapter.fill or 0])
    if largest >= len(network.tokens) or min(adapter.ids) < 0:
        raise RaspValueError(
            f"the adapter has id {largest}, and the model only ids below {len(network.tokens)}",
            hint="does the tokenizer belong to this model?",
        )
    start, stop = adapter.logits or (0, network.logits)
    count = 1 if adapter.codes else len(adapter.answers)
    if stop > network.logits or stop - start != count:
        raise RaspValueError(
            f"the adapter reads {count} logits, and the model has {network.logits}",
            hint="say which answer each logit means (`answers=`), and which are read (`logits=`)",
        )
    if adapter.codes and len(adapter.codes) != len(adapter.answers):
        raise RaspValueError("the adapter has as many codes as answers", hint="give one for each")
    if any(isinstance(step, PoolPositions) for step in every_step(network.steps)) != (
        adapter.at == "whole"
    ):
        raise RaspTypeError(
            "a model that pools its positions answers for the whole input, and only such a model",
            hint='use `at="whole"` with `pool=` in the architecture',
        )
