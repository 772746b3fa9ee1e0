"""Slips that people make, put into programs of the gallery: each is caught on a shortest input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rasp
import rasp.teaching.gallery
from rasp.apps.cli import main
from rasp.base.errors import RaspError
from rasp.insight.equivalence.answering import answer

# A program, a part of it, and the slip that is in its place.
BROKEN = [
    ("reverse", "length - 1 - indices", "length - indices"),
    ("hist", "tokens, tokens, ==", "tokens, tokens, !="),
    ("double_hist", "not has_prev(tokens)", "has_prev(tokens)"),
    ("sort_tokens", "sort(tokens, tokens)", "sort(tokens, -indices)"),
    ("most_freq_no_bos", "-freq if", "freq if"),
    ("dyck1", "balance < 0", "balance < -1"),
    ("dyck2", "indices, indices, <)", "indices, indices, !=)"),
    ("dyck2", "score(indices, 1)", "score(indices, -1)"),
    ("shuffle_dyck", "or curly_balance < 0", ""),
    ("matching_bracket", "score(indices, -1)", "score(indices, 1)"),
    ("every_other", "indices % 2", "indices % 3"),
    ("induction", "indices, indices, <=", "indices, indices, <"),
    ("bracket_depth", " + indicator(closes)", ""),
    ("fraction_of_a", 'tokens == "a"', "indices == 0"),
]


def broken_text(name: str, right: str, wrong: str) -> str:
    text = rasp.programs.source(name)
    assert right in text, "the gallery's program has changed: change the slip with it"
    return text.replace(right, wrong)


def definitions(text: str) -> str:
    """The program without its examples, which a broken one does not meet."""
    return "\n".join(line for line in text.splitlines() if "#>" not in line)


def both_fail(one: object, other: object) -> bool:
    return isinstance(one, RaspError) and isinstance(other, RaspError) and one.kind == other.kind


@pytest.mark.parametrize(
    ("name", "right", "wrong"), BROKEN, ids=[f"{b[0]}: {b[2] or b[1]}" for b in BROKEN]
)
def test_a_broken_copy_is_caught_on_a_shortest_input(name: str, right: str, wrong: str) -> None:
    original = rasp.programs.load(name)
    broken = rasp.run(definitions(broken_text(name, right, wrong)))[name]
    verdict = rasp.equivalent(original, broken)
    found = verdict.difference
    assert found is not None
    assert found.is_shortest
    assert answer([original.node], found.tokens) != answer([broken.node], found.tokens)
    for size in range(1, len(found.tokens)):
        for given in verdict.inputs.of_length(size):
            one, other = answer([original.node], given), answer([broken.node], given)
            assert one == other or both_fail(one, other), given


def test_the_command_line_catches_one_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.rasp", tmp_path / "bad.rasp"
    good.write_text(rasp.programs.source("reverse"), encoding="utf-8")
    bad.write_text(broken_text("reverse", "length - 1", "length - 2"), encoding="utf-8")
    assert main(["diff", str(good), "reverse", str(bad), "reverse"]) == 1
    shown = capsys.readouterr().out
    assert "different on" in shown
    assert '["a"]' in shown
    assert main(["diff", str(good), "reverse", str(bad), "reverse", "--json"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert record["difference"]["shortest"] is True
    assert record["difference"]["input"] == "a"
    assert record["difference"]["first"] != record["difference"]["second"]
