"""Next-token programs in, tokens a second out.

*Batch* is all inputs together in `rasp.generate`; *one input* is a generation of its own. Both
are measured in processor time of this process, after the imports.

`python bench/generate.py` measures two small programs and the addition of `examples/generating`;
with a program, its s-op and a JSON file of `{"sentence": …, "logical_form": […]}` it measures that,
and compares every answer. `--other S L` adds the ratio to another implementation that takes S
seconds a token and L seconds to load; `--times N` repeats the sentences.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy

import rasp
from rasp.language.embedding.handles import Handle

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "generating"
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


def two_numbers(rng: random.Random) -> list[str]:
    """Two numbers of three digits, with the place of each digit before it."""
    left, right = ([part for place in "abc" for part in (place, str(rng.randint(0, 9)))]
                   for _ in range(2))  # fmt: skip
    return [*left, "+", *right, "="]


def small_cases() -> dict[str, tuple[Handle, list[Any]]]:
    """An example, and two programs of our own: one that sees everything, and a causal one."""
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefgh", k=rng.randint(5, 20))) for _ in range(162)]
    addition = (EXAMPLES / "addition.rasp").read_text(encoding="utf-8")
    sums = [two_numbers(rng) for _ in range(256)]
    return {
        "addition": (rasp.run(addition)["addition"], sums),
        "copy": (rasp.run(COPY)["copy"], [f"{word}|" for word in words]),
        "induction, causal": (rasp.run(INDUCTION)["induction"], [word + word[0] for word in words]),
    }


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def measure(
    name: str, handle: Handle, inputs: list[Any], expected: list[list[Any]] | None
) -> dict[str, Any]:
    """One row of the table."""
    rasp.generate(handle, inputs[:1], most=1)  # imports
    batch, generations = seconds(lambda: rasp.generate(handle, inputs, most=200))
    answers = [generation.tokens for generation in generations]
    assert expected is None or answers == expected, f"{name}: not the answers that were expected"
    every = sum(len(generation.steps) for generation in generations)
    alone = [
        seconds(lambda given=given: rasp.generate(handle, [given], most=200))[0] / len(one.steps)
        for given, one in list(zip(inputs, generations, strict=True))[:: max(1, len(inputs) // 20)]
    ]
    return {
        "program": name,
        "inputs": len(inputs),
        "tokens": every,
        "longest": max(len(one.given) + len(one.tokens) for one in generations),
        "batch_tokens_a_second": round(every / batch),
        "one_input_ms_a_token": round(1000 * statistics.median(alone), 2),
        "one_input_ms_a_token_worst": round(1000 * max(alone), 2),
        "batch_cpu_seconds": round(batch, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program", nargs="?", help="a file of RASP")
    parser.add_argument("name", nargs="?", help="its s-op that says the next token")
    parser.add_argument("sentences", nargs="?", type=Path, help="sentences and what they give")
    parser.add_argument("--times", type=int, default=1, help="repeat the sentences (1)")
    parser.add_argument("--other", nargs=2, type=float, metavar=("SECONDS", "LOAD"))
    parser.add_argument("--record", type=Path, help="keep the figures in this JSON file")
    options = parser.parse_args()
    if options.program:
        known = json.loads(options.sentences.read_text(encoding="utf-8")) * options.times
        text = Path(options.program).read_text(encoding="utf-8")
        load, names = seconds(lambda: rasp.run(text))
        handle = names[options.name]
        inputs = [[*each["sentence"].split(), "|"] for each in known]
        expected = [each["logical_form"] for each in known]
        rows = [measure(Path(options.program).stem, handle, inputs, expected)]
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
            measure(name, handle, inputs, None) for name, (handle, inputs) in small_cases().items()
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
