"""Change evaluator or schedule a little, in one place, and see that some test notices.

    python scripts/mutate.py schedule        # or plain, fast; --sample 300 for some of them

Tests are collected once. For each mutant a forked process puts the changed code into the
functions that are already loaded (no file is touched) and runs the tests, those that noticed
most so far in front, until one fails, crashes or takes ten times as long as it should. What
survives is written to `results/mutation.json`; an explanation given there by hand stays. The
exit status is 1 where a survivor has none.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import resource
import signal
import sys
import time
from bisect import bisect_right
from collections.abc import Iterable
from functools import _lru_cache_wrapper, partial
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, TypeAlias

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import pytest
from mutant_cases import Cases
from mutants import Mutant, mutants

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "rasp"
sys.path.insert(0, str(ROOT / "src"))
RECORD = ROOT / "results" / "mutation.json"
TARGETS = {
    "plain": ["evaluator/plain.py", "evaluator/__init__.py"],
    "fast": sorted(str(path.relative_to(SOURCE)) for path in SOURCE.glob("evaluator/fast/*.py")),
    "schedule": [
        f"architecture/{name}.py"
        for name in ("schedule", "layers", "order", "placing", "problem", "greedy", "exact",
                     "bounds", "chain", "linear", "normal")
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
Outcome: TypeAlias = tuple[str, Mutant, str]
"""A file, a mutant of it, and `killed`, `stopped`, `survived` or `unusable`."""


class Mutating:
    """A pytest plugin that runs the collected tests once for each mutant."""

    def __init__(
        self, paths: list[str], found: list[tuple[str, Mutant]], options: argparse.Namespace
    ) -> None:
        self.paths, self.mutants = paths, found
        self.slowest, self.most, self.minutes = options.slowest, options.most, options.minutes
        self.is_again = options.again
        self.durations: dict[str, float] = {}
        self.touched: dict[str, set[str]] = {}
        self.kills: dict[str, int] = {}
        self.outcomes: list[Outcome] = []

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
        if self.is_again:  # few mutants: not worth a look at all tests first
            self.durations = dict.fromkeys(items, self.slowest)
        else:
            work = partial(watched, list(items.values()), self.slowest)
            status, told = in_a_fork(work)
            assert status == SURVIVED, f"a test fails without any change: {told[-1:]}"
            self.durations = {name: seconds for name, seconds, _ in told}
            self.touched = {name: set(functions) for name, _, functions in told}
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
        is_anywhere = self.is_again or not mutant.function
        useful = [name for name in self.durations if is_anywhere or called in self.touched[name]]
        useful.sort(key=lambda name: (self.durations[name] + 0.01) / (1 + self.kills.get(name, 0)))
        if not self.is_again:
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
        self.outcomes.append((path, mutant, outcome))
        if outcome in ("killed", "stopped") and told:
            self.kills[told[-1][0]] = self.kills.get(told[-1][0], 0) + 1
        if outcome not in ("killed", "stopped"):
            print(f"{outcome}  {path}:{mutant.line}  {mutant.key}", flush=True)


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
    for item, following in zip(items, [*items[1:], None], strict=True):
        tell([item.nodeid])
        signal.setitimer(signal.ITIMER_VIRTUAL, 10 * durations[item.nodeid] + 2)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if item.session.testsfailed:
            return KILLED
    return SURVIVED


def quickly(found: list[tuple[str, Mutant]], target: str, minutes: float) -> list[Outcome]:
    """Try mutants of an evaluator on random programs alone."""
    cases, loaded = Cases(target), Loaded(TARGETS[target])
    outcomes: list[Outcome] = []
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
        outcomes.append((path, mutant, "survived" if status == SURVIVED else "killed"))
    return outcomes


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
        called = [f"{code.co_filename} {code.co_qualname}" for code in seen
                  if code.co_filename.startswith(str(SOURCE))]  # fmt: skip
        if not late:
            tell([item.nodeid, seconds, called])
        late.clear()
    return SURVIVED


class Loaded:
    """The functions that are loaded, by file and name."""

    def __init__(self, paths: Iterable[str]) -> None:
        for path in paths:
            import_module(f"rasp.{path.removesuffix('.py').replace('/', '.')}")
        self.functions: dict[tuple[str, str, int], list[FunctionType]] = {}
        self.caches = [each for each in gc.get_objects() if isinstance(each, _lru_cache_wrapper)]
        for each in gc.get_objects():
            if isinstance(each, FunctionType):
                self.functions.setdefault(_place(each.__code__), []).append(each)

    def put_in_place(self, mutant: Mutant, path: str) -> bool:
        """Give loaded functions the changed code, or loaded modules the changed value.

        A function inside the changed one may be loaded too, as part of a table.
        """
        for cache in self.caches:
            cache.cache_clear()
        if not mutant.function:
            return _replace_names(mutant, path)
        done = False
        for new in _codes(mutant.code):
            if f"{new.co_qualname}.".startswith(f"{mutant.function}."):
                for function in self.functions.get(_place(new), []):
                    if function.__code__.co_freevars != new.co_freevars:
                        return False
                    function.__code__ = new
                    done = True
        return done


def _place(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _codes(code: CodeType) -> list[CodeType]:
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return inner + [deeper for each in inner for deeper in _codes(each)]


def _replace_names(mutant: Mutant, path: str) -> bool:
    loaded = [module for name, module in sys.modules.items() if name.split(".")[0] == "rasp"]
    old = vars(next(module for module in loaded if module.__file__ == path))
    new = {"__name__": old["__name__"], "__package__": old["__package__"]}
    exec(mutant.code, new)
    for name in mutant.names:
        before = old[name]
        for module in loaded:
            if vars(module).get(name) is before:
                setattr(module, name, new[name])
    return True


def every_mutant(paths: list[str]) -> list[tuple[str, Mutant]]:
    return [(path, mutant) for path in paths
            for mutant in mutants((SOURCE / path).read_text(), str(SOURCE / path))]  # fmt: skip


def named(path: str, mutant: Mutant) -> str:
    return f"{path} {mutant.key}"


def written(
    outcomes: list[Outcome], about: dict[str, Any], before: dict[str, Any], is_again: bool
) -> dict[str, Any]:
    """The record of a run; explanations that stood in it before are kept.

    Where only unexplained survivors were tried again, the others are what they were.
    """
    explained = {each["mutant"]: each["why"] for each in before.get("survivors", [])}
    tried_now = {named(path, mutant) for path, mutant, _ in outcomes}
    survivors = [each for each in before.get("survivors", [])
                 if is_again and each["mutant"] not in tried_now]  # fmt: skip
    counts: dict[str, dict[str, int]] = {}
    for path, mutant, outcome in outcomes:
        name, is_killed = named(path, mutant), outcome in ("killed", "stopped")
        numbers = counts.setdefault(path, {"killed": 0, "survived": 0})
        numbers["killed" if is_killed else "survived"] += 1
        if not is_killed:
            survivors.append({"mutant": name, "why": explained.get(name, "")})
    for path, numbers in before.get("by file", {}).items() if is_again else ():
        survived = sum(each["mutant"].split()[0] == path for each in survivors)
        counts[path] = {"killed": sum(numbers.values()) - survived, "survived": survived}
    tried = sum(sum(numbers.values()) for numbers in counts.values())
    return {
        "python": sys.version.split()[0],
        **about,
        "tried": tried,
        "killed": tried - len(survivors),
        "by file": dict(sorted(counts.items())),
        "survivors": sorted(survivors, key=lambda each: each["mutant"]),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="See that tests notice small changes.")
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--sample", type=int, default=0, help="try so many, chosen by the seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--slowest", type=float, default=1.0, help="leave out tests of more seconds"
    )
    parser.add_argument("--most", type=float, default=60.0, help="seconds of tests for each mutant")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so many")
    parser.add_argument("--quick", action="store_true", help="an evaluator, on random programs")
    parser.add_argument("--again", action="store_true", help="only unexplained survivors")
    parser.add_argument("--record", type=Path, default=RECORD)
    arguments = parser.parse_args()
    paths = TARGETS[arguments.target]
    record = json.loads(arguments.record.read_text()) if arguments.record.exists() else {}
    before = record.get(arguments.target, {})
    every = found = every_mutant(paths)
    about: dict[str, Any] = {"mutants": len(every), "seed": arguments.seed}
    random.Random(arguments.seed).shuffle(found)  # so that the first of them are a fair sample
    if arguments.again:
        survivors = {each["mutant"] for each in before["survivors"] if not each["why"]}
        found = [each for each in every if named(*each) in survivors]
        about["seed"] = before["seed"]
    elif arguments.sample:
        found = found[: arguments.sample]
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    if arguments.quick:
        outcomes = quickly(found, arguments.target, arguments.minutes)
    else:
        plugin = Mutating(paths, found, arguments)
        tests = [str(ROOT / "tests" / name) for name in TESTS[arguments.target]]
        pytest.main([*OPTIONS, *tests], plugins=[plugin])
        outcomes = plugin.outcomes
    record[arguments.target] = written(outcomes, about, before, arguments.again)
    arguments.record.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    return 0 if all(each["why"] for each in record[arguments.target]["survivors"]) else 1


if __name__ == "__main__":
    sys.exit(main())
