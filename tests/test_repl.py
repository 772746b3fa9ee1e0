"""The REPL, piped and on a real terminal (a pty)."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rasp.repl.conversation import Conversation, Leave


def talk(*lines: str) -> str:
    conversation = Conversation()
    return "\n".join(conversation.respond(line) for line in lines)


def test_new_s_ops_are_shown_on_the_running_example() -> None:
    assert 'flip("hello") = [4, 3, 2, 1, 0]  (ints)' in talk("flip = length - 1 - indices;")
    assert "full = tokens" not in talk("f = tokens;")
    assert '("hello") = [5]*5' in talk("length;")
    assert "(strings)" in talk("tokens;")
    assert "(floats)" in talk("indices / 2;")
    assert "(bools)" in talk("indices == 1;")


def test_a_selection_stays_aligned_for_long_tokens() -> None:
    answer = talk('set example ["a", "long", "日本"]', "same = select(tokens, tokens, ==);")
    grid = answer.splitlines()[-4:]
    assert [line.split() for line in grid] == [
        ["a", "long", "日本"],
        ["a", "1", "·", "·"],
        ["long", "·", "1", "·"],
        ["日本", "·", "·", "1"],
    ]
    assert grid[0].index("long") == grid[2].index("1")


def test_a_definition_that_does_not_fit_the_example_is_kept() -> None:
    answer = talk("next = tokens_int + 1;", 'next("12");')
    assert 'does not fit "hello"' in answer
    assert answer.endswith("[2, 3]")


def test_examples_can_be_set_shown_and_switched() -> None:
    assert 'example: "abc"' in talk('set example "abc"', "show example")
    assert "example" not in talk("examples off", "x = indices;")
    assert "x(" in talk("examples off", "examples on", "x = indices;")
    long = talk('set example "' + "ab" * 15 + '"', "x = indices;")
    assert "30 in all" in long
    full = talk("full seq display on", 'set example "' + "ab" * 15 + '"', "x = indices;")
    assert "29]" in full
    apart = talk('set s-op example "ab"', "show example")
    assert apart.splitlines()[-2:] == ['  s-op example: "ab"', '  selector example: "hello"']


def test_definitions_can_be_taken_back() -> None:
    answer = talk("x = 1;", "x = 2;", "undo", "x;", "undo", "x;")
    assert "`x` is what it was before" in answer
    assert "     1" in answer
    assert "`x` is not defined" in answer
    assert "nothing to take back" in talk("undo")


def test_undo_takes_a_loop_or_a_loaded_file_back_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "more.rasp").write_text("x = 5; y = 6;", encoding="utf-8")
    load = f'load "{tmp_path / "more.rasp"}";'
    for statement, gone in (("for i in range(3) { x = i; }", "i"), (load, "y")):
        answer = talk("x = 1;", statement, "undo", "x;")
        assert f"`{gone}` is gone, `x` is what it was before" in answer
        assert answer.endswith("     1")


@pytest.mark.parametrize(
    ("word", "usage"), [("arch", "arch NAME"), ("doc", "doc NAME"), ("show", "show example")]
)
def test_half_a_command_is_not_waited_on(word: str, usage: str) -> None:
    conversation = Conversation()
    assert not conversation.needs_more(f"{word}\n")
    assert f"hint: write `{usage}`" in conversation.respond(f"{word}\n")
    assert conversation.failures == 1
    conversation.respond(f"{word} = 3;")
    assert conversation.needs_more(f"{word}\n"), "now it is a name like others"
    assert "expected `;`" in conversation.respond("a:b"), "a colon makes no command"


@pytest.mark.parametrize("goodbye", ["exit", "quit", "exit()", "quit();"])
def test_goodbye_may_be_said_as_in_python(goodbye: str) -> None:
    conversation = Conversation()
    assert not conversation.needs_more(goodbye)
    with pytest.raises(Leave):
        conversation.respond(goodbye)


def test_what_somebody_called_exit_is_called() -> None:
    assert talk("def exit() { return 7; }", "exit();").endswith("     7")


def test_names_and_docs_are_told() -> None:
    answer = talk("# doubles it\ndef twice(x) { return x + x; }", "names", "doc twice", "doc sort")
    assert "yours:   twice" in answer
    assert "selector_width" in answer
    assert "doc: doubles it" in answer
    assert "vals in the order of keys" in answer
    assert "set example INPUT" in talk("help")
    assert "how many tokens the input has" in talk("doc length")


def test_rebinding_a_library_name_warns_and_works() -> None:
    answer = talk("length = 3;", "length + 1;")
    assert "warning: `length` hides the library's `length`" in answer
    assert answer.endswith("4")


def test_a_mistake_leaves_the_conversation_alive() -> None:
    conversation = Conversation()
    assert "hint:" in conversation.respond("x = (1;")
    assert conversation.respond("x = 1;")
    assert conversation.failures == 1


@pytest.mark.parametrize("word", ["exit", "quit", "exit;", "quit;"])
def test_leaving(word: str) -> None:
    with pytest.raises(Leave):
        talk(word)


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("x = 1", True),
        ("x = (1 +", True),
        ("def f(x) {\n return x;", True),
        ("x = 1;", False),
        ("x = );", False),
        ("", False),
        ("show example", False),
    ],
)
def test_an_open_statement_asks_for_more(text: str, more: bool) -> None:
    assert Conversation().needs_more(text) == more


def test_piped_input_works_without_a_terminal() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rasp"],
        input='def f(x) {\n  return x + 1;\n}\nf(indices)("abc");\nnonsense;\n',
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert "[1, 2, 3]" in done.stdout
    assert "`nonsense` is not defined" in done.stdout
    assert done.returncode == 1
    assert not done.stderr


class Terminal:
    """A REPL in a pseudo-terminal: type, and wait for what it shows."""

    def __init__(self, home: Path) -> None:
        environment = os.environ | {"XDG_STATE_HOME": str(home), "TERM": "xterm", "COLUMNS": "100"}
        self.process, self.master = pty.fork()  # the pty is its controlling terminal: Ctrl-C works
        if self.process == 0:
            os.execve(sys.executable, [sys.executable, "-m", "rasp"], environment)
        self.seen = ""

    def exit_code(self, seconds: float = 20) -> int:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            ended, status = os.waitpid(self.process, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            if select.select([self.master], [], [], 0.1)[0]:
                with contextlib.suppress(OSError):
                    os.read(self.master, 65536)  # nobody can end while their last words wait
        raise AssertionError("it did not end")

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def wait_for(self, pattern: str, seconds: float = 30) -> str:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if match := re.search(pattern, self.seen):
                before = self.seen[: match.end()]
                self.seen = self.seen[match.end() :]
                return before
            if select.select([self.master], [], [], 0.2)[0]:
                try:
                    chunk = os.read(self.master, 65536).decode(errors="replace")
                except OSError:
                    break
                if "\x1b[6n" in chunk:
                    self.type("\x1b[1;1R")  # the terminal is asked where the cursor is
                self.seen += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", chunk)
        raise AssertionError(f"{pattern!r} never came; this did: {self.seen[-2000:]!r}")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(tmp_path)
    yield opened
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.kill(opened.process, signal.SIGKILL)
        opened.exit_code()
    os.close(opened.master)


def test_a_conversation_on_a_terminal(terminal: Terminal, tmp_path: Path) -> None:
    terminal.wait_for("open statement")
    terminal.type("def f(x) {\r")
    terminal.wait_for(r"\.\.")
    terminal.type("return x * 3; }\r")
    terminal.wait_for(r"function: f\(x\)")
    terminal.type('f(indices)("abc");\r')
    terminal.wait_for(r"\[0, 3, 6\]")
    terminal.wait_for("open statement")
    terminal.type("half typed")
    terminal.type("\x03")  # Ctrl-C drops the line, not the REPL
    terminal.wait_for("stopped")
    terminal.wait_for("open statement")
    terminal.type("selector_wi\t")  # Tab completes
    terminal.wait_for("dth")
    terminal.type("(full_s);\r")
    terminal.wait_for(r"\[5\]\*5")
    terminal.wait_for("open statement")
    terminal.type("\x04")  # Ctrl-D ends it
    assert terminal.exit_code() == 0
    assert "selector_width(full_s);" in (tmp_path / "rasp" / "history").read_text()


def test_ctrl_c_stops_a_long_run(terminal: Terminal) -> None:
    terminal.wait_for("open statement")
    # Many evaluations are few steps: however slow the machine, no budget ends this before Ctrl-C.
    terminal.type("a = range(900); for n in range(9999) { x = sort(tokens, tokens * n)(a); }\r")
    time.sleep(0.4)
    terminal.type("\x03")
    terminal.wait_for("stopped")
    terminal.wait_for("open statement")
    terminal.type("1 + 1;\r")
    terminal.wait_for(r"\b2\b")
