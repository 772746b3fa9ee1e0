"""A file that the authors' REPL of 2021 reads differently is told of once, beside the answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from command_line import call
from rasp.apps.repl.conversation import Conversation
from rasp.base.source import Source
from rasp.language.meaning.loader import Loader
from rasp.language.meaning.mistakes import check
from rasp.language.meaning.session import Session

TEXT = """\
first = indices == 0 or indices == 1 and True;
other = not tokens in ["a"];
x = first and other;
x("ab");
"""
TOLD = "the 2021 REPL reads `indices == 0 or indices == 1 and True` as"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "otherwise.rasp"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize("command", ["run FILE", "eval FILE x ab b", "arch FILE x",
                                     "eval FILE x ab --json"])  # fmt: skip
def test_each_command_says_it_once_and_not_among_the_answers(
    command: str, program: Path, capsys: Any
) -> None:
    code, out, err = call(capsys, *command.replace("FILE", str(program)).split())
    assert code == 0
    assert err.count(TOLD) == 1 and err.count("warning:") == 1
    assert f"and 1 other expression differently ({program}:1:9)" in err
    assert "`rasp check` shows all of them" in err
    assert "2021" not in out


def test_brackets_end_it(program: Path, capsys: Any) -> None:
    program.write_text("x = indices == 0 or (indices == 1 and True);\nx('ab');")
    assert call(capsys, "run", program)[2] == ""


def test_load_says_it_where_it_loads(program: Path) -> None:
    session = Session(loader=Loader(root=str(program.parent)))
    answer = Conversation(session).respond('load "otherwise"')
    assert answer.count("warning:") == 1 and TOLD in answer
    outer = program.with_name("outer.rasp")
    outer.write_text('load "otherwise";\n')
    errors, warnings = check(Source(str(outer), outer.read_text()))
    assert not errors
    [warned] = warnings
    assert warned.span.text == 'load "otherwise";' and f"{program}:1:9" in warned.message


def test_the_prompt_says_it_of_the_file_it_opens(program: Path) -> None:
    conversation = Conversation()
    answer = conversation.open(Source(str(program), TEXT))
    assert answer.count("warning:") == 1
    assert "warning:" not in conversation.respond("y = True or False and True")


def test_a_library_name_that_is_hidden_is_no_matter_of_eval(program: Path, capsys: Any) -> None:
    program.write_text("length = indices; y = length;")
    assert call(capsys, "eval", program, "y", "ab")[2] == ""
    assert "hides the library's" in call(capsys, "run", program)[2]
