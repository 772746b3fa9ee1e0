"""A program that somebody else wrote, of a thousand lines: its weights are certified."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
WILD = ROOT.parent / "shared" / "wild"


@pytest.mark.slow
@pytest.mark.skipif(not WILD.is_dir(), reason="the folder `shared` is not there")
def test_a_program_of_a_thousand_lines_is_certified() -> None:
    """At ten tokens it takes ten feed-forward blocks, choices by gates and a careful plan."""
    command = [sys.executable, str(ROOT / "bench" / "cogs_weights.py"),
               str(WILD / "rasp-for-cogs.rasp"), str(WILD / "sentences.json")]  # fmt: skip
    told = subprocess.run([*command, "--length", "10", "--sentences", "1"], check=True,
                          capture_output=True, text=True).stdout  # fmt: skip
    record = json.loads(told)
    assert record["certified"], record["why_not"]
    assert record["generated_as_given"] == record["sentences"] == 1
