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
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from rasp.apps import cli as shell
from rasp.apps.repl.conversation import SHELL_COMMANDS, Conversation, Leave
from rasp.apps.repl.terminal import NameCompleter
from rasp.base.errors import RaspError
from rasp.base.source import Source
from rasp.language.meaning.loader import Loader
from rasp.language.meaning.session import Session
from rasp.language.words import COMMAND_PHRASES, COMMANDS


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


def test_commands_of_the_shell_are_told_from_the_words_of_the_prompt() -> None:
    for line in ("fit reverse", "compile reverse.rasp --output m", "rasp verify m", "test"):
        command = line.removeprefix("rasp ").split()[0]
        assert f"`rasp {command}` is a command of the shell" in talk(line)
    assert "shell" not in talk("fit = 3", "fit", "fit + 1", "test(3)", "run = fit")
    assert set(SHELL_COMMANDS) == set(shell.COMMANDS) - {"arch", "draw", "generate"}


def test_an_explanation_names_no_line_of_what_was_typed(tmp_path: Path) -> None:
    assert "<input>" not in talk("hist = histf(tokens)", "arch hist")
    (tmp_path / "hist.rasp").write_text("hist = histf(tokens);")
    conversation = Conversation(Session(loader=Loader(str(tmp_path))))
    conversation.respond('load "hist";')
    assert "hist.rasp:1" in conversation.respond("arch hist")


def test_what_nobody_defined_is_asked_for() -> None:
    assert "hint: nothing is defined yet" in talk("?nope")
    assert talk("one = 1; two = 2", "?nope").endswith("hint: the names are `one`, `two`")
    assert "did you mean `tokens`?" in talk("?tokenss")


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


def test_undo_takes_a_loop_or_a_loaded_file_back_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "more.rasp").write_text("x = 5; y = 6;", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    load = 'load "more.rasp";'
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
    assert conversation.respond(f"{word}\n") == "     3", "now it is a name like others"
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
        ("x = 1", False),
        ("x = tokens +", True),
        ("hist", False),
        ("?hist", False),
        ("x = (1 +\n\n", True),
        ("def f(x) { return x }", False),
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


def test_enter_runs_a_statement_with_or_without_a_semicolon() -> None:
    assert talk("x = 2", "x + 1").endswith("     3")
    assert talk("x = 2\ny = x + 1\ny").endswith("     3")
    assert talk("def f(x) {\n  y = x + 1\n  return y\n}", "f(1)").endswith("     2")
    assert talk("x = 1 # one", "x", ";").endswith("     1\n")


def test_an_empty_line_loses_nothing() -> None:
    conversation = Conversation()
    assert conversation.needs_more("x = (1 +\n")
    assert conversation.needs_more("x = (1 +\n\n\n")
    assert conversation.respond("x = (1 +\n\n\n2)").endswith("x = 3")


def test_the_last_value_has_a_name() -> None:
    assert talk("3 + 4", "_ * 2").endswith("     14")
    assert talk("_ = 5", "1 + 1", "_").endswith("     5"), "somebody's own `_` is his"
    assert talk("out = 5", "1 + 1", "out").endswith("     5"), "and so is `out`"
    assert talk("1 + 1", "x = 7", "undo", "out").endswith("     2"), "`undo` takes it back"


@pytest.mark.parametrize("question", ["?sort", "sort?", "help sort", "doc sort", "? sort;"])
def test_a_name_is_explained_however_one_asks(question: str) -> None:
    assert "vals in the order of keys" in talk(question)


def test_words_of_the_language_are_explained() -> None:
    assert "a if condition else b" in talk("?if")
    assert "examples on|off" in talk("?examples")
    assert "`_` is the last value" in talk("?")
    assert "`nothing_like_it` is not defined" in talk("?nothing_like_it")


def test_applying_a_selector_draws_what_its_definition_draws() -> None:
    defined = talk("same = select(tokens, tokens, ==)").splitlines()[-6:]
    applied = talk("examples off", "same = select(tokens, tokens, ==)", 'same("hello");')
    assert [line.strip() for line in applied.splitlines()[-6:]] == [
        line.strip() for line in defined
    ]
    assert "0  1  2" in talk('score(indices, 1)("abc")')
    assert talk('select(tokens, tokens, ==)("ab")[0]').endswith("[True, False]")


def test_examples_of_s_ops_and_selectors_are_switched_apart() -> None:
    answer = talk("selector examples off", "a = full_s", "b = indices", "selector examples on")
    assert "s-op: b\n  example" in answer and "a(" not in answer
    answer = talk("s-op examples off", "a = full_s", "b = indices")
    assert "selector: a\n  example" in answer and "b(" not in answer
    assert "b(" in talk("s-op examples off", "examples on", "b = indices")


def test_draw_takes_the_running_example() -> None:
    assert 'on "xyz"' in talk('set example "xyz"', "draw(indices + 1)")


def test_what_a_file_brought_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "more.rasp").write_text("a = tokens; _b = 1; def f(x) { return x; }")
    monkeypatch.chdir(tmp_path)
    answer = talk('load "more"').splitlines()
    assert answer[0] == '     loaded: 2 names from "more"'
    assert [line.split() for line in answer[1:]] == [["s-ops:", "a"], ["functions:", "f(x)"]]


def test_a_file_with_mistakes_gives_what_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "half.rasp").write_text("a = 1;\nb = nowhere;\nc = b + 1;\nd = (2;\ne = 5;\n")
    monkeypatch.chdir(tmp_path)
    answer = talk('load "half"', "a + e", "c", "undo", "a")
    assert answer.index("`nowhere` is not defined") < answer.index("expected `)`")
    assert "kept: 2 names" in answer and "     6" in answer
    assert "`c` is not defined" in answer and "`a` is not defined" in answer
    session = Session()
    with pytest.raises(RaspError) as caught:
        session.run(Source(str(tmp_path / "main.rasp"), 'load "half";'))
    assert len(caught.value.everything) == 2, "a program that loads it fails, with every mistake"
    assert not session.names()


def test_definitions_are_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    conversation = Conversation()
    for line in ("a = indices + 1", 'a("xy")', "b = a * 2", "gone = 3", "undo"):
        conversation.respond(line)
    assert conversation.respond('save "mine"') == "     saved: 2 definitions to mine.rasp"
    assert (tmp_path / "mine.rasp").read_text() == "a = indices + 1;\nb = a * 2;\n"
    conversation.respond("c = 1")
    assert "3 definitions" in conversation.respond('save "mine"'), "his own file is written over"
    assert "is there already" in talk("a = 1", 'save "mine"')
    assert "nothing to save" in talk('save "other"')
    assert "cannot be written" in talk("a = 1", 'save "no/such/folder"')


def test_a_program_can_be_run_before_the_prompt(tmp_path: Path) -> None:
    program = tmp_path / "first.rasp"
    program.write_text("_n = 3; a = indices + _n; b = nowhere;")
    done = subprocess.run(
        [sys.executable, "-m", "rasp", "-i", str(program)],
        input='a("xy")\n_n\n', capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert "loaded: 1 name from" in done.stdout and "`nowhere` is not defined" in done.stdout
    assert done.stdout.endswith("     [3, 4]\n     3\n")


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("set ", ["example ", "s-op ", "selector "]),
        ("set s-op ", ["example "]),
        ("examples ", ["on", "off"]),
        ("show ", ["example", "s-op ", "selector "]),
        ("full seq ", ["display "]),
        ('load "', ["inner/", "one.rasp"]),
        ("load 'inner/t", ["two.rasp"]),
        ("x = selector_wi", ["selector_width"]),
        ("?has_f", ["has_focus"]),
    ],
)
def test_completion_knows_words_files_and_names(
    typed: str, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "inner").mkdir()
    for name in ("one.rasp", "inner/two.rasp", "notes.txt"):
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    completer = NameCompleter(Conversation())
    found = completer.get_completions(Document(typed), CompleteEvent())
    assert [completion.text for completion in found] == wanted


def test_completion_knows_every_word_for_the_prompt() -> None:
    assert {phrase.split()[0] for phrase in COMMAND_PHRASES} == {*COMMANDS, "load"}


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
    terminal.wait_for("Tab completes")
    terminal.type("def f(x) {\r")
    terminal.wait_for(r"\.\.")
    terminal.type("\r")  # an empty line loses nothing
    terminal.wait_for("drops it")
    terminal.type("return x * 3; }\r")
    terminal.wait_for(r"function: f\(x\)")
    terminal.type('f(indices)("abc")\r')
    terminal.wait_for(r"\[0, 3, 6\]")
    terminal.wait_for("Tab completes")
    terminal.type("half typed")
    terminal.type("\x03")  # Ctrl-C drops the line, not the REPL
    terminal.wait_for("stopped")
    terminal.wait_for("Tab completes")
    terminal.type("selector_wi\t")  # Tab completes
    terminal.wait_for("dth")
    terminal.type("(full_s);\r")
    terminal.wait_for(r"\[5\]\*5")
    terminal.wait_for("Tab completes")
    terminal.type("\x04")  # Ctrl-D ends it
    assert terminal.exit_code() == 0
    assert "selector_width(full_s);" in (tmp_path / "rasp" / "history").read_text()


@pytest.mark.slow
def test_ctrl_c_stops_a_long_run(terminal: Terminal) -> None:
    terminal.wait_for("Tab completes")
    # Many evaluations are few steps: however slow the machine, no budget ends this before Ctrl-C.
    terminal.type("a = range(900); for n in range(9999) { x = sort(tokens, tokens * n)(a); }\r")
    time.sleep(0.4)
    terminal.type("\x03")
    terminal.wait_for("stopped")
    terminal.wait_for("Tab completes")
    terminal.type("1 + 1;\r")
    terminal.wait_for(r"\b2\b")


def test_an_explanation_shows_source_and_file(tmp_path: Path) -> None:
    (tmp_path / "mine.rasp").write_text("a = 1;\ndef f(x) {\n    return x + a;\n}\n")
    conversation = Conversation(Session(loader=Loader(str(tmp_path))))
    conversation.respond('load "mine"')
    answer = conversation.respond("?f")
    assert f"source: {tmp_path / 'mine.rasp'}:2" in answer
    assert "             return x + a;" in answer.splitlines()
    conversation.respond("f = 3")
    assert conversation.respond("?f").endswith("source: typed here\n         f = 3")
    conversation.respond("undo")
    assert "mine.rasp:2" in conversation.respond("?f")
    assert "source: library.rasp:" in conversation.respond("?histf")
    assert "source:" not in conversation.respond("?select")
