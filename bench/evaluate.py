"""Programs and lengths in, a table of evaluation times out.

For each program and length: the time, how it grew since a tenth of the length, the peak memory
of the whole process, and the time as a multiple of a numpy sort of the same tokens, of the plain
evaluator and (with `--other PATH`, a checkout of another implementation) of that one. Every cell
is measured in a process of its own, best of several runs; times include reading the input and
making the list of results. `python bench/evaluate.py --help` says more.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

BENCH = Path(__file__).resolve().parent
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Case:
    """A program as statements, its output, what its inputs are made of, and whose words it uses."""

    statements: tuple[str, ...]
    output: str
    brackets: tuple[str, ...] = ()  # empty: letters
    is_everywhere: bool = True  # False: uses what the 2021 REPL does not have
    numbers: int = 0  # where not 0: whole numbers below this

    def tokens(self, length: int, seed: int = 0) -> str | list[int]:
        """Make an input: random letters or numbers, or brackets that open and close at random."""
        rng = random.Random(seed)
        if self.numbers:
            return rng.choices(range(self.numbers), k=length)
        if not self.brackets:
            return "".join(rng.choices(LETTERS, k=length))
        made: list[str] = []
        open_now: list[str] = []
        while len(made) < length:
            if open_now and rng.random() < 0.5:
                made.append(open_now.pop())
            else:
                pair = rng.choice(self.brackets)
                made.append(pair[0])
                open_now.append(pair[1])
        return "".join(made)


DEPTH = (
    'opens = tokens in ["(", "{"];',
    'closes = tokens in [")", "}"];',
    "depth = num_prevs(opens) - num_prevs(closes);",
    "inside = depth + indicator(closes);",
    "earlier = select(inside, inside, ==) and select(indices, indices, <=);",
)
ANSWER = (
    'wrong = closes and not ((opener + tokens) in ["()", "{}"]);',
    "had_problem = num_prevs(wrong or depth < 0) > 0;",
    'answer = "F" if had_problem else ("T" if depth == 0 else "P");',
)
CASES = {
    "reverse": Case(
        ("answer = aggregate(select(indices, length - indices - 1, ==), tokens);",), "answer"
    ),
    "hist": Case(("answer = histf(tokens);",), "answer"),
    "hist2": Case(
        (
            "counts = histf(tokens);",
            "first = not has_prev(tokens);",
            "same = select(counts, counts, ==) and select(first, True, ==);",
            "answer = selector_width(same);",
        ),
        "answer",
    ),
    "sort": Case(("answer = sort(tokens, tokens);",), "answer"),
    "most_freq": Case(
        (
            "first = not has_prev(tokens);",
            "weight = histf(tokens) - indicator(not first) * 10000000;",
            'shown = tokens if first else "-";',
            "answer = sort(shown, 0 - weight);",
        ),
        "answer",
    ),
    "dyck1": Case(
        (
            'balance = num_prevs(tokens == "(") - num_prevs(tokens == ")");',
            "below = num_prevs(balance < 0);",
            'answer = "F" if below > 0 else ("T" if balance == 0 else "P");',
        ),
        "answer",
        ("()",),
    ),
    "dyck2, pure": Case(
        (
            *DEPTH,
            "place = selector_width(earlier);",
            "back = select(opens, True, ==) and earlier and select(place, place - 1, ==);",
            'opener = aggregate(back, tokens, "-");',
            *ANSWER,
        ),
        "answer",
        ("()", "{}"),
    ),
    "dyck2, best": Case(
        (
            *DEPTH,
            "back = select_best(select(opens, True, ==) and earlier, score(indices, 1));",
            'opener = aggregate(back, tokens, "-");',
            *ANSWER,
        ),
        "answer",
        ("()", "{}"),
        is_everywhere=False,
    ),
    "next greater": Case(
        (
            "candidates = select(indices, indices, >) and select(tokens, tokens, >);",
            "answer = aggregate(select_best(candidates, score(indices, -1)), tokens);",
        ),
        "answer",
        is_everywhere=False,
        numbers=1000,
    ),
    "prev. smaller": Case(
        (
            "candidates = select(indices, indices, <) and select(tokens, tokens, <);",
            "answer = aggregate(select_best(candidates, score(indices, 1)), tokens, -1);",
        ),
        "answer",
        is_everywhere=False,
        numbers=1000,
    ),
}


def best_times(work: Callable[[], object], runs: int) -> dict[str, float]:
    """The shortest of several runs, in seconds: by the clock, and of this process alone."""
    seconds = own = float("inf")
    for _ in range(runs):
        start, own_start = time.perf_counter(), time.process_time()
        work()
        seconds = min(seconds, time.perf_counter() - start)
        own = min(own, time.process_time() - own_start)
    return {"seconds": seconds, "own": own}


def measure(how: str, name: str, length: int, runs: int, other: str | None) -> dict[str, float]:
    """Measure one cell, in this process."""
    case = CASES[name]
    tokens = case.tokens(length)
    if how == "other":
        from other_repl import OtherRepl

        repl = OtherRepl(Path(other or "."), case.statements)
        return best_times(lambda: repl.apply(case.output, tokens), 1)
    if how == "numpy sort":
        import numpy as np

        codes = np.array([ord(token) if isinstance(token, str) else token for token in tokens])
        return best_times(lambda: np.sort(codes), max(runs, 5))
    import numpy  # noqa: F401, so that the fast evaluator is chosen as in a program that runs on

    import rasp
    from rasp.language.evaluator import apply, evaluate_plain

    node = rasp.run("\n".join(case.statements))[case.output].node
    if how == "plain":
        given = tuple(tokens)
        return best_times(lambda: evaluate_plain([node], given), runs)
    apply(node, tokens[:300])  # imports and plans are made once
    times = best_times(lambda: apply(node, tokens), runs)
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return times | {"peak": peak / 2**20}


def measured(how: str, name: str, length: int, options: argparse.Namespace) -> dict[str, float]:
    """Measure one cell in a fresh process; nothing where it fails or takes too long."""
    runs = options.runs if length >= 100_000 else 5 * options.runs
    command = [sys.executable, __file__, "--cell", how, name, str(length), "--runs", str(runs)]
    if options.other:
        command += ["--other", options.other]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=options.patience, check=True
        )
        found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        return {}
    except (subprocess.CalledProcessError, ValueError, IndexError) as error:
        lines = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
        print(f"  {how}, {name}, {length}: {lines[-1] if lines else error}", file=sys.stderr)
        return {}
    return found


def print_table(options: argparse.Namespace) -> None:
    """Print a row for each program and length."""
    heads = [
        "program",
        "length",
        "time",
        "growth",
        "peak MiB",
        "× numpy sort",
        "× faster than plain",
    ]
    heads += ["× faster than other"] if options.other else []
    print("  ".join(f"{head:>12}" for head in heads))
    for name in options.programs:
        before: tuple[int, float] | None = None
        for length in options.lengths:
            ours = measured("fast", name, length, options)
            if not ours:
                continue
            seconds = ours["seconds"]
            row = [name, f"{length:,}", shown(seconds), growth(before, length, ours["own"])]
            row += [f"{ours['peak']:.0f}"]
            row += [ratio(seconds, measured("numpy sort", name, length, options))]
            for how, longest in (
                ("plain", options.longest_plain),
                ("other", options.longest_other),
            ):
                if how == "other" and not options.other:
                    continue
                fits = length <= longest and (how == "plain" or CASES[name].is_everywhere)
                theirs = measured(how, name, length, options) if fits else {}
                row += [f"{theirs['seconds'] / seconds:.1f}" if theirs else "–"]
            print("  ".join(f"{cell:>12}" for cell in row), flush=True)
            before = (length, ours["own"])


def best(work: Callable[[], object], runs: int) -> str:
    return shown(best_times(work, runs)["seconds"])


def shown(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.2f} ms"


def growth(before: tuple[int, float] | None, length: int, seconds: float) -> str:
    """How much longer it took per ten times the tokens, by its own time: others may be busy."""
    if before is None or length != 10 * before[0]:
        return "–"
    return f"× {seconds / before[1]:.1f}"


def ratio(seconds: float, theirs: dict[str, float]) -> str:
    return f"{seconds / theirs['seconds']:.0f}" if theirs else "–"


def print_promises(options: argparse.Namespace) -> None:
    """Print the figures that are not about long inputs."""
    import rasp

    names = rasp.run("hist = histf(tokens); sorted = sort(tokens, tokens);")
    names["hist"]("hello")
    print(f'hist("hello")                      {best(lambda: names["hist"]("hello"), 50)}')
    text = CASES["sort"].tokens(400)
    names["sorted"](text)
    print(f"sort of 400 tokens                 {best(lambda: names['sorted'](text), 50)}")
    rng = random.Random(0)
    inputs = ["".join(rng.choices(LETTERS, k=rng.randint(1, 100))) for _ in range(50_000)]
    for name in ("sort", "hist2"):
        handle = rasp.run("\n".join(CASES[name].statements))[CASES[name].output]
        times = best_times(lambda handle=handle: rasp.evaluate(handle, inputs), options.runs)
        print(f"50,000 inputs of 1 to 100, {name:<7} {shown(times['seconds'])}, "
              f"own time {shown(times['own'])}")  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description="Time the evaluators.")
    parser.add_argument("--programs", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument(
        "--lengths", nargs="+", type=int, default=[100, 1_000, 10_000, 100_000, 1_000_000]
    )
    parser.add_argument("--runs", type=int, default=3, help="runs of a cell (the best counts)")
    parser.add_argument("--longest-plain", type=int, default=1_000)
    parser.add_argument("--longest-other", type=int, default=1_000)
    parser.add_argument("--other", help="a checkout of another implementation (`RASP_support/`)")
    parser.add_argument("--patience", type=float, default=300, help="seconds for one cell")
    parser.add_argument("--batches", action="store_true", help="only short inputs and batches")
    parser.add_argument("--cell", nargs=3, metavar=("HOW", "PROGRAM", "LENGTH"), help="(internal)")
    options = parser.parse_args()
    if options.cell:
        how, name, length = options.cell
        print(json.dumps(measure(how, name, int(length), options.runs, options.other)))
        return 0
    if not options.batches:
        print_table(options)
        print()
    print_promises(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
