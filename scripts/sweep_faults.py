"""Let memory run out at every point of small programs: `python scripts/sweep_faults.py`.

Two sweeps, as SQLite's tests do it. *Calls*: each call of a function of rasp fails once, command by
command (the tests try 60 of them). *Allocations*: each allocation that Python makes while a
command runs fails once, in a process of its own. A run must end with an exit code and either its
usual output or one line about memory: never a traceback or a hang. A signal is never right either,
but NumPy's own code ends a process at a few allocations: these are counted apart. (A disk that is
full at every moment is swept by tests/faults.) What was found is in results/faults.json; a command
that is there, with nothing wrong, is not swept again.
"""

from __future__ import annotations

import _testcapi  # comes with CPython's own builds
import contextlib
import faulthandler
import io
import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.test_memory_errors import COMMANDS, PROGRAM, told_by  # noqa: E402

from rasp.apps.cli import main as rasp_main  # noqa: E402
from rasp.base.file_writing import replace_file  # noqa: E402

RECORD = ROOT / "results" / "faults.json"
SMALL = 'l = [i * 2 for i in range(3)];\nhist = histf(tokens);\nz = hist("ab");\n'
ALLOCATING = ("run", "check", "eval", "fmt", "arch")
SECONDS = 60
NOT_BEGUN = 97
WRONG = "wrong"
QUIET = 300
"""So many points in a row without effect: the command makes no more allocations."""


def sweep_calls(words: list[str]) -> dict[str, int]:
    """Let each call of the command fail in turn."""
    told_by(words, 0)  # imports what there is to import
    _, usual, calls = told_by(words, 0)
    ends: Counter[str] = Counter()
    for point in range(2, calls + 1):
        code, told, _ = told_by(words, point)
        ends[judged(code, told, usual, f"call {point}")] += 1
    return {"points": calls - 1, **ends}


def sweep_allocations(words: list[str]) -> dict[str, int]:
    """Let each allocation of the command fail in turn."""
    with contextlib.redirect_stdout(io.StringIO()):
        rasp_main(words)
    _, usual = without_memory(words, 0)
    ends: Counter[str] = Counter()
    point = quiet = 0
    while quiet < QUIET:
        point += 1
        end = judged(*without_memory(words, point), usual, f"allocation {point}")
        ends[end] += 1
        quiet = quiet + 1 if end == "as usual" else 0
    ends["as usual"] -= QUIET
    return {"points": point - QUIET, **ends}


def judged(code: int, told: str, usual: str, point: str) -> str:
    """How a run ended; a way in which it may not end is printed."""
    if code == NOT_BEGUN:
        return "before the command began"
    if code < 0 and "rasp/evaluator/fast/" in told.partition(" in ")[0]:  # faulthandler says where
        return "ended by a signal in a call of NumPy"
    if code in (0, 1, 2) and "Traceback" not in told:
        if told == usual and code == 0:
            return "as usual"
        if "more memory" in told:
            return "says that memory ran out"
    print(f"{point}: exit code {code}\n{told[-2000:]}", flush=True)
    return WRONG


def without_memory(words: list[str], point: int) -> tuple[int, str]:
    """Run a command in a child in which one allocation fails; its exit code and what it printed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.alarm(SECONDS)
        run_here(words, point, writing)
    os.close(writing)
    with os.fdopen(reading, errors="replace") as told:
        text = told.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), text


def run_here(words: list[str], point: int, output: int) -> None:
    """Run a command with its output sent elsewhere, and end this process."""
    code = 98
    try:
        os.dup2(output, 2)
        faulthandler.enable(output)
        sys.stdout = os.fdopen(os.dup(output), "w")
        sys.stderr = os.fdopen(os.dup(output), "w", buffering=1)
        if point:
            _testcapi.set_nomemory(point, point + 1)
        code = rasp_main(words)
        _testcapi.remove_mem_hooks()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException as escaped:
        _testcapi.remove_mem_hooks()
        is_ours = escaped.__traceback__ is None or escaped.__traceback__.tb_next is None
        code = NOT_BEGUN if is_ours else 98
        os.write(output, "".join(traceback.format_exception(escaped)).encode())
    finally:
        os._exit(code)


def main() -> None:
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        program, small = Path(folder, "program.rasp"), Path(folder, "small.rasp")
        program.write_text(PROGRAM)
        small.write_text(SMALL)
        for kind, names, path, sweep in (
            ("allocations", ALLOCATING, small, sweep_allocations),
            ("calls", tuple(COMMANDS), program, sweep_calls),
        ):
            for name in names:
                if record.get(f"{kind}: {name}", {WRONG: 1}).get(WRONG, 0) == 0:
                    continue
                began = time.process_time()
                words = [str(path) if word == "PROGRAM" else word for word in COMMANDS[name]]
                words = [word.replace("hist,s", "hist") for word in words]
                ends = sweep(words)
                record[f"{kind}: {name}"] = ends
                print(f"{time.process_time() - began:6.0f} s  {kind}: {name}: {ends}", flush=True)
                replace_file(RECORD, (json.dumps(record, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
