"""The commands: killed and started again they end with the same numbers, and refusals are clear."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="training needs PyTorch")

from command_line import Terminal  # noqa: E402
from rasp.apps.cli import main  # noqa: E402
from rasp.base import progress as progress_module  # noqa: E402

pytestmark = pytest.mark.slow

REPRODUCE = ["reproduce", "table1", "--smoke", "--tasks", "hist,dyck_1"]


def start(results: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "rasp", *REPRODUCE, "--results", str(results)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def records_in(folder: Path) -> dict[str, dict[str, object]]:
    lines = (folder / "records.jsonl").read_text(encoding="utf-8").splitlines()
    keep = ("test", "longer", "curves", "best_epoch", "match")
    return {record["id"]: {key: record[key] for key in keep} for record in map(json.loads, lines)}


def test_killed_in_the_middle_and_started_again_it_ends_with_the_same_numbers(
    tmp_path: Path,
) -> None:
    killed, straight = tmp_path / "killed", tmp_path / "straight"
    process = start(killed)
    while process.poll() is None and not list(killed.glob("snapshots/*.safetensors")):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert len(list(killed.glob("records.jsonl"))) == 0
    outputs = [start(folder).communicate()[0] for folder in (killed, straight)]
    assert outputs[0] == outputs[1] and "Hist no BOS" in outputs[0]
    assert records_in(killed) == records_in(straight)
    assert len(records_in(killed)) == 8


def test_any_program_can_be_trained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "last.rasp"
    program.write_text("last = aggregate(select(indices, length - 1, ==), tokens);")
    picture, data, curves = (tmp_path / name for name in ("heads.svg", "data.jsonl", "curves.svg"))
    arguments = ["train", str(program), "last", "--alphabet", "abc", "--max-length", "5",
                 "--epochs", "2", "--train", "200", "--validation", "50", "--test", "50",
                 "--width", "16", "--results", str(tmp_path), "--heads-on", "abca", "--heads-to",
                 str(picture), "--save-data", str(data), "--curves", str(curves)]  # fmt: skip
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert "2×1, width 16" in said and "of whole inputs right" in said
    assert "layer 2, head 1" in picture.read_text() and "polyline" in curves.read_text()
    lines = [json.loads(line) for line in data.read_text().splitlines()]
    assert len(lines) == 350
    assert all(line["target"] == [line["input"][-1]] * len(line["input"]) for line in lines)


@pytest.mark.parametrize("more", [[], ["--next-token"]])
def test_training_says_how_far_it_is_and_how_long_it_takes(
    more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "first.rasp"
    program.write_text("first = aggregate(select(indices, 0, ==), tokens);")
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(progress_module, "PATIENCE", 0.01)
    words = [
        "train",
        str(program),
        "first",
        "--max-length",
        "5",
        "--epochs",
        "20",
        "--train",
        "500",
        "--validation",
        "50",
        "--test",
        "50",
        "--width",
        "16",
        "--results",
        str(tmp_path),
    ]
    assert main([*words, *more]) == 0
    lines = terminal.getvalue().split("\r")
    shown = [line for line in lines if "left, epoch" in line]
    assert shown and all("█" in line or "·" in line for line in shown)
    assert lines[-1] == "\x1b[K", "the line is taken away"


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has CUDA")
def test_cuda_where_there_is_none_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*REPRODUCE, "--device", "cuda", "--results", str(tmp_path)]) == 2
    assert "no CUDA device" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "table1", "--tasks", "sorting"], "`sorting` is not a task of table1"),
        (["train", "PROGRAM", "plain"], "needs no attention"),
        (["train", "PROGRAM", "other"], "the program has no `other`"),
        (["train", "PROGRAM", "mean", "--alphabet", "ab"], "fails on an input of its own task"),
        (["train", "PROGRAM", "seen", "--min-length", "30"], "inputs of 30 to 20 tokens"),
        (["train", "PROGRAM", "seen", "--batch", "7"], "cannot be dealt out in batches of 7"),
        (["train", "PROGRAM", "seen", "--width", "9"], "1 head cannot share a width of 9"),
        (["train", "PROGRAM", "seen", "--width", "0"], "width must be at least 1"),
        (["train", "PROGRAM", "seen", "--feed-forward", "0"], "feed-forward must be at least 1"),
        (["train", "PROGRAM", "seen", "--rate", "nan"], "the rate must be a number"),
        (["train", "PROGRAM", "seen", "--decay", "-1"], "the decay must be a number"),
        (["train", "PROGRAM", "seen", "--seed", "-1"], "the seed must be between 0 and"),
        (["train", "PROGRAM", "seen", "--epochs", "0"], "epochs must be at least 1"),
        (["train", "PROGRAM", "seen", "--device", "tpu"], "training does not run on `tpu`"),
        (["reproduce", "table1", "--smoke", "--device", "meta"], "training does not run on `meta`"),
        (["train", "PROGRAM", "seen", "--distribution", "odd"], "is not a way to draw inputs"),
    ],
)
def test_refusals_say_what_is_wrong(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program.rasp"
    program.write_text(
        'plain = tokens; seen = has_prev(tokens); mean = aggregate(select_all, tokens + "!");'
    )
    given = [str(program) if word == "PROGRAM" else word for word in arguments]
    assert main([*given, "--results", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err


def test_a_mistake_is_told_with_the_name_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.rasp").write_text("y = tokens;\nx = foo;\n")
    (tmp_path / "fails.rasp").write_text("x = aggregate(select(indices, 0, ==), 1 / indices);\n")
    monkeypatch.chdir(tmp_path)
    for words in (["bad.rasp", "x"], ["bad.rasp", "x", "--next-token"]):
        assert main(["train", *words]) == 2
        assert " --> bad.rasp:2:5\n" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", io.StringIO("x = foo;"))
    assert main(["train", "-", "x"]) == 2
    assert " --> <stdin>:1:5\n" in capsys.readouterr().err
    for more in ([], ["--next-token"]):
        assert main(["train", "fails.rasp", "x", "--alphabet", "ab", *more]) == 2
        assert " --> fails.rasp:1:39\n" in capsys.readouterr().err
