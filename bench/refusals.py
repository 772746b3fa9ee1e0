"""Random programs and the gallery in; how many are refused, why, where and how fast out, as JSON.

`python bench/refusals.py random 300` (at length 12), `short 300` (the same at the lengths of 1 to
5 that the fuzzer draws) or `gallery 20`; further arguments are the only programs of the gallery to
be tried. Programs are compiled as they are by default: robust, or else compact. Run it on two
commits to compare them: seeds, vocabularies and lengths are the same. Times are of the processor,
so that a busy machine makes little difference.
"""

from __future__ import annotations

import json
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from rasp.apps.fuzzing import judge_compiler
from rasp.apps.fuzzing.cases import random_case
from rasp.apps.fuzzing.outcomes import NothingToCompare
from rasp.base.errors import RaspError, RaspUnsupportedError
from rasp.language.graph import Node, Program, SOp
from rasp.models.compiler.build import compile_nodes
from rasp.models.compiler.settings import Settings, read_settings

LENGTH = 12
SECONDS = 60
REASONS = {
    "too many combinations": "combinations|worked out at once|one of several s-ops",
    "too many means": "the mean of its values",
    "too many sums": "the sum of its values|a sum of values|can be one of",
    "no margin in float32": "no margin left|is not certain",
    "no rule of the checker": "exactly in float32",
    "too many classes or columns": "tells .* apart|hidden units|would have to make|select_best",
    "without a sink": "without a sink",
    "not causal": "after the query",
    "strings and numbers": "strings",
    "the program fails": "fails on",
}


def reason_of(message: str) -> str:
    """The first group that a refusal belongs to."""
    found = (name for name, pattern in REASONS.items() if re.search(pattern, message))
    return next(found, "other")


def random_programs(
    count: int, length: int | None
) -> Iterator[tuple[str, Node, Settings, Program]]:
    """The last s-op of each random case, at one length, or each at its own."""
    for seed in range(count):
        try:
            case = random_case(seed)
            s_ops = {name: node for name, node in case.outputs.items() if isinstance(node, SOp)}
            if not s_ops or not case.inputs:
                continue
            name, node = list(s_ops.items())[-1]
            judge_compiler._is_small_enough(node)
            drawn = judge_compiler._settings(case)
            settings = replace(drawn, max_length=length or drawn.max_length, style="auto")
            program = case.elaborated.session.program_of(name)
        except (NothingToCompare, RaspError):
            continue
        place = "sink" if drawn.sink else "no sink"
        yield f"{seed} {'causal' if drawn.causal else place}", node, settings, program


def gallery(length: int, only: Sequence[str]) -> Iterator[tuple[str, Node, Settings, Program]]:
    """Every program of the gallery, over its own tokens."""
    from compile_gallery import vocabulary_of

    from rasp.teaching.gallery import entries, load

    for entry in entries():
        handle: Any = load(entry.name)
        if isinstance(handle.node, SOp) and (not only or entry.name in only):
            tokens = vocabulary_of(entry, length)
            settings = read_settings(tokens, length, None, False, True, "paper", "auto")
            yield entry.name, handle.node, settings, handle.program


def outcome(name: str, node: Node, settings: Settings, program: Program) -> dict[str, Any]:
    """ "compiled", "too slow", or why it is refused; how long it takes, and if it says where."""
    start, place = time.process_time(), True
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        compile_nodes({name: node}, settings, program)
        what = "compiled"
    except TimeoutError:
        what = "too slow"
    except RaspUnsupportedError as error:
        what = reason_of(error.message)
        place = all(each.span is not None for each in error.everything)
    except RaspError as error:
        what, place = "other", error.span is not None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return {"outcome": what, "seconds": round(time.process_time() - start, 2), "has place": place}


def _late(*_: object) -> None:
    raise TimeoutError


def main() -> None:
    signal.signal(signal.SIGPROF, _late)
    kind, number, *only = sys.argv[1:]
    if kind == "gallery":
        cases = gallery(int(number), only)
    else:
        cases = random_programs(int(number), LENGTH if kind == "random" else None)
    found = {case[0]: outcome(*case) for case in cases}
    refused = {name: known for name, known in found.items() if known["outcome"] != "compiled"}
    slowest = sorted(refused.items(), key=lambda each: -each[1]["seconds"])[:10]
    lost = [name for name, known in refused.items() if not known["has place"]]
    print(json.dumps({
        "counts": Counter(known["outcome"] for known in found.values()),
        "refused without a place": lost,
        "slowest refusals": dict(slowest),
        "outcomes": found,
    }, indent=1))  # fmt: skip


if __name__ == "__main__":
    main()
