"""Next-token programs in, tokens a second out: decoding beside evaluating every step from scratch.

Both are measured in one run, in processor time of this process. *From scratch* is what a loop in
Python did before there was `rasp.generate`: the program is applied to the whole sequence for every
token; it is measured on a sample of the steps, spread over all of them. *Batch* is all inputs
together in `rasp.generate`, plan and tables included; *again* is the same once it has learnt them.
*One input* is a generation of its own, plan and tables included. Every answer is compared.

`python bench/generate.py` measures two small programs; with a program, its s-op and a JSON file of
`{"sentence": …, "logical_form": […]}` it measures that. `--other S L` adds the ratio to another
implementation that takes S seconds a token and L seconds to load.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import statistics
import time
from pathlib import Path
from typing import Any

import numpy

import rasp
from rasp.insight.generation.growing import decoder_of
from rasp.insight.generation.loop import GrowingInput, Rules, grow_together, question_of
from rasp.insight.generation.tokens import text_of
from rasp.language.embedding.handles import Handle

COPY = """
bar = aggregate(select(tokens, "|", ==), indices);
made = length - 1 - bar;
copy = aggregate(select(indices, made, ==), tokens) if made < bar else "";
"""
INDUCTION = """
before = aggregate(select(indices, indices - 1, ==), tokens, "");
seen = select(before, tokens, ==) and select(indices, indices, <=);
follows = aggregate(select_best(seen, score(indices, 1)), tokens, "");
induction = "" if selector_width(select(indices, indices, <=)) > 60 else follows;
"""


def small_cases() -> dict[str, tuple[Handle, list[Any]]]:
    """Two programs that come with the benchmark: one that sees everything, and a causal one."""
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefgh", k=rng.randint(5, 20))) for _ in range(162)]
    return {
        "copy": (rasp.run(COPY)["copy"], [f"{word}|" for word in words]),
        "induction, causal": (rasp.run(INDUCTION)["induction"], [word + word[0] for word in words]),
    }


def run_batch(
    handle: Handle, inputs: list[Any], decoder: Any = None
) -> tuple[list[GrowingInput], Any]:
    """Generate for all inputs together; return what came out, and what was learnt."""
    rules = Rules(most=200)
    question = question_of(handle, rules)
    decoder = decoder or decoder_of(question)
    rows = [GrowingInput(given, question) for given in inputs]
    for _ in grow_together(rows, question, rules, decoder):
        pass
    return rows, decoder


def seconds(work: Any) -> tuple[float, Any]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def measure(
    name: str, handle: Handle, inputs: list[Any], expected: list[list[Any]] | None, sample: int
) -> dict[str, Any]:
    """One row of the table."""
    batch, (rows, decoder) = seconds(lambda: run_batch(handle, inputs))
    again, _ = seconds(lambda: run_batch(handle, inputs, decoder))
    made = [[step.token for step in row.steps if step.token is not None] for row in rows]
    assert expected is None or made == expected, f"{name}: not the answers that were expected"
    every = [(row, step) for row in rows for step in row.steps]
    chosen = every[:: max(1, len(every) // sample)]

    def from_scratch() -> None:
        for row, step in chosen:
            given = list(row.tokens)[: len(row.given) + step.step]
            assert text_of(handle(given)[-1]) == text_of(step.value), name

    scratch, _ = seconds(from_scratch)
    alone = [
        seconds(lambda given=given: run_batch(handle, [given]))[0] / len(row.steps)
        for given, row in list(zip(inputs, rows, strict=True))[:: max(1, len(inputs) // 20)]
    ]
    per_token = scratch / len(chosen)
    return {
        "program": name,
        "inputs": len(inputs),
        "tokens": len(every),
        "longest": max(len(row.tokens) for row in rows),
        "sampled_from_scratch": len(chosen),
        "from_scratch_ms_a_token": round(1000 * per_token, 2),
        "batch_tokens_a_second": round(len(every) / batch),
        "again_tokens_a_second": round(len(every) / again),
        "times_faster": round(per_token * len(every) / batch, 1),
        "one_input_ms_a_token": round(1000 * statistics.median(alone), 2),
        "one_input_ms_a_token_worst": round(1000 * max(alone), 2),
        "batch_cpu_seconds": round(batch, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program", nargs="?", help="a file of RASP")
    parser.add_argument("name", nargs="?", help="its s-op that says the next token")
    parser.add_argument("sentences", nargs="?", type=Path, help="sentences and what they give")
    parser.add_argument("--sample", type=int, default=150, help="steps from scratch (150)")
    parser.add_argument("--other", nargs=2, type=float, metavar=("SECONDS", "LOAD"))
    parser.add_argument("--record", type=Path, help="keep the figures in this JSON file")
    options = parser.parse_args()
    if options.program:
        known = json.loads(options.sentences.read_text(encoding="utf-8"))
        text = Path(options.program).read_text(encoding="utf-8")
        load, names = seconds(lambda: rasp.run(text))
        handle = names[options.name]
        inputs = [[*each["sentence"].split(), "|"] for each in known]
        expected = [each["logical_form"] for each in known]
        rows = [measure(Path(options.program).stem, handle, inputs, expected, options.sample)]
        if options.other:
            per_token, other_load = options.other
            theirs = per_token * rows[0]["tokens"] + other_load
            rows[0] |= {
                "other_seconds_a_token": per_token,
                "other_seconds_to_load": other_load,
                "times_faster_than_other": round(theirs / (rows[0]["batch_cpu_seconds"] + load)),
            }
    else:
        rows = [
            measure(name, handle, inputs, None, options.sample)
            for name, (handle, inputs) in small_cases().items()
        ]
    for row in rows:
        print("\n".join(f"{key:>28}  {value}" for key, value in row.items()) + "\n")
    if options.record:
        old = json.loads(options.record.read_text()) if options.record.exists() else {"rows": []}
        kept = [row for row in old["rows"] if row["program"] not in {r["program"] for r in rows}]
        record = {
            "command": "python bench/generate.py [PROGRAM NAME SENTENCES --other S L] --record …",
            "python": platform.python_version(),
            "numpy": numpy.__version__,
            "rows": [*kept, *rows],
        }
        options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
