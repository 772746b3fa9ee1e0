"""What every test shares: random cases take as long as they take, since timings here are noise.

Material that is not ours to keep (the reference's answers, published labels, a program from the
wild) is read from the folder `shared` beside the checkout. Where it is missing, the run says so at
its end, so that nobody takes a green run for one that tried it.
"""

from __future__ import annotations

import re
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("rasp", deadline=None)
settings.load_profile("rasp")

# A run in the background may have been told to ignore Ctrl-C, and so would all that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

TESTS = Path(__file__).parent
FLOORS = ("base", "language", "insight", "models", "teaching", "apps")
sys.path += [str(TESTS), *(str(TESTS / floor) for floor in FLOORS)]  # what tests of rooms share

pytest.register_assert_rewrite("program_files")

SHARED = Path(__file__).resolve().parents[2] / "shared"
MATERIAL = {
    "golden": "the reference's answers to 2,595 programs",
    "dialects": "the published labels of 125 languages",
    "wild": "a program of a thousand lines with its answers",
}

ALL_SLOW = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.slow", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path, config: Any) -> bool | None:
    """Leave out files whose tests are all slow without importing them: many import torch."""
    if config.option.markexpr != "not slow" or collection_path.suffix != ".py":
        return None
    return True if ALL_SLOW.search(collection_path.read_text(encoding="utf-8")) else None


def pytest_collect_file(file_path: Path, parent: Any) -> Any:
    """Take each `.rasp` file of `programs/` and `errors/` for tests of its own."""
    if file_path.suffix != ".rasp":
        return None
    from program_files import ProgramFile, runs_of

    return ProgramFile.from_parent(parent, path=file_path) if runs_of(file_path) else None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Name the material that was not there to be tried."""
    missing = [what for folder, what in MATERIAL.items() if not (SHARED / folder).is_dir()]
    for what in missing:
        terminalreporter.write_line(f"NOT TRIED: {what} ({SHARED} does not hold it)", yellow=True)
