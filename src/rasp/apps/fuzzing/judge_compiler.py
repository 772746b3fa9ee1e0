"""Judges of compiled weights: a model, here and in torch, answers as the program does."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import groupby, product
from operator import gt

import numpy as np

from rasp.apps.fuzzing.cases import Case
from rasp.apps.fuzzing.outcomes import Disagreement, NothingToCompare
from rasp.base.atoms import Atom, show_input
from rasp.base.errors import RaspError, RaspUnsupportedError
from rasp.insight.schedule.schedule import Schedule, schedule
from rasp.language.evaluator import plain
from rasp.language.graph import Aggregate, Const, Node, SOp, in_order
from rasp.models.compiler.build import compile_nodes
from rasp.models.compiler.model.transformer import Transformer
from rasp.models.compiler.settings import Settings, read_settings

MOST_AGGREGATES = 4
MOST_NODES = 30
MOST_INPUTS = 60


def judge_compiled(case: Case) -> None:
    """Compile the last s-op for a few tokens and short inputs, and compare every answer."""
    trial = _trial(case)
    for batch in trial.batches:
        ids = np.stack([trial.model.token_ids(list(tokens)) for tokens in batch])
        [answers] = trial.model.answers(ids).values()
        trial.compare(batch, answers, "compiled")


def judge_exported(case: Case) -> None:
    """The same weights as a torch module give the same answers."""
    if find_spec("torch") is None:
        raise NothingToCompare
    import torch

    from rasp.models.export import decoded, input_ids, to_torch

    trial = _trial(case)
    torch.set_num_threads(1)  # the models are small: more threads only wait for one another
    module = to_torch(trial.model)
    for batch in trial.batches:
        ids = np.stack([input_ids(trial.model, tokens) for tokens in batch])
        with torch.no_grad():
            logits = module(torch.from_numpy(ids)).numpy()
        answers = [next(iter(decoded(trial.model, row).values())) for row in logits]
        trial.compare(batch, answers, "in torch")


@dataclass(frozen=True)
class Trial:
    """A compiled model, and what the program says of some inputs."""

    model: Transformer
    expected: dict[tuple[Atom, ...], list[Atom]]

    @property
    def batches(self) -> list[list[tuple[Atom, ...]]]:
        """The inputs, those of one length together."""
        return [list(batch) for _, batch in groupby(sorted(self.expected, key=len), len)]

    def compare(
        self, batch: list[tuple[Atom, ...]], answers: Sequence[list[Atom]], whose: str
    ) -> None:
        for tokens, answer in zip(batch, answers, strict=True):
            if answer != self.expected[tokens]:
                raise Disagreement(
                    f"on {show_input(tokens)}:\nplain: {self.expected[tokens]}\n"
                    f"{whose}: {answer}\n{self.model.settings}"
                )


def _trial(case: Case) -> Trial:
    if "trial" not in case.shared:
        try:
            case.shared["trial"] = _new_trial(case)
        except NothingToCompare:
            case.shared["trial"] = None
    trial: Trial | None = case.shared["trial"]
    if trial is None:
        raise NothingToCompare
    return trial


def _new_trial(case: Case) -> Trial:
    s_ops = {name: node for name, node in case.outputs.items() if isinstance(node, SOp)}
    if not s_ops or not case.inputs:
        raise NothingToCompare
    name, node = list(s_ops.items())[-1]
    _is_small_enough(node)
    settings = _settings(case)
    try:
        model = compile_nodes({name: node}, settings, case.elaborated.session.program_of(name))
    except RaspUnsupportedError as error:
        if not error.hint:
            raise Disagreement(f"a refusal without a hint: {error}") from None
        if "random inputs went wrong" in error.message:
            raise Disagreement(f"every block is proved, and yet: {error}") from None
        raise NothingToCompare from None
    except RaspError:
        raise NothingToCompare from None
    if settings.heads == "paper":
        _count_heads(model, schedule(node))
    return Trial(model, _expected(node, settings, random.Random(case.seed)))


def _count_heads(model: Transformer, promised: Schedule) -> None:
    """No layer of a model has more heads than the schedule says."""
    if any(map(gt, model.heads_per_layer, promised.heads_per_layer)):
        raise Disagreement(
            f"{promised.heads_per_layer} heads are scheduled, and {model.heads_per_layer} compiled"
        )


def _is_small_enough(node: Node) -> None:
    order = in_order([node])
    aggregates = sum(isinstance(needed, Aggregate) for needed in order)
    if isinstance(node, Const) or aggregates > MOST_AGGREGATES or len(order) > MOST_NODES:
        raise NothingToCompare


def _settings(case: Case) -> Settings:
    """A few of the case's tokens, and a short greatest length."""
    rng = random.Random(case.seed)
    letters: dict[object, Atom] = {}
    for token in (token for tokens in case.inputs for token in tokens):
        if isinstance(token, str) == isinstance(case.inputs[0][0], str):
            letters.setdefault(token, token)
    vocabulary = list(letters.values())[: rng.randint(2, 3)]
    length, causal, sink = rng.randint(1, 5), rng.random() < 0.15, rng.random() < 0.85
    try:
        return read_settings(
            vocabulary, length, None, causal, sink, rng.choice(["paper", "paper", "split"]),
            rng.choice(["robust", "compact"]),
        )  # fmt: skip
    except RaspError:
        raise NothingToCompare from None


def _expected(
    node: Node, settings: Settings, rng: random.Random
) -> dict[tuple[Atom, ...], list[Atom]]:
    expected: dict[tuple[Atom, ...], list[Atom]] = {}
    for tokens in _inputs(settings, rng):
        try:
            expected[tokens] = plain.evaluate([node], tokens)[node]
        except plain.EvaluationError:
            continue
    if not expected:
        raise NothingToCompare
    return expected


def _inputs(settings: Settings, rng: random.Random) -> list[tuple[Atom, ...]]:
    """Every input where they are few, else some."""
    every = [
        tokens
        for length in range(1, settings.max_length + 1)
        for tokens in product(settings.vocabulary, repeat=length)
    ]
    return every if len(every) <= MOST_INPUTS else rng.sample(every, MOST_INPUTS)
