"""A model with claims in, a certificate out: what the checker proves of it, or why it does not.

The proof is `rasp.models.certificate.check`, over the arrays themselves. Random inputs are run
besides, to catch what nobody thought of; where the program fails on all of them, nothing is
certified.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count, product, takewhile
from typing import Any, Literal, TypeAlias, get_type_hints

import numpy as np

from rasp.base.atoms import Atom, show, show_first, show_input
from rasp.base.errors import RaspError
from rasp.base.progress import Progress, ignore, part_of
from rasp.base.terminal_text import visibly
from rasp.language.evaluator import evaluate_batch
from rasp.language.graph import Node
from rasp.models.certificate import PRECISIONS, Verdict, at_most, check
from rasp.models.compiler.model.forms import read, write
from rasp.models.compiler.model.transformer import Transformer
from rasp.models.compiler.model.vocabulary_inputs import (
    Input,
    keeps_promise,
    random_inputs,
)
from rasp.models.compiler.settings import Settings

Answers: TypeAlias = dict[Input, list[list[Atom]]]
"""For each input, what each output gives."""
Trust: TypeAlias = Literal["proved", "run", "tested", "none"]
"""How much is known of a model: a proof, every input was run, samples, or nothing good."""
RUNS = 60
RUNS_TESTED = 1000
"""How many random inputs a model is tried on that is not proved."""
MOST_RUN = 20_000
"""Up to so many inputs, all of them are run in place of random ones."""
WIDER = "; a number that can be of two kinds has the wider one (1.0 for 1)"
MOST_TOKENS_SHOWN = 12
CHECKED = 0.5
"""How much of the work is done when float32 is checked: noise and other precisions follow."""
RADII = (1e-7, 1e-6, 1e-5, 5e-5, 2e-4, 5e-4, 0.001, 0.002)
"""Noise radii to try, of the stream's root mean square."""
MOST_WEIGHT, MOST_GRADIENT = 1000.0, 10_000.0


@dataclass(frozen=True)
class CheckedBlock:
    """One block: what was checked, and by how much it holds."""

    name: str
    detail: str
    margin: float


@dataclass(frozen=True)
class Robustness:
    """Weights, gradients, noise and precisions of a model of the robust style.

    >>> import rasp
    >>> same = rasp.select(rasp.tokens, rasp.tokens, "==")
    >>> model = rasp.compile(rasp.selector_width(same), alphabet="ab", max_length=5, style="robust")
    >>> robust = model.certificate.robust
    >>> robust.largest_weight < 100, robust.largest_gradient < 100, robust.noise_radius >= 1e-4
    (True, True, True)
    >>> "TF32" in robust.precisions
    True
    """

    largest_weight: float
    largest_gradient: float
    """Of any score of a read-out by the embedded input, on any input: its length, at most."""
    noise_radius: float
    """After the embedding and after every block, each number of the residual stream may move by so
    much of the stream's root mean square there, and every answer stays the same."""
    precisions: tuple[str, ...] = ("float32",)
    """In which arithmetic every answer is proved right: "float32", "TF32", "bfloat16"."""

    def __str__(self) -> str:
        others = " and ".join(self.precisions[1:])
        sizes = (
            f"no weight above {at_most(self.largest_weight, 3)}, no gradient above "
            f"{at_most(self.largest_gradient, 3)}; "
        )
        if not self.noise_radius:
            least = 100 * RADII[0]
            return f"{sizes}noise of {least:g} % of the stream's RMS may change an answer"
        return (
            f"{sizes}answers hold under noise up to {100 * self.noise_radius:g} % of the "
            "stream's RMS" + (f", and in {others}" if others else "")
        )


@visibly
@dataclass(frozen=True)
class Certificate:
    """What is proved of a compiled model, block by block, and how it did on random inputs.

    >>> import rasp
    >>> certificate = rasp.compile(rasp.tokens, vocabulary="ab", max_length=5).certificate
    >>> certificate.exact, certificate.statement
    (True, 'exact for all inputs up to length 5 over this vocabulary, in float32')
    """

    settings: Settings
    blocks: tuple[CheckedBlock, ...]
    refused: str
    """The first claim that does not hold, and why; nothing where all of them do."""
    total: bool
    """Whether it is proved that the program has a value on every input."""
    tried: int = 0
    """How many random inputs were tried."""
    runs: int = 0
    """On how many of them the program has a value, and the model was compared with it."""
    wrong: int = 0
    first_wrong: str = ""
    failing: str = ""
    """An input on which the program itself fails, if one was met."""
    seed: int = 0
    """Of the random inputs; `verify` draws others each time."""
    wider: bool = False
    """Whether a number can be of several kinds (1 and 1.0), of which the model gives the widest."""
    robust: Robustness | None = None
    """What else is proved of a model of the robust style."""
    whole: bool = False
    """Whether every input was run, and not random ones."""

    @property
    def exact(self) -> bool:
        return not self.refused and not self.wrong and self.runs > 0

    @property
    def trust(self) -> Trust:
        """How it is known that the model answers as the program does.

        "proved" is a proof about the weights, "run" means that every input was run, "tested"
        that random inputs were; the last two only for what was asked for with `tested=True`.
        """
        if self.wrong or not self.runs or (self.refused and not self.settings.tested):
            return "none"
        return ("run" if self.whole else "tested") if self.refused else "proved"

    @property
    def statement(self) -> str:
        if self.trust == "none":
            return "not certified: " + self.reason
        if self.trust != "proved":
            return self._tried
        where, bos = self.settings.where_name, self.settings.bos
        condition = "" if bos is None else f", with {show(bos)} first and nowhere else"
        kept = [f"on which `{where}` holds at every position"] * bool(where)
        kept += ["on which the program is defined"] * (not self.total)
        if kept:
            condition += ("" if bos is None else ",") + " " + " and ".join(kept)
        return (
            f"exact for all inputs up to length {self.settings.max_length} over this vocabulary"
            f"{condition}, in float32{WIDER if self.wider else ''}"
        )

    @property
    def _tried(self) -> str:
        """The statement of a model that was run or tested, and is not proved."""
        about = f"up to length {self.settings.max_length} over this vocabulary"
        if self.settings.where_name:
            about += f" on which `{self.settings.where_name}` holds at every position"
        right = (f"run on all {self.runs} inputs {about} on which the program has a value"
                 if self.whole else f"tested on {self.runs} random inputs {about}")  # fmt: skip
        return f"{right}, and right on each; not proved: {self.refused}"

    @property
    def reason(self) -> str:
        """Why the model is not certified."""
        if self.refused:
            return self.refused
        if not self.tried:
            return f"no random input keeps the promise `{self.settings.where_name}`"
        if not self.runs:
            return f"the program fails on every input that was tried, first {self.failing}"
        if self.wrong:
            return f"{self.wrong} of {self.runs} random inputs went wrong, first {self.first_wrong}"
        return "every block holds"

    def __str__(self) -> str:
        vocabulary = show_first(self.settings.vocabulary, MOST_TOKENS_SHOWN)
        lines = [self.statement, f"vocabulary: {vocabulary}", ""]
        lines[1:1] = [str(self.robust)] if self.robust else []
        lines += [f"{block.name}: {block.detail}; margin {block.margin:.3g}" if block.margin else
                  f"{block.name}: {block.detail}" for block in self.blocks]  # fmt: skip
        which, seed = ("all", "") if self.whole else ("random", f" (seed {self.seed})")
        lines.append(f"{which} inputs: {self.runs} run, {self.wrong} wrong{seed}")
        if self.failing:
            lines.append(f"the program itself fails on {self.tried - self.runs} of {self.tried} "
                         f"{which} inputs, first {self.failing}")  # fmt: skip
        return "\n".join(" ".join(line.splitlines()) for line in lines)

    __repr__ = __str__

    def to_json(self) -> dict[str, Any]:
        """The certificate as plain data, with its statement in words.

        >>> import rasp
        >>> model = rasp.compile(rasp.tokens, vocabulary="ab", max_length=5)
        >>> model.certificate.to_json()["wrong"]
        0
        """
        data = write(Certificate, self, {})
        del data["settings"]  # a model has them beside it
        return {"statement": self.statement, "trust": self.trust, **data}

    @classmethod
    def from_json(cls, settings: Settings, data: dict[str, Any]) -> Certificate:
        """Read a certificate back.

        >>> import rasp
        >>> model = rasp.compile(rasp.tokens, vocabulary="ab", max_length=5)
        >>> data = model.certificate.to_json()
        >>> Certificate.from_json(model.settings, data) == model.certificate
        True
        """
        fields = {name: kind for name, kind in get_type_hints(cls).items() if name != "settings"}
        return cls(settings, **{name: read(kind, data[name], ()) for name, kind in fields.items()})


def _finite(margin: float) -> float:
    """JSON knows no infinity."""
    return float(np.clip(np.nan_to_num(margin, nan=-1e308), -1e308, 1e308))


def proved(model: Transformer, noise: float = 0.0, precision: str = "float32") -> Verdict:
    """Let the checker look at a model's arrays and claims."""
    arrays, inputs = model.weights.arrays(), model.settings
    for meaning in PRECISIONS[precision]:
        verdict = check(arrays, model.outputs, inputs, model.readouts, model.claims, noise, meaning)
        if not verdict.holds:
            break
    return verdict


def _robustness(model: Transformer, gradient: float, progress: Progress) -> Robustness:
    """What else the checker proves of a model of the robust style."""
    others = list(PRECISIONS)[1:]
    walks = len(others) + len(RADII).bit_length()  # at most: radii are found by halving
    walked = count()

    def holds(doing: str, noise: float = 0.0, precision: str = "float32") -> bool:
        progress(min(1.0, next(walked) / walks), doing)
        return proved(model, noise, precision).holds

    precisions = takewhile(lambda name: holds(f"checking {name}", precision=name), others)
    codes = [np.array(readout.codes) for readout in model.readouts]
    numbers = [*model.weights.arrays().values(), *codes]
    return Robustness(
        max(float(np.abs(array).max(initial=0.0)) for array in numbers),
        gradient,
        largest_radius(lambda radius: holds("checking noise", radius)),
        ("float32", *precisions),
    )


def largest_radius(holds: Callable[[float], bool]) -> float:
    """The largest of a few radii for which something holds, or 0; the smaller, the easier.

    >>> largest_radius(lambda radius: radius < 0.0007)
    0.0005
    """
    return (0.0, *RADII)[bisect_left(RADII, True, key=lambda radius: not holds(radius))]


def certify(
    model: Transformer, verdict: Verdict, seed: int = 0, progress: Progress = ignore
) -> Certificate:
    """A certificate of what the checker found, and of how the model does on random inputs."""
    blocks = tuple(
        CheckedBlock(name, detail, _finite(margin)) for name, detail, margin in verdict.blocks
    )
    refused, robust = verdict.reason, None
    if not refused and len(verdict.readers) < len(model.claims.readers):
        refused = "an s-op is not what it is said to be read as"
    if not refused and model.settings.tested:
        model.settings = replace(model.settings, tested=False)  # it is proved
    if not refused and model.settings.style == "robust":
        robust = _robustness(model, verdict.gradient, part_of(progress, 0.0, 0.9))
    certificate = Certificate(model.settings, blocks, refused, verdict.total, seed=seed,
                              wider=verdict.wider, robust=robust)  # fmt: skip
    progress(0.9, "running random inputs")
    is_done = refused and not model.settings.tested
    return certificate if is_done else run_randomly(certificate, model, seed)


def untried(model: Transformer, why: str) -> Certificate:
    """A certificate of a model that the checker did not look at, but was tested."""
    certificate = Certificate(model.settings, (), why, False, wider=True)
    return run_randomly(certificate, model, 0)


def run_randomly(certificate: Certificate, model: Transformer, seed: int) -> Certificate:
    """The same certificate with other random inputs, each of them once; or with all inputs, where
    the model is not proved and these are few.
    """
    drawn, whole = None, False
    if certificate.refused:
        drawn = _all_inputs(model.settings)
        whole = drawn is not None
    if drawn is None:
        count = RUNS_TESTED if certificate.refused else RUNS
        drawn = random_inputs(model.settings, random.Random(seed), count)
    expected, failing = _expected(list(model.outputs.values()), drawn)
    wrong = [tokens for tokens, values in expected.items()
             if not _agrees(model, tokens, values, certificate.wider)]  # fmt: skip
    return replace(
        certificate, total=certificate.total and not failing, tried=len(drawn), runs=len(expected),
        wrong=len(wrong), first_wrong=show_input(wrong[0]) if wrong else "", failing=failing,
        seed=seed, whole=whole,
    )  # fmt: skip


def _all_inputs(settings: Settings) -> list[Input] | None:
    """Every input that a model is for; None where there are many."""
    first = () if settings.bos is None else (settings.bos,)
    others = [token for token in settings.vocabulary if token != settings.bos]
    lengths = range(0 if first else 1, settings.max_length + 1 - len(first))
    if sum(len(others) ** length for length in lengths) > MOST_RUN:
        return None
    inputs = ((*first, *rest) for length in lengths for rest in product(others, repeat=length))
    return [tokens for tokens in inputs if keeps_promise(settings, tokens)]


def _expected(nodes: list[Node], inputs: list[Input]) -> tuple[Answers, str]:
    """What the program gives on those inputs on which it has a value, and one that fails."""
    try:
        answers = evaluate_batch(nodes, inputs)
        return {tokens: [values[node] for node in nodes]
                for tokens, values in zip(inputs, answers, strict=True)}, ""  # fmt: skip
    except RaspError as error:
        if len(inputs) == 1:
            return {}, f"{show_input(inputs[0])}: {error.message}"
    alone = [_expected(nodes, [tokens]) for tokens in inputs]
    failing = next((reason for _, reason in alone if reason), "")
    return {tokens: values for expected, _ in alone for tokens, values in expected.items()}, failing


def _agrees(model: Transformer, tokens: Input, expected: list[list[Atom]], wider: bool) -> bool:
    """Whether a model answers as expected, but for wider kinds of numbers if so said."""
    answers = model.answers(model.token_ids(list(tokens))[None])
    given = [rows[0] for rows in answers.values()]
    kinds = [[[type(atom) for atom in row] for row in rows] for rows in (given, expected)]
    return given == expected and (wider or kinds[0] == kinds[1])
