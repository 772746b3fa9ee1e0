"""Memory that runs out at any point of a run: one line and an exit code, never a traceback."""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import rasp
from rasp.apps.cli import main
from rasp.base.meter import Meter

PACKAGE = str(Path(rasp.__file__).parent)
PROGRAM = """
def f(x, n) { return x if n == 0 else f(x + 1, n - 1); }
l = [i * 2 for i in range(5)] + [7];
hist = histf(tokens);
s = select(indices, f(indices, 2), <=);
y = aggregate(s, tokens_int if indices < 0 else indices / 3);
z = hist("hello");
l == z;
"""
COMMANDS = {
    "run": ["run", "PROGRAM"],
    "check": ["check", "PROGRAM"],
    "eval": ["eval", "PROGRAM", "hist,s", "hello"],
    "eval, fast": ["eval", "PROGRAM", "hist", "ab" * 300],
    "arch": ["arch", "PROGRAM", "hist"],
    "draw": ["draw", "PROGRAM", "hist", "abc"],
    "fmt": ["fmt", "PROGRAM"],
}
POINTS = 60
"""Points of each run at which memory runs out."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scarce") / "program.rasp"
    path.write_text(PROGRAM)
    return path


@contextlib.contextmanager
def running_out(point: int) -> Iterator[list[int]]:
    """Let the call of a function of rasp fail that is so many calls away; count the calls."""
    calls = [0]

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        is_generator = code.co_flags & inspect.CO_GENERATOR  # ending one is a call of it as well
        if event == "call" and code.co_filename.startswith(PACKAGE) and not is_generator:
            calls[0] += 1
            if calls[0] == point:
                raise MemoryError

    sys.setprofile(watch)
    try:
        yield calls
    finally:
        sys.setprofile(None)


def told_by(words: list[str], point: int) -> tuple[int, str, int]:
    told = io.StringIO()
    with (
        contextlib.redirect_stdout(told),
        contextlib.redirect_stderr(told),
        running_out(point) as calls,
    ):
        code = main(words)
    return code, told.getvalue(), calls[0]


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_memory_that_runs_out_in_any_function_is_one_error(command: str, program: Path) -> None:
    words = [str(program) if word == "PROGRAM" else word for word in COMMANDS[command]]
    assert told_by(words, 0)[0] == 0  # imports what there is to import
    code, usual, calls = told_by(words, 0)
    assert code == 0 and "more memory" not in usual
    for point in sorted({2 + calls * part // POINTS for part in range(POINTS)}):
        code, told, _ = told_by(words, point)
        assert code in (0, 1, 2) and "Traceback" not in told, point
        assert (code == 0 and told == usual) or "more memory" in told, f"at call {point}: {told}"
    assert told_by(words, 0)[:2] == (0, usual), "nothing is left half done"


@pytest.mark.parametrize("method", ["check", "look", "made", "hold", "afford"])
def test_memory_that_runs_out_at_any_check_is_one_error(
    method: str, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, calls, point = getattr(Meter, method), 0, 0

    def fail(meter: Meter, *given: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == point:
            raise MemoryError
        return original(meter, *given)

    monkeypatch.setattr(Meter, method, fail)
    for words in (["run", str(program)], ["eval", str(program), "hist", "ab" * 300]):
        point, calls = 0, 0
        assert told_by(words, 0)[0] == 0
        total = calls
        for point in range(1, total + 1, max(1, total // 20)):
            calls = 0
            code, told, _ = told_by(words, 0)
            assert code in (0, 1, 2) and "needed more memory" in told, point


def test_a_clean_up_that_fails_for_lack_of_memory_is_the_same_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def dispatch(words: list[str]) -> int:
        try:
            raise MemoryError
        finally:
            raise AttributeError("half made")

    monkeypatch.setattr("rasp.apps.cli._dispatch", dispatch)
    assert main(["run"]) == 2
    assert "more memory" in capsys.readouterr().err


SWEEP = """
import contextlib, io, json, os, resource, sys
from rasp.apps.cli import main
words = json.loads(sys.argv[1])
with contextlib.redirect_stdout(io.StringIO()):
    main([*words[:-1], sys.argv[2]])
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
codes = []
for more in range(0, 24):
    sys.stdout.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writing, 1)
        os.dup2(writing, 2)
        limit = used + (more << 19)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        os._exit(main(words))
    os.close(writing)
    with os.fdopen(reading, errors="replace") as told:
        text = told.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    codes.append((status, "Traceback" in text, text[-300:] if status not in (0, 2) else ""))
print(json.dumps(codes))
"""
GREEDY = """
x = [i for i in range(20000)];
y = [x + [i] for i in range(30)];
z = "a" * 90000 + "b";
w = [z + "c" * i for i in range(30)];
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="sweeps Linux's limit on address space")
def test_an_address_space_of_any_size_ends_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "greedy.rasp"
    path.write_text(GREEDY)
    small = tmp_path / "small.rasp"
    small.write_text("x = indices;")
    done = subprocess.run(
        [sys.executable, "-c", SWEEP, json.dumps(["run", "--quiet", str(path)]), str(small)],
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    codes = json.loads(done.stdout)
    assert {status for status, _, _ in codes} == {0, 2}, codes
    assert not any(is_traceback for _, is_traceback, _ in codes)


@pytest.mark.parametrize(
    "lost",
    [
        SystemError("error return without exception set"),
        SystemError("<ufunc 'equal'> returned NULL without setting an exception"),
        RuntimeError("can't allocate read lock"),
    ],
)
def test_a_memory_error_that_python_lost_is_the_same_error(
    lost: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def dispatch(words: list[str]) -> int:
        raise lost

    monkeypatch.setattr("rasp.apps.cli._dispatch", dispatch)
    assert main(["run"]) == 2
    assert "more memory" in capsys.readouterr().err
