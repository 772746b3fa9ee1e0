"""Run the tests of the core and say how much of each of its folders they reach.

    python scripts/measure_coverage.py            # the table; exit status 1 below 95 %
    python scripts/measure_coverage.py --record   # and results/coverage.json

Browsers, notebooks, training and exports are left out, so that it takes minutes. What counts
is branches: of each `if`, both ways. `pyproject.toml` says what is no branch.
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
CORE = ("syntax", "graph", "frontend", "evaluator", "architecture", "compiler", SINGLE)
SINGLES = ("source", "errors", "limits", "atoms", "words", "spelling", "replacing")
TESTS = (
    "evaluator", "architecture", "compiler", "embedding", "equivalence", "paper", "lsp", "faults",
    "programs_gallery", "editors/test_grammar.py", "fuzzing/test_parser_found.py",
    "fuzzing/test_printer_found.py", "fuzzing/test_grammar_found.py", "test_atoms.py",
    "test_cli.py", "test_errors.py", "test_limits.py", "test_load.py", "test_programs.py",
    "test_repl.py", "test_replacing.py", "test_sessions.py", "test_syntax.py", "test_trees.py",
    "test_docs.py::test_examples_in_docstrings_hold",
)  # fmt: skip


def measured(workers: str, folder: Path) -> dict[str, Counter[str]]:
    """Run the tests; count lines and branches of each folder, and those that were reached."""
    report = folder / "coverage.json"
    tests = [str(ROOT / "tests" / name) for name in TESTS]
    subprocess.run(
        [sys.executable, "-m", "pytest", "-n", workers, "--dist", "loadgroup", "--cov=rasp",
         "--cov-branch", f"--cov-report=json:{report}", *tests],
        check=True, cwd=ROOT,
    )  # fmt: skip
    counts: dict[str, Counter[str]] = {}
    for path, found in json.loads(report.read_text())["files"].items():
        parts = Path(path).with_suffix("").parts
        parts = parts[parts.index("rasp") + 1 :]
        name = SINGLE if parts[0] in SINGLES else parts[0]
        if name in CORE:
            counts.setdefault(name, Counter()).update(found["summary"])
    return counts


def share(counts: Counter[str], reached: str, of: str) -> float:
    return round(100 * counts[reached] / counts[of], 1)


def main() -> int:
    parser = argparse.ArgumentParser(description="How much of the core the tests reach.")
    parser.add_argument("--record", action="store_true", help="write results/coverage.json")
    parser.add_argument("-n", default="2", help="how many tests at once")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        counts = measured(arguments.n, Path(folder))
    table = {
        name: {
            "branches": counts[name]["num_branches"],
            "branches reached, %": share(counts[name], "covered_branches", "num_branches"),
            "lines": counts[name]["num_statements"],
            "lines reached, %": share(counts[name], "covered_lines", "num_statements"),
        }
        for name in CORE
    }
    print(f"{'':<14} {'branches':>8} {'reached':>8} {'lines':>8} {'reached':>8}")
    for name, row in table.items():
        whole, part, lines, lines_part = row.values()
        print(f"{name:<14} {whole:>8} {part:>6} % {lines:>8} {lines_part:>6} %")
    if arguments.record:
        versions = {name: version(name) for name in ("coverage", "pytest", "hypothesis", "numpy")}
        record = {"python": platform.python_version(), **versions, "tests": TESTS, "core": table}
        RECORD.write_text(json.dumps(record, indent=1) + "\n")
    return 0 if all(row["branches reached, %"] > LEAST for row in table.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
