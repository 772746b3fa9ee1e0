"""A next-token program and sentences in; its weights, what they generate, and the verdict out.

`python bench/cogs_weights.py PROGRAM.rasp SENTENCES.json --length 14 --sentences 10` compiles the
s-op `output` for the words of the so many shortest sentences, and of what they generate. The
weights generate each of them, token after token, from the weights alone, as far as `--length`
tokens go; and they answer random inputs. The record says how many come out right, and separately
what the checker says: weights that are right on everything tried are not certified by that.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import time
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


def record(
    program: Path, cases: list[Case], length: int, blocks: int, check: bool
) -> dict[str, Any]:
    """Plan, write the weights, generate, and check."""
    words = sorted({word for given, wanted in cases for word in (*given, *wanted)})
    output = rasp.run(program.read_text(encoding="utf-8"))["output"]
    nodes, names = read_outputs(output, None)
    settings = read_settings(words, length, None, False, True, "split")
    settings = replace(settings, extra_feed_forwards=blocks)
    made: dict[str, Any] = {"words": len(words), "max_length": length, "sentences": len(cases)}
    start = time.process_time()
    plan = make_plan(nodes, settings, names, is_careful=True)
    made["planned_in_s"] = round(time.process_time() - start, 1)
    emitter = Emitter(plan)
    weights = emitter.weights()
    model = assemble(plan, weights, CompactClaimant(emitter, weights).all_claims(), names)
    made |= {"layers": model.layers, "extra_feed_forwards": model.extra_feed_forwards,
             "d_model": model.d_model, "parameters": model.parameter_count}  # fmt: skip
    start = time.process_time()
    right = sum(generated(model, given, length) == wanted for given, wanted in cases)
    made["tokens_generated"] = sum(len(wanted) for _, wanted in cases)
    made["random_inputs_right"] = f"{right_on_random(model, output, words, length)} of {SAMPLES}"
    made |= {"generated_as_given": right, "generated_in_s": round(time.process_time() - start, 1)}
    if check:
        start = time.process_time()
        verdict = proved(model)
        made |= {"certified": verdict.holds, "why_not": verdict.reason,
                 "checked_in_s": round(time.process_time() - start, 1)}  # fmt: skip
    made["memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--length", type=int, default=14)
    parser.add_argument("--sentences", type=int, default=10)
    parser.add_argument("--blocks", type=int, default=40)
    parser.add_argument("--no-check", action="store_true")
    asked = parser.parse_args()
    cases = cases_of(asked.cases, asked.length, asked.sentences)
    print(json.dumps(record(asked.program, cases, asked.length, asked.blocks, not asked.no_check),
                     indent=1))  # fmt: skip


if __name__ == "__main__":
    main()
