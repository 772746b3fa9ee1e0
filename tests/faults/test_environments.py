"""Odd environments and hostile texts: each ends in a line and an exit code, and steers nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import rasp
from command_line import Terminal
from rasp.apps.cli import main
from rasp.base.terminal_text import STEERING, Shown, redraw, shown, write_exactly

STEERS = "\x1b]0;owned\x07\x1b[31m\x9b2J\u202e\u2066\x7f\r\x08"
PROGRAM = 'x = tokens;\nsame = select(tokens, tokens, ==);\nword = "{}";\nx("{}");\n# {}\n'


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    path = tmp_path / f"evil{STEERS}.rasp"
    path.write_text(PROGRAM.replace("{}", STEERS.replace("\r", "")) + "untidy=1;")
    return path


def run_rasp(*words: str | Path, **more: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "rasp", *map(str, words)]
    return subprocess.run(command, capture_output=True, timeout=120, **more)  # type: ignore[call-overload,no-any-return]


# -- terminals --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        "run FILE", "check FILE", "eval FILE x EVIL", "eval FILE same EVIL", "eval FILE EVIL ab",
        "arch FILE x", "draw FILE x EVIL", "fit FILE x --layers 0", "diff FILE x FILE word",
        "run FILEx", "compile FILE x --alphabet EVIL -o /dev/null/x", "EVIL", "run --EVIL",
        "gallery EVIL", "fmt FILE --check", "check FILE --json", "eval FILE x EVIL --json",
        "eval FILE EVIL ab --json", "arch FILE x --json", "diff FILE x FILE word --json",
    ],
)  # fmt: skip
def test_nothing_that_a_stranger_wrote_steers_a_terminal(
    words: str, hostile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = [word.replace("FILE", str(hostile)).replace("EVIL", STEERS) for word in words.split(" ")]
    assert main(said) in (0, 1, 2)
    told = capsys.readouterr()
    assert not STEERING.search(told.out + told.err)
    assert told.out + told.err


def test_errors_in_python_are_shown_too() -> None:
    with pytest.raises(rasp.RaspError) as caught:
        rasp.run(f'x = "{STEERS}" + nothing;')
    assert not STEERING.search(str(caught.value))
    with pytest.raises(rasp.RaspError) as caught:
        rasp.run("x = tokens_int;")["x"]([STEERS])
    assert not STEERING.search(str(caught.value))


def test_the_repl_shows_what_it_is_sent(hostile: Path) -> None:
    text = f'x = "{STEERS}";\nx + nothing;\n'.encode()
    told = run_rasp(input=text)
    assert told.stdout and not STEERING.search((told.stdout + told.stderr).decode())


def test_what_another_program_reads_stays_as_it_is(hostile: Path, tmp_path: Path) -> None:
    told = run_rasp("fmt", hostile, "--stdout")
    assert told.stdout.decode() == rasp_text(hostile)


def rasp_text(path: Path) -> str:
    from rasp.language.meaning.loader import read_source
    from rasp.language.syntax import parse, print_program

    return print_program(parse(read_source(str(path))))


def test_a_terminal_is_steered_by_us_alone() -> None:
    terminal = Terminal()
    stream = Shown(terminal)
    redraw(stream, "half \x1b[2J")
    assert terminal.getvalue() == "\rhalf \\u001b[2J\x1b[K"
    write_exactly(stream, "\x1b")
    assert terminal.getvalue().endswith("\\u001b")
    assert shown("tab\t and\n line 😀 é \u200d") == "tab\t and\n line 😀 é \u200d"


# -- standard streams -------------------------------------------------------------------------


def closed(*descriptors: int) -> object:
    return lambda: [os.close(each) for each in descriptors]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "it.rasp"
    path.write_text('hist = histf(tokens);\nhist("hello");\n')
    return path


@pytest.mark.parametrize("words", ["run -", "eval FILE hist", "check -", ""])
def test_a_closed_standard_input_is_an_empty_one(words: str, program: Path) -> None:
    said = words.replace("FILE", str(program)).split()
    closed_input = run_rasp(*said, preexec_fn=closed(0))
    empty_input = run_rasp(*said, stdin=subprocess.DEVNULL)
    assert closed_input.stdout == empty_input.stdout
    assert b"Traceback" not in closed_input.stderr


def test_a_closed_standard_output_or_error_is_no_trouble(program: Path) -> None:
    assert run_rasp("run", program, preexec_fn=closed(1)).returncode == 0
    assert run_rasp("run", program, preexec_fn=closed(0, 1, 2)).returncode == 0
    assert run_rasp("run", "nowhere", preexec_fn=closed(2)).returncode == 2


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is full")
@pytest.mark.parametrize(
    "words", ["run FILE", "--version", "check FILE --json", "fmt FILE --stdout"]
)
def test_a_full_output_is_said_in_a_line(words: str, program: Path) -> None:
    command = [sys.executable, "-m", "rasp", *words.replace("FILE", str(program)).split()]
    with open("/dev/full", "w") as full:
        told = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=60)
        both = subprocess.run(command, stdout=full, stderr=full, timeout=60)
    assert (told.returncode, both.returncode) == (2, 2)
    assert told.stderr.decode().splitlines() == [
        "error: the output cannot be written: no space left on device",
        "hint: make room and try again",
    ]


def test_a_reader_that_leaves_early_is_no_error(program: Path) -> None:
    command = f"{sys.executable} -m rasp gallery | head -1; echo ${{PIPESTATUS[0]}}"
    told = subprocess.run(["bash", "-c", command], capture_output=True, timeout=60)
    assert told.stderr == b"" and told.stdout.splitlines()[-1] == b"0"


# -- no home, half a character -------------------------------------------------------------------


def test_without_a_home_there_is_no_history(monkeypatch: pytest.MonkeyPatch) -> None:
    from rasp.apps.repl import terminal

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert type(terminal._history()).__name__ == "InMemoryHistory"


@pytest.mark.slow
def test_half_a_character_is_no_traceback(program: Path, tmp_path: Path) -> None:
    half = "a\udcff"
    for words in (
        ["eval", program, "hist", half], ["eval", program, "hist", '["\\ud800"]'],
        ["run", half], ["draw", program, "hist", '["\\ud800"]', "-o", tmp_path / "it.svg"],
        ["compile", program, "hist", "--alphabet", half, "--max-length", "3", "-o",
         tmp_path / "model"],
    ):  # fmt: skip
        told = run_rasp(*[os.fsencode(word).decode("utf-8", "surrogateescape")
                          if isinstance(word, str) else word for word in words])  # fmt: skip
        assert told.returncode in (0, 1, 2), words
        assert b"Traceback" not in told.stderr


def test_memory_that_runs_out_is_an_error_like_any_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def dispatch(words: list[str]) -> int:
        raise MemoryError

    monkeypatch.setattr("rasp.apps.cli._dispatch", dispatch)
    assert main(["run"]) == 2
    assert "more memory" in capsys.readouterr().err
