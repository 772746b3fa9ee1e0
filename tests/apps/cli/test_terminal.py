"""On a terminal of 100 columns nothing that people read is wider, and what takes long says so."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

import pytest

import rasp
from command_line import Terminal
from rasp.apps.cli import main
from rasp.apps.cli.patience import working
from rasp.apps.cli.prose import wrapped
from rasp.base import progress as progress_module
from rasp.base.terminal_text import STEERING
from repository import ROOT

GALLERY = ROOT / "src" / "rasp" / "teaching" / "gallery"


def terminal_of_100_columns(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Put a terminal in the place of both streams; not in a fixture, since pytest swaps them."""
    shown = Terminal()
    monkeypatch.setattr(sys, "stdout", shown)
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setenv("COLUMNS", "100")
    return shown


@pytest.mark.parametrize(
    "command",
    [
        "gallery list",
        "arch hist.rasp hist",
        "arch dyck2_pure.rasp dyck2_pure",
        "arch most_freq.rasp most_freq",
        "arch sort_bos.rasp sort_bos",
        "fit most_freq.rasp most_freq --attention causal",
        "fit dyck2_pure.rasp dyck2_pure --layers 1 --heads 1",
        "eval dyck2_pure.rasp dyck2_pure --explain-plan",
        "eval hist.rasp hist aab --limit nothing=1",
        "eval hist.rasp hist [1,2",
        "compile dyck2_pure.rasp dyck2_pure --alphabet ()a --max-length 3",
        "diff hist.rasp hist most_freq.rasp most_freq",
        "dialect dyck2_pure.rasp dyck2_pure",
        "test hist.rasp",
        "--help",
    ],
)
def test_nothing_overruns_a_terminal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str
) -> None:
    for name in ("hist", "dyck2_pure", "most_freq", "sort_bos"):
        shutil.copy(GALLERY / f"{name}.rasp", tmp_path)
    monkeypatch.chdir(tmp_path)
    terminal = terminal_of_100_columns(monkeypatch)
    main(command.split())
    lines = terminal.getvalue().split("\n")
    assert len(lines) > 1
    assert max(len(line.rpartition("\r")[2].removesuffix("\x1b[K")) for line in lines) <= 100


def test_lines_break_where_people_would_break_them() -> None:
    assert wrapped("  name   what it is, in a sentence or two", 24) == (
        "  name   what it is, in\n         a sentence or\n         two"
    )
    excerpt = "12 | " + "x = 1; " * 9
    assert wrapped(excerpt, 24) == excerpt
    assert wrapped("x" * 50, 24) == "x" * 50


def test_what_takes_long_says_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of_100_columns(monkeypatch)
    with working("quick"):
        pass
    assert "quick" not in terminal.getvalue()
    monkeypatch.setattr(progress_module, "PATIENCE", 0.02)
    with working("counting sheep"):
        end = time.monotonic() + 5
        while "counting sheep: 0 s" not in terminal.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
    assert "counting sheep: 0 s" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K"), "the line is taken away"


EVIL = "\x1b]0;title\x07\x9b31m\u202e"


def test_nothing_that_python_prints_steers_the_terminal() -> None:
    handle = rasp.run(f'x = tokens + "{EVIL}"; s = select(tokens, "{EVIL}", ==);')["x"]
    alphabet = [EVIL, "b"]
    asked = rasp.run(f'x = tokens == "{EVIL}";')["x"]
    verdict = rasp.equivalent(handle, rasp.tokens, alphabet=alphabet)
    printed = [
        handle, rasp.select(rasp.tokens, EVIL, "=="), verdict, verdict.difference,
        rasp.dialects(asked, alphabet), rasp.dialects(asked, alphabet)["C-RASP"],
        rasp.explain(handle), rasp.schedule(handle), rasp.draw(handle, alphabet),
        rasp.generate(rasp.run(f'x = "{EVIL}" if indices < 3 else "";')["x"], ["ab"])[0],
        rasp.compile(asked, vocabulary=alphabet, max_length=3),
        rasp.compile(asked, vocabulary=alphabet, max_length=3).certificate,
        rasp.fit(handle, attention="causal"), rasp.dialects(asked, alphabet).classes,
    ]  # fmt: skip
    for value in printed:
        for text in (str(value), repr(value)):
            assert not STEERING.search(text), (type(value), text)
