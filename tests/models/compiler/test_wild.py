"""A program that somebody else wrote, of a thousand lines: its weights are certified."""

from __future__ import annotations

from pathlib import Path

import pytest
from wild_weights import cases_of
from wild_weights import record as record_of

ROOT = Path(__file__).resolve().parents[3]
WILD = ROOT.parent / "shared" / "wild"


@pytest.mark.slow
@pytest.mark.skipif(not WILD.is_dir(), reason="the folder `shared` is not there")
def test_a_program_of_a_thousand_lines_is_certified() -> None:
    """At ten tokens it takes ten feed-forward blocks, choices by gates and a careful plan."""
    cases = cases_of(WILD / "sentences.json", 10, 1)
    record = record_of(WILD / "rasp-for-cogs.rasp", cases, 10, blocks=40)
    assert record["certified"], record["why_not"]
    assert record["generated_as_given"] == record["sentences"] == 1
