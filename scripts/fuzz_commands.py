"""Mutated programs of the gallery through the command line's own entry, under hard limits.

    python scripts/fuzz_commands.py [--count 100000] [--seed 0] [--record FILE]

Each program goes through `rasp.apps.cli.main` in a process of one GiB of address space. It may end
with any exit code, but with no traceback, and at most a second of processor time over its budget.
The record is written after each batch, and the next run goes on from there.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import io
import json
import os
import random
import re
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from rasp.apps.cli import COMMANDS as KNOWN
from rasp.apps.cli import main as rasp_main
from rasp.base.file_writing import replace_file

GALLERY = sorted(
    (Path(__file__).parents[1] / "src" / "rasp" / "teaching" / "gallery").glob("*.rasp")
)
ADDRESS_SPACE = 1 << 30
BATCH = 250
SECONDS = 1.0
GRACE = 1.0
HANGS_AFTER = 60.0
"""Seconds of wall time after which a process that says nothing is ended, and counted as hanging."""
MOST_FAILURES = 50
HOSTILE = (
    "10 ^ 3999", '"ab" * 50000', "range(99999)", "[1] * 99999", "1 / 3", "-1", "0", "3 ^ 8000",
    "select(indices, indices, <=)", "(lambda)", "tokens_int", "2 ^ -0.5", "length", "1e-300", "{}",
    "[tokens, indices]", "d([1], 60)", "sort(tokens, tokens)", "[[]]", "not", "\\x1b[31m", "\\0",
)  # fmt: skip
PREFIXES = (
    "def d(x, n) { return x if n == 0 else d([x, x], n - 1); }\n",
    "x = tokens; for i in range(3000) { x = x + 1; }\n",
    "s = select_all; for i in range(2000) { s = s and select(indices, i, !=); }\n",
)
INPUTS = ("hello", "[3, 1, 2]", "a", "()(())", "ab" * 200, '["1", "2", "x"]', "[0.5, 7]", "[1, 2]")
COMMANDS = ("run",) * 6 + ("check", "fmt", "eval", "eval", "arch", "draw")
WORDS = re.compile(r"\w+|\s+|==|!=|<=|>=|//|[^\w\s]")


def mutated(rng: random.Random) -> str:
    """A program of the gallery, changed in a few places."""
    words = WORDS.findall(rng.choice(GALLERY).read_text(encoding="utf-8"))
    others = WORDS.findall(rng.choice(GALLERY).read_text(encoding="utf-8"))
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        at = rng.randrange(len(words)) if words else 0
        match rng.randrange(6):
            case 0:
                del words[at : at + rng.randint(1, 4)]
            case 1:
                words[at:at] = words[at : at + rng.randint(1, 12)]
            case 2:
                words[at : at + 1] = [rng.choice(others)]
            case 3:
                start = rng.randrange(len(others))
                words[at:at] = others[start : start + rng.randint(1, 30)]
            case 4:
                words[at : at + 1] = [rng.choice(HOSTILE)]
            case 5:
                words[at : at + 1] = [chr(rng.choice((0, 27, 34, 39, 92, 0x202E, 0xD800, 0x1F600)))]
    return (rng.choice(PREFIXES) if rng.random() < 0.05 else "") + "".join(words)


def ran(number: int, seed: int, folder: Path) -> dict[str, Any]:
    """Make one program and run one command on it; say how it ended."""
    rng = random.Random(f"{seed} {number}")
    text, command = mutated(rng), rng.choice(COMMANDS)
    path = folder / "program.rasp"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    names = re.findall(r"^(\w+) *=", text, re.MULTILINE) or ["x"]
    words = [command, str(path)]
    words += [rng.choice(names)] if command in ("eval", "arch", "draw") else []
    words += [rng.choice(INPUTS)] if command in ("eval", "draw") else []
    words += ["--limit", f"seconds={SECONDS:g}"]
    told, code, begun = io.StringIO(), -1, time.process_time()
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        try:
            code = rasp_main(words)
        except BaseException as error:
            print(f"Traceback: {type(error).__name__}: {error}")
    spent = time.process_time() - begun
    result: dict[str, Any] = {"number": number, "command": command, "code": code, "seconds": spent}
    if "Traceback" in told.getvalue():
        result["failure"] = told.getvalue()[-300:]
    elif spent > phases(command) * SECONDS + GRACE:
        result["failure"] = f"{spent:.2f} seconds"
    return result | ({"text": text, "words": words[2:]} if "failure" in result else {})


def phases(command: str) -> int:
    """How often a command may use its seconds: for the text, and for what it does with it."""
    return 2 if command in ("eval", "arch", "draw") else 1


def batch(first: int, last: int, seed: int, told: int) -> None:
    """Run some programs in this process, and tell how each ended, a line each."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    with tempfile.TemporaryDirectory() as folder, os.fdopen(told, "w") as answers:
        for number in range(first, last):
            answers.write(json.dumps(ran(number, seed, Path(folder))) + "\n")
            answers.flush()


def told_by(child: int, reading: int) -> list[dict[str, Any]]:
    """Read what a process tells; end it where it says nothing for long."""
    results = []
    signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
    with os.fdopen(reading) as lines:
        signal.setitimer(signal.ITIMER_REAL, HANGS_AFTER)
        for line in lines:
            signal.setitimer(signal.ITIMER_REAL, HANGS_AFTER)
            results.append(json.loads(line))
    signal.setitimer(signal.ITIMER_REAL, 0)
    return results


def run_batch(first: int, last: int, seed: int) -> list[dict[str, Any]]:
    """Run some programs in forked processes; one that dies or hangs costs one program."""
    results: list[dict[str, Any]] = []
    while first < last:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            try:
                batch(first, last, seed, writing)
            finally:
                os._exit(0)
        os.close(writing)
        results += told_by(child, reading)
        _, status = os.waitpid(child, 0)
        first = results[-1]["number"] + 1 if results else first
        if first < last:
            text = mutated(random.Random(f"{seed} {first}"))
            failure = f"the process ended with status {status}"
            results.append({"number": first, "command": "?", "code": -1, "seconds": 0.0,
                            "failure": failure, "text": text})  # fmt: skip
            first += 1
    return results


def import_everything() -> None:
    """Import what commands need once, before any process is forked."""
    for command in set(COMMANDS):
        importlib.import_module(KNOWN[command][0])
    for module in (
        "rasp.insight.drawing",
        "rasp.language.evaluator.fast.evaluate",
        "scipy.optimize",
    ):
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    gc.freeze()


def main() -> int:
    import_everything()
    parser = argparse.ArgumentParser(description="Mutated programs through the command line.")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--record", type=Path, default=Path("results/fuzz-commands.json"))
    arguments = parser.parse_args()
    record: dict[str, Any] = {
        "seed": arguments.seed, "programs": 0, "exit_codes": {}, "commands": {},
        "most_seconds": 0.0, "processor_seconds": 0.0, "failures": [],
        "budget_seconds": SECONDS, "address_space": ADDRESS_SPACE, "python": sys.version.split()[0],
    }  # fmt: skip
    if arguments.record.exists():
        record = json.loads(arguments.record.read_text(encoding="utf-8"))
    while record["programs"] < arguments.count and len(record["failures"]) < MOST_FAILURES:
        first = record["programs"]
        results = run_batch(first, min(first + BATCH, arguments.count), record["seed"])
        for counted, key in (("exit_codes", "code"), ("commands", "command")):
            total = Counter(record[counted]) + Counter(str(result[key]) for result in results)
            record[counted] = dict(total)
        record["programs"] += len(results)
        record["failures"] += [result for result in results if "failure" in result]
        record["most_seconds"] = max(record["most_seconds"], *(r["seconds"] for r in results))
        record["processor_seconds"] += sum(result["seconds"] for result in results)
        replace_file(arguments.record, (json.dumps(record, indent=1) + "\n").encode())
        print(f"{record['programs']:,} programs, {len(record['failures'])} failures", flush=True)
    return 1 if record["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
