"""A model, a program and which inputs, put together: everything that a worker needs to check some.

A `ProofTask` is plain data. `answer_part` is a pure function of it and a range of inputs: parts
may be spread over threads or machines, and done again where a worker is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from rasp.base.atoms import Atom, show
from rasp.base.errors import RaspError, RaspValueError
from rasp.insight.equivalence.sides import Input
from rasp.models.proving.adapter import Adapter, check_fits
from rasp.models.proving.digits import Array, Digits, Float64, ManyDigits
from rasp.models.proving.double_double import DoubleDouble
from rasp.models.proving.enclosures import Balls
from rasp.models.proving.margins import Leads, leads
from rasp.models.proving.network_table import Affine, Network, forward
from rasp.models.proving.prefixes import lay_out, words
from rasp.models.proving.single_precision import Single
from rasp.models.proving.specification import ANYTHING, Specification, classes

NUMBERS_AT_ONCE = 4_000_000
"""Of a batch, at its widest: 32 MB in float64, and about ten such arrays at a time."""
MOST_ROWS = 4096
DIGITS: tuple[Callable[[], Digits], ...] = (
    Float64, DoubleDouble, ManyDigits,
)  # fmt: skip
"""From few digits to many: an input gets the first that decide it."""
LEVELS = len(DIGITS)
NOTHING = -3
"""What a model answers where its logits are not numbers."""


@dataclass(frozen=True, eq=False)
class ProofTask:
    """Does the network answer as the program does?"""

    network: Network
    adapter: Adapter
    program: Specification
    alphabet: tuple[Atom, ...]
    """The tokens that inputs are made of, but for the first where the adapter has one."""
    promises: tuple[Specification, ...] = ()
    runs_only: bool = False
    """Whether to run float32 and prove nothing."""
    device: str | None = None

    @cached_property
    def places(self) -> Array:
        """Where each token of the alphabet is among the adapter's."""
        return np.array([_place(self.adapter, token) for token in self.alphabet], np.int64)

    @property
    def longest(self) -> int | None:
        """How many tokens an input can have, at most."""
        around = len(self.adapter.before) + len(self.adapter.after)
        room = None if self.network.longest is None else self.network.longest - around
        limits = [end for end in (self.adapter.longest, room) if end is not None]
        return min(limits, default=None)

    @property
    def fixed(self) -> int:
        """How many tokens at the start are always the same."""
        return int(self.adapter.first is not None)

    def count(self, length: int) -> int:
        """How many inputs of a length there are, before promises."""
        free = length - self.fixed
        return 0 if free < 0 else len(self.alphabet) ** free

    def rows_at_once(self, length: int) -> int:
        """How many inputs make a batch."""
        columns = length + len(self.adapter.before) + len(self.adapter.after)
        if self.adapter.fill is not None and self.network.longest:
            columns = self.network.longest
        width = max(self.network.widest, columns)
        return max(1, min(MOST_ROWS, NUMBERS_AT_ONCE // (columns * width)))

    def inputs(self, length: int, start: int, stop: int) -> Array:
        """Inputs of a length in order, as places among the adapter's tokens."""
        free = self.places[words(len(self.alphabet), length - self.fixed, start, stop)]
        if self.adapter.first is None:
            return free
        first = np.full((len(free), 1), _place(self.adapter, self.adapter.first))
        return np.concatenate([first, free], axis=1)

    def atoms(self, places: Array) -> list[Input]:
        return list(map(tuple, self._tokens[places].tolist()))

    @cached_property
    def _tokens(self) -> Array:
        return np.array([*self.adapter.tokens, None], object)  # one more: all may be strings

    @cached_property
    def _arithmetics(self) -> dict[int, tuple[Digits, Balls]]:
        return {}

    def arithmetic(self, level: int) -> tuple[Digits, Balls]:
        """Numbers of a level, and the balls made of them."""
        if level not in self._arithmetics:
            digits = DIGITS[level]()
            self._arithmetics[level] = (digits, Balls(digits))
        return self._arithmetics[level]

    @cached_property
    def single(self) -> Single:
        return Single(self.device)


def _place(adapter: Adapter, token: Atom) -> int:
    for place, known in enumerate(adapter.tokens):
        if known == token and isinstance(known, str) == isinstance(token, str):
            return place
    raise RaspValueError(
        f"the model has no token {show(token)}",
        hint="its tokens are " + ", ".join(show(token) for token in adapter.tokens[:20]),
    )


def ask(
    network: Network, adapter: Adapter, program: Specification, alphabet: Sequence[Atom] | None,
    promises: Sequence[Specification] = (), runs_only: bool = False, device: str | None = None,
) -> ProofTask:  # fmt: skip
    """Put a task together, and refuse one that does not fit."""
    check_fits(network, adapter)
    letters = adapter.tokens if alphabet is None else alphabet
    letters = tuple(token for token in letters if token != adapter.first)
    task = ProofTask(_answering(network, adapter), adapter, program, letters,
                        tuple(promises), runs_only, device)  # fmt: skip
    assert task.places is not None  # every token is known
    return task


def _answering(network: Network, adapter: Adapter) -> Network:
    """The network with the logits of answers alone."""
    if adapter.logits is None or adapter.logits == (0, network.logits):
        return network
    last, (start, stop) = network.steps[-1], adapter.logits
    assert isinstance(last, Affine)
    low = None if last.low is None else last.low[start:stop]
    read = Affine(last.weight[start:stop], last.bias[start:stop], low)
    return replace(network, steps=(*network.steps[:-1], read))


@dataclass(frozen=True)
class PartDone:
    """What came of a range of inputs of one length."""

    inputs: int = 0
    """How many were compared."""
    failing: int = 0
    """On how many the program has no value."""
    margin: float = np.inf
    worst: Input = ()
    wrong: Input | None = None
    undecided: tuple[Input, ...] = ()
    radius: float = 0.0
    redone: tuple[int, ...] = field(default=(0,) * LEVELS)
    """How many inputs were decided with the digits of each level."""


def answer_part(task: ProofTask, length: int, start: int, stop: int, level: int = 0) -> PartDone:
    """Compare some of all inputs of a length."""
    return answer_places(task, task.inputs(length, start, stop), level)


def answer_places(task: ProofTask, places: Array, level: int) -> PartDone:
    """Compare inputs, given as places among the adapter's tokens, that keep every promise.

    First with the digits of a level, and then with more where these do not decide.
    """
    inputs = task.atoms(places)
    for promise in task.promises:
        kept = promise.holds(inputs)
        places, inputs = places[kept], [one for one, keep in zip(inputs, kept, strict=True) if keep]
    if not inputs:
        return PartDone()
    length = places.shape[1]
    answers = task.program.answers(inputs)
    wanted = classes(task.adapter, answers, length)
    has_value = np.array([not isinstance(one, RaspError) for one in answers])
    failing = int((~has_value).sum())
    wanted, places = wanted[has_value], places[has_value]
    if not len(places) or not wanted.size or (wanted == ANYTHING).all():
        return PartDone(len(places), failing)
    if task.runs_only:
        return _run(task, places, wanted, failing)
    return _decide(task, places, wanted, failing, level)


def _decide(task: ProofTask, places: Array, wanted: Array, failing: int, level: int) -> PartDone:
    """Give every input as many digits as it takes."""
    left = np.arange(len(places))
    low, redone, radius, wrong = np.full(len(places), -np.inf), [0] * LEVELS, 0.0, None
    while len(left) and level < LEVELS:
        found, radius_here = measure(task, places[left], wanted[left], level)
        low[left] = found.low
        decided = found.right | found.wrong
        redone[level] += int(decided.sum())
        radius = max(radius, float(radius_here[decided].max(initial=0.0)))
        if found.wrong.any():
            first = int(left[np.flatnonzero(found.wrong)[0]])
            wrong = first if wrong is None else min(first, wrong)
        left, level = left[~decided], level + 1
        if wrong is not None and level > 1:
            break  # more digits would not make it right
    worst = int(low.argmin())
    atoms = task.atoms
    return PartDone(
        len(places), failing, float(low[worst]), atoms(places[worst : worst + 1])[0],
        None if wrong is None else atoms(places[wrong : wrong + 1])[0],
        tuple(atoms(places[left])), radius, tuple(redone),
    )  # fmt: skip


def measure(task: ProofTask, places: Array, wanted: Array, level: int) -> tuple[Leads, Array]:
    """By how much each answer leads, with the digits of a level; and the radius of each input."""
    digits, balls = task.arithmetic(level)
    adapter, network = task.adapter, task.network
    layout = lay_out(adapter.rows(places, places.shape[1], network.longest), network.causal)
    with np.errstate(all="ignore"):  # what is not finite decides nothing
        logits = forward(network, layout, balls)
        nodes = read_nodes(adapter, layout.nodes, places.shape[1])
        found = leads(logits, digits, nodes, wanted, adapter)
    return found, np.where(np.isnan(logits.radius), np.inf, logits.radius)[nodes].max(axis=1)


def read_nodes(adapter: Adapter, nodes: Array, length: int) -> Array:
    """The rows of logits that answer (input, position)."""
    if adapter.at == "whole":
        return np.arange(len(nodes))[:, None]
    columns = adapter.read_at(length)
    return nodes[:, columns] if isinstance(columns, slice) else nodes[:, columns][:, None]


def run_rows(task: ProofTask, places: Array) -> Array:
    """What the model answers in float32: classes (input, compared position)."""
    adapter, network = task.adapter, task.network
    layout = lay_out(adapter.rows(places, places.shape[1], network.longest), network.causal)
    with np.errstate(all="ignore"):
        logits = task.single.array(forward(network, layout, task.single))
    nodes = read_nodes(adapter, layout.nodes, places.shape[1])
    if adapter.codes:
        borders = (np.array(adapter.codes[:-1]) + np.array(adapter.codes[1:])) / 2
        chosen = np.searchsorted(borders, logits[:, 0].astype(np.float64))
    else:
        chosen = logits.argmax(axis=-1)
    is_number = np.isfinite(logits).all(axis=-1)
    return np.asarray(np.where(is_number, adapter.meanings[chosen], NOTHING)[nodes])


def _run(task: ProofTask, places: Array, wanted: Array, failing: int) -> PartDone:
    chosen = run_rows(task, places)
    is_wrong = ((chosen != wanted) & (wanted != ANYTHING)).any(axis=1)
    first = np.flatnonzero(is_wrong)[:1]
    wrong = task.atoms(places[first])[0] if len(first) else None
    return PartDone(len(places), failing, wrong=wrong)
