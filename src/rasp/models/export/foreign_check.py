"""A foreign model in, an error out unless it answers as the program does."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rasp.base.atoms import Atom, show_input
from rasp.base.errors import RaspUnsupportedError
from rasp.language.evaluator.plain import EvaluationError, evaluate
from rasp.models.certificate import Array
from rasp.models.compiler.model.transformer import Transformer
from rasp.models.compiler.model.vocabulary_inputs import by_length, keeps_promise, random_inputs
from rasp.models.compiler.settings import Settings
from rasp.models.export.standard_stack import decoded, input_ids

Run = Callable[[Array], Array]
"""Token ids (batch, position) to logits (batch, position, logit)."""
RANDOM, AT_ONCE = 100, 64


@dataclass(frozen=True)
class Checked:
    """An export that agrees with its program on some inputs, and the model that was written."""

    model: Transformer
    inputs: int
    layer_norms: str = ""
    """How it is known that the library's LayerNorms, if it has any, change no answer."""


def check(model: Transformer, run: Run, target: str) -> Checked:
    """Compare a loaded export with the program; one different answer is an error."""
    nodes = list(model.outputs.values())
    compared = 0
    for batch in by_length(inputs_to_try(model.settings), AT_ONCE):
        logits = run(np.stack([input_ids(model, list(tokens)) for tokens in batch]))
        for tokens, own_logits in zip(batch, logits, strict=True):
            try:
                expected = evaluate(nodes, tokens)
            except EvaluationError:
                continue
            compared += 1
            answered = decoded(model, own_logits)
            if any(answered[name] != expected[node] for name, node in model.outputs.items()):
                raise RaspUnsupportedError(
                    f"exported to {target}, this model answers {show_input(tokens)} differently",
                    hint="nothing was written; export to torch, or use a smaller `max_length`",
                )
    if not compared:
        raise RaspUnsupportedError(
            "the program has no value on any of the inputs tried, so the export cannot be checked",
            hint="give a vocabulary on which the program works",
        )
    return Checked(model, compared)


def inputs_to_try(settings: Settings, count: int = RANDOM) -> list[tuple[Atom, ...]]:
    """Random inputs, and each token alone and as often as it fits: the smallest and largest counts.

    >>> from rasp.models.compiler.settings import read_settings
    >>> tried = inputs_to_try(read_settings("ab", 3, None, False, True, "paper"))
    >>> ("a",) in tried, ("b", "b", "b") in tried
    (True, True)
    """
    chooser = random.Random(7)
    first = () if settings.bos is None else (settings.bos,)
    ordinary = settings.vocabulary[: len(settings.vocabulary) - len(first)]
    extremes = [
        (first + (token,) * settings.max_length)[: max(1, length)]
        for token in ordinary[:20]
        for length in (1 + len(first), settings.max_length)
    ]
    kept = [extreme for extreme in extremes if keeps_promise(settings, extreme)]
    return list(dict.fromkeys([*kept, *random_inputs(settings, chooser, count)]))
