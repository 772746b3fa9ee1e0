"""Random programs and the gallery in, how many are refused and why out, as JSON.

`python bench/refusals.py random 600` or `python bench/refusals.py gallery 20`. Run it on two
commits to compare them: seeds, vocabularies and lengths are the same.
"""

from __future__ import annotations

import json
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from rasp.compiler.build import compile_nodes
from rasp.compiler.settings import Settings, read_settings
from rasp.errors import RaspError, RaspUnsupportedError
from rasp.fuzzing import judge_compiler
from rasp.fuzzing.cases import random_case
from rasp.fuzzing.outcomes import Refused
from rasp.graph import Node, Program, SOp

LENGTH = 12
SECONDS = 20
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


def random_programs(count: int) -> Iterator[tuple[str, Node, Settings, Program]]:
    """The last s-op of each random case, at one length."""
    for seed in range(count):
        try:
            case = random_case(seed)
            s_ops = {name: node for name, node in case.outputs.items() if isinstance(node, SOp)}
            if not s_ops or not case.inputs:
                continue
            name, node = list(s_ops.items())[-1]
            judge_compiler._is_small_enough(node)
            drawn = judge_compiler._settings(case)
            settings = replace(drawn, max_length=LENGTH, style="compact")
            program = case.elaborated.session.program_of(name)
        except (Refused, RaspError):
            continue
        yield name, node, settings, program


def gallery(length: int) -> Iterator[tuple[str, Node, Settings, Program]]:
    """Every program of the gallery, over its own tokens."""
    from compile_gallery import vocabulary_of

    from rasp.programs import entries, load

    for entry in entries():
        handle: Any = load(entry.name)
        if isinstance(handle.node, SOp):
            tokens = vocabulary_of(entry, length)
            settings = read_settings(tokens, length, None, False, True, "paper", "compact")
            yield entry.name, handle.node, settings, handle.program


def outcome(name: str, node: Node, settings: Settings, program: Program) -> str:
    """ "compiled", "too slow", or why it is refused."""
    signal.alarm(SECONDS)
    try:
        compile_nodes({name: node}, settings, program)
    except TimeoutError:
        return "too slow"
    except RaspUnsupportedError as error:
        return reason_of(error.message)
    except RaspError:
        return "other"
    finally:
        signal.alarm(0)
    return "compiled"


def _late(*_: object) -> None:
    raise TimeoutError


def main() -> None:
    signal.signal(signal.SIGALRM, _late)
    kind, number = sys.argv[1], int(sys.argv[2])
    cases = random_programs(number) if kind == "random" else gallery(number)
    found = {f"{place} {case[0]}": outcome(*case) for place, case in enumerate(cases)}
    print(json.dumps({"counts": Counter(found.values()), "outcomes": found}, indent=1))


if __name__ == "__main__":
    main()
