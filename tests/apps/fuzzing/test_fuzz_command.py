"""`rasp fuzz`: it counts what it tried, keeps what fails, and tries it again."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path

import pytest

from fuzzing import judge_text
from fuzzing.layouts import Spacing
from rasp.apps.cli import main
from rasp.apps.fuzzing.campaign import fuzz
from rasp.apps.fuzzing.cases import Case, random_case, read_replay, save_replay
from rasp.apps.fuzzing.judges import HOMES, find_judge, verdict
from rasp.apps.fuzzing.outcomes import Disagreement
from rasp.apps.fuzzing.shrink import shrink
from rasp.base.errors import RaspValueError

pytestmark = pytest.mark.slow

PARSER = "fuzzing.judge_text:judge_parser"
OF_TEXT = (
    PARSER,
    "fuzzing.judge_text:judge_mangled",
    "fuzzing.judge_text:judge_running",
    "fuzzing.judge_text:judge_writing",
    "fuzzing.judge_embedding:judge_embedding",
    "fuzzing.judge_origins:judge_origins",
)


def test_a_seed_is_always_the_same_case() -> None:
    assert [str(random_case(seed)) for seed in range(50)] == [
        str(random_case(seed)) for seed in range(50)
    ]


@pytest.mark.parametrize("name", [*OF_TEXT, *(name for name in HOMES if name != "compiled")])
def test_thirty_programs_pass_every_judge(name: str) -> None:
    judge = find_judge(name)
    kinds = [verdict(judge, random_case(seed)) for seed in range(500, 530)]
    assert [each for each in kinds if each.is_failure] == []
    assert sum(each.kind == "agreed" for each in kinds) > 10


def test_most_programs_run_and_some_do_not() -> None:
    cases = [random_case(seed) for seed in range(150)]
    fine = sum(not case.elaborated.errors for case in cases)
    assert 90 < fine < 150


def test_a_campaign_is_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = tmp_path / "record.json"
    words = ["fuzz", "--programs", "5", "--only", "schedule,fast", "--seed", "3"]
    assert main([*words, "--record", str(record), "--replays", str(tmp_path)]) == 0
    assert "5 programs" in capsys.readouterr().out
    kept = json.loads(record.read_text())
    assert kept["programs"] == 5
    assert set(kept["judges"]) == {"schedule", "fast"}
    assert kept["seed"] == 3


def test_a_campaign_ends_in_the_middle_of_a_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(case: Case) -> None:
        while True:
            with contextlib.suppress(Exception):
                time.sleep(0.01)

    monkeypatch.setattr(judge_text, "judge_parser", endless)
    campaign = fuzz(0.3, 0, [PARSER, "schedule"], tmp_path)
    assert (campaign.programs, campaign.failed) == (1, 0)
    assert campaign.seconds < 5


def test_a_failure_is_kept_small_and_fails_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_shift(case: Case) -> None:
        if "shift" in case.text:
            raise Disagreement("it shifts")

    monkeypatch.setattr(judge_text, "judge_parser", no_shift)
    words = ["fuzz", "--programs", "200", "--only", PARSER, "--replays", str(tmp_path)]
    assert main(words) == 1
    out = capsys.readouterr().out
    assert "it shifts" in out
    replays = sorted(tmp_path.glob("judge_parser-*.json"))
    assert replays
    case, _ = read_replay(replays[0])
    assert len(case.text) < 60
    assert main(["fuzz", "--replay", str(replays[0])]) == 1
    monkeypatch.undo()
    assert main(["fuzz", "--replay", str(replays[0])]) == 0


def test_a_case_comes_back_from_its_file_as_it_was(tmp_path: Path) -> None:
    for seed in range(60):
        case = random_case(seed)
        save_replay(tmp_path / "it.json", case, "fast", "")
        again, judge = read_replay(tmp_path / "it.json")
        assert (again, judge) == (case, "fast")


def test_what_fails_otherwise_is_not_the_same_failure() -> None:
    def judge(case: Case) -> None:
        if len(case.statements) > 2:
            raise Disagreement("long")
        raise RuntimeError("short")

    case = next(case for case in map(random_case, range(99)) if len(case.statements) > 4)
    small, found = shrink(case, judge)
    assert found.kind == "disagreed"
    assert len(small.statements) == 3


def test_layouts_differ() -> None:
    import random

    case = random_case(12)
    assert len({Spacing(random.Random(seed)).program(case.statements) for seed in range(5)}) == 5


def test_a_judge_that_is_none_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--only", "schedul"]) == 2
    assert "did you mean `schedule`?" in capsys.readouterr().err
    assert main(["fuzz", "--only", "fuzzing.judge_text:nobody"]) == 2
    assert "there is no judge `fuzzing.judge_text:nobody`" in capsys.readouterr().err
    with pytest.raises(RaspValueError):
        read_replay(Path("nowhere.json"))
