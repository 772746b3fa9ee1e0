"""Run the tests of the core and say how much of each of its folders they reach.

    python scripts/measure_coverage.py                   # the table; exit status 1 below 95 %
    python scripts/measure_coverage.py --record          # and results/coverage.json
    python scripts/measure_coverage.py --part compiler   # its own tests, for its own row

Browsers, notebooks, training, exports and the slowest tests are left out, so that it takes
minutes. What counts is branches: of each `if`, both ways. `pyproject.toml` says what does not.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
from collections import Counter
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "results" / "coverage.json"
LEAST = 95.0
SINGLE = "single files"
"""The modules beside the folders."""
LEFT_OUT = ("__main__", "cluster")
"""One of these is a process of its own, and the other needs an extra."""
PARTS = {
    "front": ("operators", "syntax", "graph", "frontend", "evaluator", "architecture", SINGLE),
    "compiler": ("compiler",),
}
TESTS = {
    "front": (
        "operators", "evaluator", "architecture/test_corners.py",
        "architecture/test_schedule_parts.py", "architecture/test_explain.py",
        "architecture/test_fit.py",
        "architecture/test_patterns.py", "architecture/test_arch_and_fit_commands.py",
        "editors/test_grammar.py", "test_atoms.py", "cli/test_cli.py", "cli/test_terminal.py",
        "test_errors.py", "test_work_budgets.py",
        "test_limits.py", "test_programs.py", "repl",
        "test_reading.py", "test_replacing.py", "test_token_lists.py", "frontend", "graph",
        "syntax",
    ),
    "compiler": ("compiler",),
}  # fmt: skip
SLOW = (
    "gallery or golden or memory_is_linear or limit_ or hostile or deep_graph or grammar_refuses "
    "or heap_of_words or every_command or says_what_to_do"
)
"""Tests that take long and reach nothing that others do not."""


def measured(part: str, workers: str, folder: Path) -> dict[str, Counter[str]]:
    """Run the tests; count lines and branches of each folder, and those that were reached."""
    report = folder / "coverage.json"
    tests = [str(ROOT / "tests" / name) for name in TESTS[part]]
    subprocess.run(
        [sys.executable, "-m", "pytest", "-n", workers, "--cov=rasp",
         "--cov-branch", f"--cov-report=json:{report}", "-k", f"not ({SLOW})", *tests],
        check=True, cwd=ROOT,
    )  # fmt: skip
    counts: dict[str, Counter[str]] = {}
    for path, found in json.loads(report.read_text())["files"].items():
        parts = Path(path).with_suffix("").parts
        parts = parts[parts.index("rasp") + 1 :]
        name = SINGLE if len(parts) == 1 and parts[0] not in LEFT_OUT else parts[0]
        if name in PARTS[part]:
            counts.setdefault(name, Counter()).update(found["summary"])
    return counts


def share(counts: Counter[str], reached: str, of: str) -> float:
    return round(100 * counts[reached] / counts[of], 1)


def table_of(counts: dict[str, Counter[str]]) -> dict[str, dict[str, float]]:
    return {
        name: {
            "branches": found["num_branches"],
            "branches reached, %": share(found, "covered_branches", "num_branches"),
            "lines": found["num_statements"],
            "lines reached, %": share(found, "covered_lines", "num_statements"),
        }
        for name, found in sorted(counts.items())
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="How much of the core the tests reach.")
    parser.add_argument("--part", choices=PARTS, help="all parts, if none is given")
    parser.add_argument("--record", action="store_true", help="write results/coverage.json")
    parser.add_argument("-n", default="2", help="how many tests at once")
    arguments = parser.parse_args()
    table: dict[str, dict[str, float]] = {}
    for part in [arguments.part] if arguments.part else PARTS:
        with tempfile.TemporaryDirectory() as folder:
            table |= table_of(measured(part, arguments.n, Path(folder)))
    print(f"{'':<14} {'branches':>8} {'reached':>8} {'lines':>8} {'reached':>8}")
    for name, row in table.items():
        whole, reached, lines, lines_reached = row.values()
        print(f"{name:<14} {whole:>8} {reached:>6} % {lines:>8} {lines_reached:>6} %")
    if arguments.record:
        before = json.loads(RECORD.read_text())["core"] if RECORD.exists() else {}
        versions = {name: version(name) for name in ("coverage", "pytest", "hypothesis", "numpy")}
        record = {"python": platform.python_version(), **versions, "core": before | table}
        RECORD.write_text(json.dumps(record, indent=1) + "\n")
    return 0 if all(row["branches reached, %"] > LEAST for row in table.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
