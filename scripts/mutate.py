"""Change evaluator or schedule a little, in one place, and see that some test notices.

    python scripts/mutate.py schedule        # or plain, fast; --sample 300 for some of them

Tests are collected once. For each mutant a forked process puts the changed code into the
functions that are already loaded (no file is touched) and runs the tests, those that noticed
most in this file so far in front, until one fails, crashes or takes ten times as long as it
should. What became of each is written to `results/mutation.json`: a run goes on where another
stopped, and an explanation of a survivor that is given there by hand stays. The exit status is 1
where a survivor has none. For an evaluator, `--quick` looks at random programs alone; `--again`
then takes what survived that to the tests.

Why no maintained tester: mutmut and cosmic-ray begin a run of pytest for each mutant, and
collecting our tests takes some 5 s of it. For 3,568 mutants that is five hours before the first
test runs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import sys
import time
from bisect import bisect_right
from collections import Counter
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from types import CodeType
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import pytest
from mutant_cases import Cases
from mutant_loading import Loaded
from mutant_record import Found, Record
from mutants import Mutant, mutants

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "rasp"
sys.path.insert(0, str(ROOT / "src"))
RECORD = ROOT / "results" / "mutation.json"
TARGETS = {
    "plain": ["evaluator/plain.py", "evaluator/__init__.py"],
    "fast": sorted(str(path.relative_to(SOURCE)) for path in SOURCE.glob("evaluator/fast/*.py")),
    "schedule": [
        *(f"architecture/{name}.py"
          for name in ("schedule", "layers", "order", "placing", "problem", "greedy", "exact",
                       "bounds", "chain")),
        *(f"graph/{name}.py" for name in ("formulas", "normal", "sums")),
    ],
}  # fmt: skip
EXAMPLES = "test_docs.py::test_examples_in_docstrings_hold"
TESTS = {
    "plain": ["evaluator", "test_errors.py", "test_programs.py", "test_limits.py", EXAMPLES],
    "fast": ["evaluator", "test_errors.py", "test_limits.py", EXAMPLES],
    "schedule": ["architecture", "test_programs.py", EXAMPLES],
}
OPTIONS = ("-o", "addopts=", "-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:xdist")
MOST_MEMORY = 4 << 30
SURVIVED, KILLED, UNUSABLE = 0, 1, 3
FEW = 20
"""Mutants for which it is not worth a look at all tests first."""


class Mutating:
    """A pytest plugin that runs the collected tests once for each mutant."""

    def __init__(
        self, paths: list[str], found: list[Found], record: Record, options: argparse.Namespace
    ) -> None:
        self.paths, self.mutants, self.record = paths, found, record
        self.slowest, self.most, self.minutes = options.slowest, options.most, options.minutes
        self.is_few = len(found) < FEW
        self.durations: dict[str, float] = {}
        self.touched: dict[str, set[str]] = {}
        self.reached: set[str] = set()  # what no test calls may still have been called on import
        self.kills: Counter[tuple[str, str]] = Counter()

    def pytest_collection_finish(self) -> None:
        from hypothesis import settings  # after pytest has made itself at home in it

        settings.register_profile("mutants", database=None, derandomize=True, deadline=None)
        settings.load_profile("mutants")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        parts = [path.replace("/", ".").rpartition(".")[0] for path in self.paths]
        items = {item.nodeid: item for item in session.items
                 if EXAMPLES not in item.nodeid
                 or item.nodeid.rpartition("[rasp.")[2].rstrip("]") in parts}  # fmt: skip
        self.loaded = Loaded(self.paths)
        give_time()
        if self.is_few:
            self.durations = dict.fromkeys(items, self.slowest)
        else:
            work = partial(watched, list(items.values()), self.slowest)
            status, told = in_a_fork(work)
            assert status == SURVIVED, f"a test fails without any change: {told[-1:]}"
            self.durations = {name: seconds for name, seconds, _ in told}
            self.touched = {name: set(functions) for name, _, functions in told}
            self.reached = set().union(*self.touched.values())
        print(f"{len(self.mutants)} mutants, {len(self.durations)} tests, "
              f"{sum(self.durations.values()):.0f} s", flush=True)  # fmt: skip
        until = time.monotonic() + 60 * self.minutes
        for number, (path, mutant) in enumerate(self.mutants):
            if number % 50 == 0:
                print(f"{number} of {len(self.mutants)}", time.strftime("%X"), flush=True)
            if time.monotonic() > until:
                break
            self._try(path, mutant, items)
        return True

    def _try(self, path: str, mutant: Mutant, items: dict[str, pytest.Item]) -> None:
        called = f"{SOURCE / path} {mutant.function}"
        is_anywhere = self.is_few or not mutant.function or called not in self.reached
        useful = [name for name in self.durations if is_anywhere or called in self.touched[name]]
        useful.sort(key=lambda name: self._price(name, path))
        if not self.is_few:
            total = list(accumulate(self.durations[name] for name in useful))
            useful = useful[: bisect_right(total, self.most)]
        chosen = [items[name] for name in useful]

        def child(tell: Any) -> int:
            if not self.loaded.put_in_place(mutant, str(SOURCE / path)):
                return UNUSABLE
            return run_tests(chosen, self.durations, tell)

        status, told = in_a_fork(child)
        outcome = {SURVIVED: "survived", KILLED: "killed", UNUSABLE: "unusable"}.get(
            status, "stopped"
        )
        self.record.add((path, mutant, outcome))
        if outcome in ("killed", "stopped") and told:
            self.kills[told[-1][0], path] += 10
            self.kills[told[-1][0], ""] += 1
        if outcome not in ("killed", "stopped"):
            print(f"{outcome}  {path}:{mutant.line}  {mutant.key}", flush=True)

    def _price(self, name: str, path: str) -> float:
        """Seconds for a chance: what noticed changes of this file is likely to notice others."""
        return (self.durations[name] + 0.01) / (1 + self.kills[name, path] + self.kills[name, ""])


def give_time() -> None:
    """Let the exact search take as long as a loaded machine needs; a test's own time is bounded."""
    from rasp.insight.schedule import placing

    placing.SECONDS_FOR_AUTO = placing.SECONDS_FOR_EXACT


def in_a_fork(work: Any) -> tuple[int, list[Any]]:
    """Run work in a process of its own; return its status (negative: a signal) and what it told."""
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        os.close(reading)
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)

        def tell(value: Any) -> None:
            os.write(writing, json.dumps(value).encode() + b"\n")

        try:
            status = work(tell)
        except BaseException:
            status = KILLED
        os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as stream:
        told = [json.loads(line) for line in stream if line.endswith("\n")]
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), told


def run_tests(items: list[pytest.Item], durations: dict[str, float], tell: Any) -> int:
    """Run tests to the first that fails; one that takes far too long ends the process."""
    for item, following in pairwise([*items, None]):
        tell([item.nodeid])
        signal.setitimer(signal.ITIMER_VIRTUAL, 10 * durations[item.nodeid] + 2)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if item.session.testsfailed:
            return KILLED
    return SURVIVED


def quickly(found: list[Found], record: Record, minutes: float) -> None:
    """Try mutants of an evaluator on random programs alone."""
    cases, loaded = Cases(record.target), Loaded(TARGETS[record.target])
    until = time.monotonic() + 60 * minutes
    for number, (path, mutant) in enumerate(found):
        if number % 50 == 0:
            print(f"{number} of {len(found)}", time.strftime("%X"), flush=True)
        if time.monotonic() > until:
            break

        def child(tell: Any, path: str = path, mutant: Mutant = mutant) -> int:
            if not loaded.put_in_place(mutant, str(SOURCE / path)):
                return SURVIVED
            return KILLED if cases.notice(tell) else SURVIVED

        status, told = in_a_fork(child)
        if status == SURVIVED:
            print(f"survived  {path}:{mutant.line}  {mutant.key}", flush=True)
        elif told:
            cases.kills[told[-1]] += 1
        record.add((path, mutant, "survived" if status == SURVIVED else "killed"))


class TooSlow(BaseException):
    pass


def watched(items: list[pytest.Item], slowest: float, tell: Any) -> int:
    """Run tests without any change; tell of the quick ones how long, and what they call."""

    late: list[bool] = []

    def give_up(*_: object) -> None:
        late.append(True)
        raise TooSlow

    signal.signal(signal.SIGVTALRM, give_up)
    for item, following in zip(items, [*items[1:], None], strict=True):
        seen: set[CodeType] = set()
        began = time.process_time()
        signal.setitimer(signal.ITIMER_VIRTUAL, slowest)
        sys.setprofile(lambda frame, event, argument, seen=seen: seen.add(frame.f_code))
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        sys.setprofile(None)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        seconds = time.process_time() - began
        if item.session.testsfailed and not late:
            tell([item.nodeid, seconds, []])
            return KILLED
        item.session.testsfailed = 0
        called = {f"{code.co_filename} {code.co_qualname.partition('.<locals>')[0]}"
                  for code in seen if code.co_filename.startswith(str(SOURCE))}  # fmt: skip
        if not late:
            tell([item.nodeid, seconds, sorted(called)])
        late.clear()
    return SURVIVED


def every_mutant(paths: list[str]) -> list[Found]:
    return [(path, mutant) for path in paths
            for mutant in mutants((SOURCE / path).read_text(), str(SOURCE / path))]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description="See that tests notice small changes.")
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--only", nargs="+", help="names of files, such as `layout`")
    parser.add_argument("--tests", nargs="+", help="files in `tests` that are run instead")
    parser.add_argument("--sample", type=int, default=0, help="try so many, chosen by the seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--slowest", type=float, default=1.0, help="leave out tests of more seconds"
    )
    parser.add_argument("--most", type=float, default=60.0, help="seconds of tests for each mutant")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after N minutes")
    parser.add_argument("--quick", action="store_true", help="an evaluator, on random programs")
    parser.add_argument("--again", action="store_true", help="only unexplained survivors")
    parser.add_argument("--afresh", action="store_true", help="also what was tried before")
    parser.add_argument("--record", type=Path, default=RECORD)
    arguments = parser.parse_args()
    paths = TARGETS[arguments.target]
    record = Record(arguments.record, arguments.target, every_mutant(paths))
    found = record.unexplained() if arguments.again else record.untried()
    found = list(record.every) if arguments.afresh else found
    if arguments.only:
        found = [each for each in found if Path(each[0]).stem in arguments.only]
    random.Random(arguments.seed).shuffle(found)  # so that the first of them are a fair sample
    if arguments.sample:
        found = found[: arguments.sample]
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    if arguments.quick:
        quickly(found, record, arguments.minutes)
    elif found:
        plugin = Mutating(paths, found, record, arguments)
        tests = [str(ROOT / "tests" / name) for name in arguments.tests or TESTS[arguments.target]]
        pytest.main([*OPTIONS, *tests], plugins=[plugin])
    record.save()
    return 1 if record.unexplained() else 0


if __name__ == "__main__":
    sys.exit(main())
