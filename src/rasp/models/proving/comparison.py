"""What came of comparing a model with a program: one of four words, and what was earned by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rasp.base.atoms import Atom, show_input, to_python
from rasp.base.errors import RaspError
from rasp.base.terminal_text import visibly
from rasp.language.meaning.shown_values import show_answer
from rasp.models.proving.adapter import Adapter

if TYPE_CHECKING:
    from rasp.insight.drawing import Drawing
    from rasp.models.proving.margin_chart import MarginChart
    from rasp.models.proving.proof_task import ProofTask

PROVED: Final = "proved"
"""By interval arithmetic over real numbers, on every input up to a length."""
RUN: Final = "run"
"""In float32, on every input up to a length."""
TESTED: Final = "tested"
"""On samples."""
DIFFERENT: Final = "different"
"""On at least one input. These are the words of `rasp diff`, too."""
ASSUMPTIONS = (
    "float64 `+ - * / √` are rounded to a nearest number, as IEEE 754 says, in any order of sums",
    "exp, tanh and erf of NumPy, the C library and mpmath are within 8 units in the last place",
    "the model is the real-number function of its weights; float32 rounding is not part of it",
)
RUN_ASSUMPTIONS = (
    "float32 as this machine computes it; another order of sums may round otherwise",
)


@visibly
@dataclass(frozen=True)
class ModelDifference:
    """A shortest input that a model and a program answer differently.

    >>> import rasp
    >>> model = rasp.compile({"n": rasp.length}, vocabulary="ab", max_length=4)
    >>> print(rasp.prove(model, rasp.length + (rasp.length == 2)).difference)
    "aa" at positions 0, 1
      model:   [2, 2]
      program: [3, 3]
    """

    tokens: tuple[Atom, ...]
    model: list[Any]
    """What the model answers, at the positions compared."""
    program: list[Any] | RaspError
    """What the program gives: at every position, or at the last where the model answers once."""
    positions: tuple[int, ...]
    """Where they differ."""

    @property
    def input(self) -> str | list[Any]:
        """The input as a person would give it."""
        return plain_input(self.tokens)

    def __str__(self) -> str:
        at = ", ".join(map(str, self.positions))
        places = f"position {at}" if len(self.positions) == 1 else f"positions {at}"
        return (
            f"{show_input(self.tokens, most=60)} at {places}\n"
            f"  model:   {show_answer(self.model)}\n  program: {show_answer(self.program)}"
        )

    __repr__ = __str__


@dataclass(frozen=True)
class LengthResult:
    """What came of the inputs of one length."""

    length: int
    inputs: int
    margin: float | None
    worst: tuple[Atom, ...]


@visibly
@dataclass(frozen=True)
class ModelComparison:
    """Whether a model and a program are the same, and how that is known. True where they are.

    >>> import rasp
    >>> model = rasp.compile({"n": rasp.length}, vocabulary="ab", max_length=4)
    >>> print(rasp.prove(model, rasp.length).statement)
    proved: the model answers as the program does on every input up to length 4 (30 inputs)
    """

    verdict: str
    """`proved`, `run`, `tested` or `different`."""
    model: str
    weights_hash: str
    program: str
    adapter: Adapter
    alphabet: tuple[Atom, ...]
    up_to: int
    """Every input up to this length was compared (with `tested`: drawn)."""
    lengths: tuple[LengthResult, ...]
    difference: ModelDifference | None = None
    failing: int = 0
    """On how many inputs the program has no value: these were not compared."""
    undecided: tuple[tuple[Atom, ...], ...] = ()
    """Inputs on which two answers of the model are so close that 400 bits do not tell them apart.
    """
    radius: float = 0.0
    """The most by which computed logits may be off."""
    digits: Mapping[str, int] | None = None
    """How many inputs were decided with how many digits."""
    task: ProofTask | None = field(default=None, repr=False, compare=False)
    """What was asked: pictures and proof files are made of it."""

    @property
    def same(self) -> bool:
        return self.verdict != DIFFERENT

    def __bool__(self) -> bool:
        return self.same

    @property
    def inputs(self) -> int:
        """How many inputs were compared."""
        return sum(each.inputs for each in self.lengths)

    @property
    def _worst(self) -> LengthResult | None:
        known = [each for each in self.lengths if each.margin is not None]
        return min(known, key=lambda each: each.margin or 0.0, default=None)

    @property
    def margin(self) -> float | None:
        """By how much the right answer leads at least; None where nothing was proved."""
        worst = self._worst
        return worst.margin if worst is not None and self.verdict in (PROVED, TESTED) else None

    @property
    def worst(self) -> str | list[Any] | None:
        """The input with the least margin."""
        worst = self._worst
        return None if worst is None or self.margin is None else plain_input(worst.worst)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the verdict assumes."""
        if self.verdict == RUN or (self.radius == 0.0 and self.verdict == DIFFERENT):
            return RUN_ASSUMPTIONS
        return ASSUMPTIONS

    @property
    def statement(self) -> str:
        """The verdict in one sentence."""
        whole = "on every input" if self.verdict != TESTED else "on random inputs"
        counted = f"{self.inputs:,} input{'s' * (self.inputs != 1)}"
        if self.difference is not None:
            shorter = len(self.difference.tokens) - 1
            found = f"different on {self.difference}"
            before = any(each.length <= shorter for each in self.lengths)
            agree = "\nall shorter inputs agree" if before and not self.undecided else ""
            return found + agree
        if len(self.lengths) == 1 and self.verdict != TESTED:
            reach = f"{whole} of length {self.up_to}"
        else:
            reach = f"{whole} up to length {self.up_to}"
        return f"{self.verdict}: the model answers as the program does {reach} ({counted})"

    def __str__(self) -> str:
        lines = [self.statement]
        if self.margin is not None:
            lines.append(f"least margin {self.margin:.7g} at {show_input(self._worst_tokens)}; "
                         f"logits are within {self.radius:.1g}")  # fmt: skip
        if self.undecided:
            lines.append(f"undecided: on {show_input(self.undecided[0])} two answers are closer "
                         f"than 400 bits tell ({len(self.undecided)} such)")  # fmt: skip
        if self.failing:
            lines.append(f"the program has no value on {self.failing:,} more inputs")
        lines += [self.adapter.describe(), *(f"assumed: {text}" for text in self.assumptions)]
        return "\n".join(lines)

    __repr__ = __str__

    @property
    def _worst_tokens(self) -> tuple[Atom, ...]:
        return () if self._worst is None else self._worst.worst

    def draw(self) -> Drawing | MarginChart:
        """Draw both computations on the shortest difference, or the margins by length.

        >>> import rasp
        >>> model = rasp.compile({"n": rasp.length}, vocabulary="ab", max_length=4)
        >>> rasp.prove(model, rasp.length).draw().title[:6]
        'proved'
        """
        from rasp.models.proving.proof_pictures import draw_comparison

        return draw_comparison(self)

    def write(self, path: str | Path) -> None:
        """Write what was proved into a file that `scripts/recheck_proof.py` checks again.

        >>> import os, rasp, tempfile
        >>> model = rasp.compile({"n": rasp.length}, vocabulary="ab", max_length=4)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rasp.prove(model, rasp.length).write(f"{folder}/proof.json")
        ...     os.listdir(folder)
        ['proof.json']
        """
        from rasp.models.proving.proof_files import write_proof

        write_proof(self, path)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON-able data.

        >>> import rasp
        >>> model = rasp.compile({"n": rasp.length}, vocabulary="ab", max_length=4)
        >>> rasp.prove(model, rasp.length).as_dict()["verdict"]
        'proved'
        """
        found = self.difference
        return {
            "verdict": self.verdict,
            "up_to": self.up_to,
            "inputs": self.inputs,
            "margin": self.margin,
            "input": self.worst if found is None else found.input,
            "answers": None if found is None else {
                "model": found.model, "program": _answer(found.program),
                "positions": list(found.positions),
            },
            "assumptions": list(self.assumptions),
            "statement": self.statement,
            "model": self.model,
            "weights": self.weights_hash,
            "program": self.program,
            "adapter": self.adapter.describe().splitlines(),
            "alphabet": [to_python(token) for token in self.alphabet],
            "radius": self.radius,
            "program_fails": self.failing,
            "undecided": [plain_input(tokens) for tokens in self.undecided[:20]],
            "lengths": [
                {"length": each.length, "inputs": each.inputs, "margin": each.margin,
                 "worst": plain_input(each.worst)}
                for each in self.lengths
            ],
            "digits": dict(self.digits or {}),
        }  # fmt: skip


def _answer(answer: list[Any] | RaspError) -> Any:
    if isinstance(answer, RaspError):
        return {"error": answer.kind, "message": answer.message}
    return [None if value is None else to_python(value) for value in answer]


def plain_input(tokens: tuple[Atom, ...]) -> str | list[Any]:
    """An input as a person would give it: a string where that is possible.

    >>> plain_input(("a", "b")), plain_input((1, 2))
    ('ab', [1, 2])
    """
    if all(isinstance(token, str) and len(token) == 1 for token in tokens):
        return "".join(map(str, tokens))
    return [to_python(token) for token in tokens]
