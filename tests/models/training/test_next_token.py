"""Causal models learn what the program says next, see nothing later, and are runs like any."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import rasp
from rasp.apps.cli import main
from rasp.models.training.data import IGNORED, as_inputs, draw_examples, make_data
from rasp.models.training.own import own_config, own_task
from repository import ROOT

torch = pytest.importorskip("torch", reason="training needs PyTorch")

from rasp.models.training.batch_shapes import SlotLayout  # noqa: E402
from rasp.models.training.network import SlotTensors, StackBatch, forward  # noqa: E402
from rasp.models.training.parameters import Shape, initial_row, views  # noqa: E402
from rasp.models.training.run_store import Store  # noqa: E402
from rasp.models.training.sweep import SweepSettings, sweep  # noqa: E402

pytestmark = pytest.mark.slow

COPY = (ROOT / "examples" / "generating" / "copy.rasp").read_text(encoding="utf-8")
AGAIN = "again = has_prev(tokens);"
SMALL = {"width": 16, "feed_forward": 16, "epochs": 2, "batch": 10, "train": 40,
         "validation": 20, "test": 20}  # fmt: skip


def test_what_is_learnt_is_what_the_program_generates() -> None:
    task = own_task(COPY, "copy", "ab", (1, 6), causal=True, after="|")
    drawn = draw_examples(task, 0, "train", 30)
    assert [len(tokens) for tokens in drawn.inputs] == sorted(map(len, drawn.inputs))
    for tokens, wanted in zip(drawn.inputs, drawn.wanted, strict=True):
        prompt = list(tokens[: tokens.index("|") + 1])
        [made] = rasp.generate(task.handle, [prompt])
        assert [*prompt, *made.tokens] == list(tokens)
        assert wanted == [None] * (len(prompt) - 1) + [*made.tokens, ""]


def test_targets_of_an_answering_program_are_its_values() -> None:
    task = own_task(AGAIN, "again", "ab", (1, 6), causal=True)
    data = make_data(task, 0, {"train": 30})
    train = data.splits["train"]
    for tokens, wanted in zip(as_inputs(task, train.tokens, train.lengths), train.targets,
                              strict=True):  # fmt: skip
        answers = [data.classes[number] for number in wanted if number != IGNORED]
        assert task.handle(list(tokens)) == answers


def test_a_program_that_looks_ahead_is_refused() -> None:
    with pytest.raises(rasp.RaspUnsupportedError, match="later positions"):
        _ = own_task("x = length;", "x", "ab", (1, 4), causal=True).handle


def test_a_token_that_is_not_in_the_alphabet_is_named() -> None:
    task = own_task('x = "c" if indices < 2 else "";', "x", "ab", (2, 2), causal=True, after="|")
    with pytest.raises(rasp.RaspValueError, match='appends "c", which is not among the tokens'):
        draw_examples(task, 0, "train", 3)


def test_a_causal_model_sees_only_what_came_before() -> None:
    shape = Shape(2, 2, 16, 16, tokens=5, classes=3, causal=True)
    parameters = views(initial_row(shape, 0)[None], shape)
    plan = SlotTensors(SlotLayout((8,)), "cpu", shape.width)
    tokens = torch.randint(0, 5, (1, 8))
    changed = tokens.clone()
    changed[:, 5:] = (changed[:, 5:] + 1) % 5
    said = [forward(parameters, shape, plan, StackBatch(given, torch.tensor([[8]]), given))[0]
            for given in (tokens, changed)]  # fmt: skip
    assert torch.allclose(said[0][:, :5], said[1][:, :5], atol=1e-6)
    assert not torch.allclose(said[0][:, 5:], said[1][:, 5:], atol=1e-6)


def test_a_causal_model_learns_something(tmp_path: Path) -> None:
    text = "first = aggregate(select(indices, 0, ==), tokens);"
    task = own_task(text, "first", "ab", (1, 8), causal=True)
    config = own_config(task, width=16, feed_forward=16, epochs=6, batch=20,
                        train=400, validation=40, test=100, rate=3e-3)  # fmt: skip
    assert sweep([config], Store(tmp_path), SweepSettings("cpu"))
    record = Store(tmp_path).records()[config.id]
    assert record.test.tokens > 0.9 and record.run == config
    assert record.match is not None


def test_causal_runs_and_others_are_different_runs_of_different_stacks() -> None:
    task = own_task(AGAIN, "again", "ab", (1, 8))
    both = own_config(task, **SMALL), own_config(replace(task, causal=True), **SMALL)
    assert both[0].id != both[1].id and both[0].stack_key != both[1].stack_key
    assert "causal" not in both[0].content["task"], "runs from before keep their ids"


def test_the_command_goes_on_and_options_apply_or_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "p.rasp"
    program.write_text(AGAIN + "later = length;")
    sizes = [word for name, number in SMALL.items()
             for word in (f"--{name.replace('_', '-')}", str(number))]  # fmt: skip
    more = [*sizes, "--max-length", "6", "--results", str(tmp_path / "r"), "--device", "cpu"]
    words = ["train", str(program), "again", "--next-token", *more]
    assert main([*words, "--budget", "0.0000001"]) == 0
    assert "The budget is used up" in capsys.readouterr().out
    assert main(words) == 0
    assert "on inputs of 7 to 12 tokens" in capsys.readouterr().out
    assert main(["train", str(program), "again", *more]) == 0, "beside it, in the same folder"
    capsys.readouterr()
    for wrong, message in (
        (["later", "--next-token"], "later positions"),
        (["again", "--after", "|"], "`--after` says where prompts"),
        (["again", "--heads-to", "x.svg"], "`--heads-to` says where a drawing goes"),
    ):
        assert main(["train", str(program), *wrong, *more]) == 2
        assert message in capsys.readouterr().err
