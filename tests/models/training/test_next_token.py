"""Decoders: what they learn is what the program says, and a run can be stopped and taken up."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rasp
from rasp.apps.cli import main
from rasp.models.training.next_token.data import IGNORED, coding_of, make_sequences
from rasp.models.training.next_token.tasks import own_task

torch = pytest.importorskip("torch", reason="training needs PyTorch")

from rasp.models.training.next_token import trainer  # noqa: E402
from rasp.models.training.next_token.config import DecoderRun  # noqa: E402
from rasp.models.training.next_token.decoder import Size, initial, logits  # noqa: E402
from rasp.models.training.next_token.trainer import train  # noqa: E402

sys.path.insert(0, str(Path(__file__).parents[3] / "bench"))
import decoders as bench  # noqa: E402
from gallery_tasks import CHOSEN, decoding_task, forecast_of  # noqa: E402
from length_tasks import TASKS  # noqa: E402

pytestmark = pytest.mark.slow

RECORDS = Path(__file__).parents[3] / "results" / "decoders.jsonl"
TINY = {"layers": 1, "heads": 2, "width": 16, "steps": 6, "batch": 4, "train": 30, "test": 20}


@pytest.mark.parametrize("name", TASKS)
def test_what_is_learnt_is_what_the_program_generates(name: str) -> None:
    task = TASKS[name]
    random = np.random.default_rng(3)
    prompts = [task.draw(random, length) for length in (2, 5, 9)]
    for prompt, generated in zip(prompts, rasp.generate(task.handle, prompts), strict=True):
        assert task.guess is not None and generated.tokens == task.guess(prompt)


def test_a_wrong_guess_is_noticed() -> None:
    lying = replace(TASKS["parity"], guess=lambda prompt: ["1"])
    with pytest.raises(AssertionError, match="does not say"):
        make_sequences(lying, coding_of(lying), (1, 5), 20, seed=0)


def test_targets_of_an_answering_program_are_its_values() -> None:
    task = decoding_task("dyck1")
    coding = coding_of(task)
    made = make_sequences(task, coding, (6, 6), 10, seed=0)
    for tokens, targets in zip(made.tokens, made.targets, strict=True):
        length = int((targets != IGNORED).sum())
        given = [coding.tokens[number] for number in tokens[1 : length + 1]]
        said = [coding.answers[number] for number in targets[1 : length + 1]]
        assert task.handle(given) == said and targets[0] == IGNORED


def test_a_program_that_looks_ahead_is_refused() -> None:
    with pytest.raises(rasp.RaspUnsupportedError, match="later positions"):
        _ = own_task("x = length;", "x", "ab").handle


def test_a_decoder_sees_only_what_came_before() -> None:
    size = Size(layers=2, heads=2, width=16, tokens=5, answers=3, places=12)
    parameters = initial(size, [0, 1])
    tokens = torch.randint(0, 5, (2, 3, 8))
    changed = tokens.clone()
    changed[:, :, 5:] = (changed[:, :, 5:] + 1) % 5
    offsets = torch.zeros(2, 3, dtype=torch.long)
    one, other = (logits(parameters, size, each, offsets) for each in (tokens, changed))
    assert torch.allclose(one[:, :, :5], other[:, :, :5], atol=1e-6)
    assert not torch.allclose(one[:, :, 5:], other[:, :, 5:], atol=1e-6)


def test_models_of_a_stack_do_not_mix(tmp_path: Path) -> None:
    both = [DecoderRun("parity", seed, **TINY) for seed in (0, 1)]
    together = train(both, TASKS, tmp_path / "together")
    alone = train(both[1:], TASKS, tmp_path / "alone")
    run = both[1].id
    assert together[run]["loss"] == pytest.approx(alone[run]["loss"], rel=1e-4)


def test_a_run_that_was_stopped_goes_on_to_the_same_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [DecoderRun("parity", 0, **TINY)]
    whole = train(runs, TASKS, tmp_path / "whole", save_every=2)
    lines: list[str] = []

    def stop(line: str) -> None:
        lines.append(line)
        if len(lines) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(runs, TASKS, tmp_path / "stopped", tell=stop, save_every=2)
    assert not (tmp_path / "stopped" / "decoders.jsonl").exists()
    resumed = train(runs, TASKS, tmp_path / "stopped", save_every=2)
    assert resumed[runs[0].id]["loss"] == pytest.approx(whole[runs[0].id]["loss"], rel=1e-4)

    def never(*_: object) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr(trainer, "_Training", never)
    assert train(runs, TASKS, tmp_path / "stopped") == resumed


def test_a_decoder_learns_something(tmp_path: Path) -> None:
    run = DecoderRun("token_classes", 0, layers=1, heads=2, width=32, steps=150, batch=32,
                     train=500, test=100, rate=3e-3)  # fmt: skip
    record = train([run], {"token_classes": decoding_task("token_classes")}, tmp_path)[run.id]
    assert record["tokens"]["1-50"] > 0.9


def test_recorded_runs_are_those_of_the_experiments() -> None:
    """The records in `results/` have the ids that the bench asks for, and fill both tables."""
    records = [json.loads(line) for line in RECORDS.read_text(encoding="utf-8").splitlines()]
    known = {record["id"]: record for record in records}
    lengths = bench.length_runs(**bench.LENGTHS)
    assert all(run.id in known for run in lengths)
    assert len(bench.length_table(records)) == 1 + 2 * len(TASKS)
    forecasts = bench.forecast_runs(CHOSEN, **bench.FORECAST)
    assert all(run.id in known for run in forecasts)


def test_forecasts_are_counted() -> None:
    record = {"config": {"task": "x", "positions": "none"},
              "exact": {"1-50": 1.0, "51-100": 1.0, "101-150": 0.2}}  # fmt: skip
    assert bench.tally(bench.forecast_table([record], {"x": True})) == "0 of 1 forecasts came true"
    assert bench.tally(bench.forecast_table([record], {"x": False})) == "1 of 1 forecasts came true"
    assert bench.tally(bench.forecast_table([record], {"x": None})) == "0 of 0 forecasts came true"


def test_forecasts_follow_the_language() -> None:
    assert forecast_of("majority_so_far") and forecast_of("tomita7")
    assert forecast_of("gray_code") is False


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "p.rasp"
    program.write_text("again = has_prev(tokens);\nlater = length;\n")
    small = ["--steps", "4", "--train", "30", "--test", "20", "--batch", "4", "--width", "16"]
    results = ["--results", str(tmp_path / "r"), "--device", "cpu"]
    assert main(["train", str(program), "again", "--next-token", *small, *results]) == 0
    assert "101 to 150 tokens (longer)" in capsys.readouterr().out
    assert main(["train", str(program), "later", "--next-token", *small, *results]) == 2
    assert "later positions" in capsys.readouterr().err
    for words in (["forecast", "--tasks", "tomita1"], ["lengths", "--tasks", "parity"]):
        bench.main([*words, "--smoke", "--results", str(tmp_path)])
        assert words[-1] in capsys.readouterr().out


def test_what_the_docs_say_of_the_test_inputs_of_tomita4() -> None:
    """Where the first 000 ends, of 1,000 inputs of 101 to 150 tokens: docs/experiments.md."""
    task = decoding_task("tomita4")
    coding = coding_of(task)
    made = make_sequences(task, coding, (101, 150), 1000, seed=1)
    words = ["".join(coding.tokens[each] for each in row if each != coding.bos)
             for row in made.tokens]  # fmt: skip
    ends = [word.find("000") + 3 for word in words if "000" in word]
    assert [sum(end <= 50 for end in ends), len(words) - len(ends)] == [909, 84]
    page = (Path(__file__).parents[3] / "docs" / "experiments.md").read_text(encoding="utf-8")
    assert "909 hold their first `000`" in page and "84 hold none" in page
