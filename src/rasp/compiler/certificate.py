"""A plan and weights in, a certificate out: exact for all inputs, or the reason why not."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

import numpy as np

from rasp.atoms import Atom, show, show_input
from rasp.compiler.bounds import Bounds, Check
from rasp.compiler.plan import Plan
from rasp.compiler.settings import Settings
from rasp.compiler.transformer import Transformer
from rasp.compiler.weights import Emitter, Weights
from rasp.evaluator.plain import EvaluationError, evaluate

RUNS = 60
MOST_TOKENS_SHOWN = 12
MOST_CELLS = 4_000_000
"""How many numbers a batch holds at once in one block."""


@dataclass(frozen=True)
class Certificate:
    """What is known of a compiled model, block by block, and how it did on random inputs.

    >>> import rasp
    >>> certificate = rasp.compile(rasp.tokens, vocabulary="ab", max_length=5).certificate
    >>> certificate.exact, certificate.statement
    (True, 'exact for all inputs up to length 5 over this vocabulary, in float32')
    """

    settings: Settings
    checks: tuple[Check, ...]
    weights_match: bool
    assumes_no_failure: bool
    """Whether it is taken for granted that the program itself has a value."""
    runs: int
    wrong: int
    first_wrong: str
    failing: str
    """An input on which the program itself fails, if one was met."""

    @property
    def exact(self) -> bool:
        return self.weights_match and not self.wrong and all(each.holds for each in self.checks)

    @property
    def statement(self) -> str:
        if not self.exact:
            return "not certified: " + self.reason
        condition = " on which the program itself has a value" if self.assumes_no_failure else ""
        return (
            f"exact for all inputs up to length {self.settings.max_length} over this vocabulary"
            f"{condition}, in float32"
        )

    @property
    def reason(self) -> str:
        """Why the model is not certified."""
        if not self.weights_match:
            return "the weights are not those of the program"
        for check in self.checks:
            if not check.holds:
                return f"{check.block} ({check.detail}) has no margin left: {check.margin:.3g}"
        if self.wrong:
            return f"{self.wrong} of {self.runs} random inputs went wrong, first {self.first_wrong}"
        return "every block holds"

    def __str__(self) -> str:
        lines = [self.statement, f"vocabulary: {_shown(self.settings.vocabulary)}", ""]
        for check in self.checks:
            margin = f"; margin {check.margin:.3g} over {check.states} states"
            lines.append(f"{check.block}: {check.detail}{margin if check.states else ''}")
        lines.append(f"random inputs: {self.runs} run, {self.wrong} wrong")
        if self.failing:
            lines.append(f"the program itself fails on {self.failing}")
        return "\n".join(lines)

    __repr__ = __str__

    def to_json(self) -> dict[str, Any]:
        """The certificate as plain data, with its statement in words.

        >>> import rasp
        >>> model = rasp.compile(rasp.tokens, vocabulary="ab", max_length=5)
        >>> model.certificate.to_json()["wrong"]
        0
        """
        return {
            "statement": self.statement,
            "checks": [asdict(check) for check in self.checks],
            "weights_match": self.weights_match,
            "assumes_no_failure": self.assumes_no_failure,
            "runs": self.runs,
            "wrong": self.wrong,
            "first_wrong": self.first_wrong,
            "failing": self.failing,
        }

    @classmethod
    def from_json(cls, settings: Settings, data: dict[str, Any]) -> Certificate:
        """Read a certificate back.

        >>> import rasp
        >>> model = rasp.compile(rasp.tokens, vocabulary="ab", max_length=5)
        >>> data = model.certificate.to_json()
        >>> Certificate.from_json(model.settings, data) == model.certificate
        True
        """
        checks = tuple(
            Check(
                str(each["block"]), str(each["detail"]), float(each["margin"]),
                float(each["error"]), int(each["states"]), str(each["blame"]),
            )
            for each in data["checks"]
        )  # fmt: skip
        return cls(
            settings, checks, bool(data["weights_match"]), bool(data["assumes_no_failure"]),
            int(data["runs"]), int(data["wrong"]), str(data["first_wrong"]), str(data["failing"]),
        )  # fmt: skip


def _shown(vocabulary: tuple[Atom, ...]) -> str:
    some = ", ".join(show(token) for token in vocabulary[:MOST_TOKENS_SHOWN])
    more = len(vocabulary) - MOST_TOKENS_SHOWN
    return some + (f" and {more} more" if more > 0 else "")


@np.errstate(over="ignore", invalid="ignore")  # what overflows fails its check
def certify(
    plan: Plan, emitter: Emitter, model: Transformer, expected: Weights | None = None
) -> Certificate:
    """Check every block on every state that can reach it, then try random inputs.

    `expected` are the weights that the plan asks for, where the model's came from elsewhere.
    """
    weights, matches = model.weights, True
    if expected is not None:
        matches = weights_match(expected, weights)
        # Files hold float32; where that is all that differs, the bounds are those of the plan.
        weights = expected if _are_equal(expected, weights) else weights
    checks = Bounds(plan, emitter, weights).walk()
    tried, wrong, first, failing = _random_runs(plan, model)
    return Certificate(
        plan.settings,
        tuple(checks),
        matches,
        plan.analysis.assumes_no_failure or bool(plan.analysis.failures) or bool(failing),
        tried,
        wrong,
        first,
        failing,
    )


def weights_match(expected: Weights, given: Weights) -> bool:
    """Whether two sets of weights are the same numbers in float32.

    What heads put out was solved for, so it may differ in a last bit from machine to machine.
    """
    left, right = expected.arrays(), given.arrays()
    return left.keys() == right.keys() and all(
        left[name].shape == right[name].shape
        and (
            np.array_equal(left[name].astype(np.float32), right[name].astype(np.float32))
            or (
                ".head" in name
                and name.endswith(".out")
                and np.allclose(left[name], right[name], rtol=2.0**-22, atol=0)
            )
        )
        for name in left
    )


def _are_equal(expected: Weights, given: Weights) -> bool:
    left, right = expected.arrays(), given.arrays()
    return left.keys() == right.keys() and all(
        np.array_equal(left[name].astype(np.float32), right[name].astype(np.float32))
        for name in left
    )


def random_input(settings: Settings, chooser: random.Random) -> tuple[Atom, ...]:
    """A random input: any length, sometimes with few different tokens."""
    ordinary = settings.vocabulary[:-1] if settings.bos is not None else settings.vocabulary
    length = chooser.randint(1, settings.max_length)
    if chooser.random() < 0.3:
        length = settings.max_length
    few = chooser.sample(ordinary, chooser.randint(1, len(ordinary))) if ordinary else []
    if settings.bos is None:
        return tuple(chooser.choices(few, k=length))
    rest = chooser.choices(few, k=length - 1) if length > 1 else []
    return (settings.bos, *rest)


def _random_runs(plan: Plan, model: Transformer) -> tuple[int, int, str, str]:
    """Compare random inputs, each once: how many, how many wrong, the first of those, a failing."""
    chooser = random.Random(0)
    drawn = dict.fromkeys(random_input(plan.settings, chooser) for _ in range(RUNS))
    nodes = [output.node for output in plan.outputs]
    expected: dict[tuple[Atom, ...], list[list[Atom]]] = {}
    failing = ""
    for tokens in drawn:
        try:
            values = evaluate(nodes, tokens)
        except EvaluationError as error:
            failing = failing or f"{show_input(tokens)}: {error.error.message}"
        else:
            expected[tokens] = [values[node] for node in nodes]
    agreeing = _agreeing(model, expected)
    wrong = [tokens for tokens in expected if tokens not in agreeing]
    first = show_input(wrong[0]) if wrong else ""
    return len(expected), len(wrong), first, failing


def _agreeing(
    model: Transformer, expected: Mapping[tuple[Atom, ...], list[list[Atom]]]
) -> set[tuple[Atom, ...]]:
    """The inputs on which a model answers as expected; inputs of one length run together."""
    found: set[tuple[Atom, ...]] = set()
    widest = max(block.bias.size for block in model.weights.feed_forwards) + model.d_model
    for batch in _batches(expected, widest):
        answers = model.answers(np.stack([model.token_ids(list(tokens)) for tokens in batch]))
        for number, tokens in enumerate(batch):
            if [rows[number] for rows in answers.values()] == expected[tokens]:
                found.add(tokens)
    return found


def _batches(inputs: Iterable[tuple[Atom, ...]], widest: int) -> Iterator[list[tuple[Atom, ...]]]:
    """Inputs of one length, and no more of them than there is room for."""
    for length, together in groupby(sorted(inputs, key=len), len):
        known = list(together)
        most = max(1, MOST_CELLS // (length * (length + widest)))
        yield from (known[start : start + most] for start in range(0, len(known), most))
