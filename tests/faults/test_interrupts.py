"""Ctrl-C anywhere ends a command with status 130 and no traceback; nothing half-done is left."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

if not sys.platform.startswith("linux"):
    pytest.skip("forks and signals as Linux has them", allow_module_level=True)

PROGRAM = "x = indices; y = selector_width(select(tokens, tokens, ==));\n"
COMMANDS = [
    "eval it.rasp y abc",
    "run it.rasp",
    "check it.rasp",
    "fmt it.rasp",
    "arch it.rasp y",
    "draw it.rasp y abc -o it.svg",
    "diff it.rasp x it.rasp y",
    "compile it.rasp y --alphabet ab --max-length 4 -o model",
]
TRAINING = (
    "train it.rasp y --alphabet ab --max-length 4 --epochs 400 --train 100 --validation 50 "
    "--test 50 --width 16 --feed-forward 16 --results runs --device cpu"
)
HELLO = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}'
# What waits for somebody: the words that start it, what it is sent, what it says, what it needs.
WAITING = {
    "the REPL": ("", b"1 + 1;\n", b"2", None),
    "eval of standard input": ("eval it.rasp y", b"aab\n", b"[2, 2, 1]", None),
    "the language server": (
        "lsp", b"Content-Length: %d\r\n\r\n%s" % (len(HELLO), HELLO), b"Content-Length", "pygls",
    ),
    "the playground": ("play --no-browser", b"", b"playground is at", "hypercorn"),
    "training": (TRAINING, b"", b"training y", "torch"),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "it.rasp").write_text(PROGRAM)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words.split()[0])
def test_ctrl_c_at_any_moment_of_a_command(command: str, folder: Path) -> None:
    script = Path(__file__).with_name("interrupted_command.py")
    done = subprocess.run(
        [sys.executable, str(script), *command.split()],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found["undisturbed"] in (0, 1)
    assert found["interrupted"]
    for moment, status, printed in found["interrupted"]:
        assert (status, printed) == (130, ""), f"moment {moment}"
    assert (folder / "it.rasp").read_text().split() == PROGRAM.split()


@pytest.mark.parametrize("what", WAITING)
def test_ctrl_c_while_it_waits(what: str, folder: Path) -> None:
    words, sent, says, needs = WAITING[what]
    if needs is not None and find_spec(needs) is None:
        pytest.skip(f"{needs} is not installed")
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "rasp", *words.split()],
        cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(sent)
        process.stdin.flush()
        assert says in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    ends_in_good_order = what == "the language server"
    assert process.returncode == (0 if ends_in_good_order else 130)
    assert b"Traceback" not in errors
    assert b"KeyboardInterrupt" not in errors
