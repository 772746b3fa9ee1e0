"""Ctrl-C and `--limit seconds` end a command in whatever it is doing; so does a lack of memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAMS = {
    "loops": "for i in range(99999) { for j in range(99999) { x = 1; } }",
    "lists": "l = range(99999); m = range(99999); for i in range(99999) { x = l == m; }",
    "deep": "x = tokens_int; for i in range(90000) { x = (x * 3 + 1) % 1000003; }",
    "shown": "examples off\n" + "x = [range(200)] * 200; x;\n" * 2000,
    "means": "x = aggregate(select(indices, indices, <=), 1 / (tokens_int + 1));",
    "wide": "x = 0; for i in range(900) { y = tokens; for j in range(i % 11 + 1) {"
    " y = aggregate(select(y, indices + i * j, <=), indices + j); } x = x + y; }",
    "same": "x = selector_width(select(tokens, tokens, ==));"
    " y = length - selector_width(select(tokens, tokens, !=)) + indicator(length < 0);",
    "tables": "x = 0; for i in range(200) { x = x + histf(tokens_int * i); }",
}
MANY_STEPS = ("--limit", "steps=100_000_000_000")
PHASES = {
    "elaboration": ("run", "loops", *MANY_STEPS),
    "comparison": ("run", "lists", *MANY_STEPS),
    "plain": ("run", "deep", *MANY_STEPS),
    "display": ("run", "shown", *MANY_STEPS),
    "fast": ("eval", "means", "x", "[" + ", ".join(f'"{n}"' for n in range(12_000)) + "]"),
    "schedule": ("arch", "wide", "x"),
    "compile": ("compile", "tables", "x", "--alphabet", "0..9", "--max-length", "40"),
    "diff": ("diff", "same", "x", "same", "y", "--random", "3000000"),
    "draw": ("draw", "wide", "x", "[1, 2, 3, 4, 5, 6, 7, 8]"),
}
FIT = ("fit", "wide", "x", "--layers", "8", "--heads", "3")
STARTED = 1.0
"""Seconds of processor time after which a command is well inside its work."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("programs")
    for name, text in PROGRAMS.items():
        (place / f"{name}.rasp").write_text(text)
    return place


def words_of(phase: str, folder: Path) -> list[str]:
    words = PHASES.get(phase, FIT)
    return [str(folder / f"{word}.rasp") if word in PROGRAMS else word for word in words]


def processor_seconds(pid: int) -> float:
    used = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, used)) / os.sysconf("SC_CLK_TCK")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux how far a process is")
@pytest.mark.parametrize("phase", PHASES)
def test_an_interrupt_ends_a_command_in_the_middle(phase: str, folder: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "rasp", *words_of(phase, folder)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        while process.poll() is None and processor_seconds(process.pid) < STARTED:
            time.sleep(0.02)
        assert process.poll() is None, "this should take longer"
        before = processor_seconds(process.pid)
        process.send_signal(signal.SIGINT)
        while process.poll() is None:
            try:
                assert processor_seconds(process.pid) - before < 1, "it goes on"
            except (FileNotFoundError, IndexError):
                break
            time.sleep(0.01)
        _, told = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130 and told == ""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="the system has no alarms")
@pytest.mark.parametrize("phase", [*PHASES, "fit"])
def test_seconds_hold_in_every_command(phase: str, folder: Path) -> None:
    """In a process of its own: an alarm that rings in a test tool's callback is swallowed there."""
    words = [sys.executable, "-m", "rasp", *words_of(phase, folder), "--limit", "seconds=0.3"]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=60)
    code = 1 if words[3] == "eval" else 2  # other inputs may be answered
    assert ran.returncode == code and "takes more than 0.3 seconds" in ran.stderr
