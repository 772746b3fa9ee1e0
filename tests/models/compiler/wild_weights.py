"""A large next-token program and sentences: its weights, what they generate, and the verdict.

The s-op `output` is compiled for the words of the shortest sentences, and of what they generate.
The weights generate each of them, token after token, from the weights alone. The record says how
many come out right, and separately what the checker says.
"""

from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import rasp
from rasp.insight.generation.question import text_of
from rasp.models.compiler.assemble import assemble
from rasp.models.compiler.build import read_outputs
from rasp.models.compiler.emitting.emitter import CompactClaimant, Emitter
from rasp.models.compiler.model.certificate import proved
from rasp.models.compiler.model.transformer import Transformer
from rasp.models.compiler.planning.plan import make_plan
from rasp.models.compiler.settings import read_settings

Case = tuple[list[str], list[str]]
"""What is given, and what is to be generated."""
SAMPLES = 200


def cases_of(path: Path, length: int, most: int) -> list[Case]:
    """The shortest sentences, with as much of what they generate as fits."""
    known = json.loads(path.read_text(encoding="utf-8"))
    cases = [([*each["sentence"].split(), "|"], each["logical_form"]) for each in known]
    shortest = sorted(cases, key=lambda case: len(case[0]) + len(case[1]))[:most]
    return [(given, wanted[: length - len(given) + 1]) for given, wanted in shortest]


def generated(model: Transformer, given: list[str], most: int) -> list[str]:
    """What the weights generate, until they say that it is the end."""
    tokens = list(given)
    while len(tokens) <= most:
        said = model(tokens)[-1]
        token = text_of(Fraction(said) if isinstance(said, float) else said)
        if token == "":
            break
        tokens.append(token)
    return tokens[len(given) :]


def right_on_random(model: Transformer, program: Any, words: list[str], length: int) -> int:
    """Of SAMPLES random inputs, on how many the weights answer as the program does, everywhere."""
    chooser = random.Random(0)
    inputs = [chooser.choices(words, k=chooser.randint(1, length)) for _ in range(SAMPLES)]
    return sum(model(tokens) == program(tokens) for tokens in inputs)


def record(program: Path, cases: list[Case], length: int, blocks: int) -> dict[str, Any]:
    """Plan, write the weights, generate, and check."""
    words = sorted({word for given, wanted in cases for word in (*given, *wanted)})
    output = rasp.run(program.read_text(encoding="utf-8"))["output"]
    nodes, names = read_outputs(output, None)
    settings = read_settings(words, length, None, False, True, "split")
    settings = replace(settings, extra_feed_forwards=blocks)
    made: dict[str, Any] = {"words": len(words), "max_length": length, "sentences": len(cases)}
    plan = make_plan(nodes, settings, names, is_careful=True)
    emitter = Emitter(plan)
    weights = emitter.weights()
    model = assemble(plan, weights, CompactClaimant(emitter, weights).all_claims(), names)
    made |= {"layers": model.layers, "extra_feed_forwards": model.extra_feed_forwards,
             "d_model": model.d_model, "parameters": model.parameter_count}  # fmt: skip
    right = sum(generated(model, given, length) == wanted for given, wanted in cases)
    made["tokens_generated"] = sum(len(wanted) for _, wanted in cases)
    made["random_inputs_right"] = f"{right_on_random(model, output, words, length)} of {SAMPLES}"
    verdict = proved(model)
    return made | {
        "generated_as_given": right, "certified": verdict.holds, "why_not": verdict.reason,
    }  # fmt: skip
