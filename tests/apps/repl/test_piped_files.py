"""A program piped into the prompt line by line gives what the same text gives as a file."""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path
from typing import Any

import pytest

from rasp.apps.repl import talk_in_lines
from rasp.apps.repl.conversation import Conversation
from rasp.base.source import Source
from rasp.language.graph import Node
from rasp.language.meaning.loader import Loader
from rasp.language.meaning.session import Session
from repository import ROOT

WILD = ROOT.parent / "shared" / "wild" / "rasp-for-cogs.rasp"
FOLDERS = ("src/rasp/teaching/gallery", "tests/programs", "tests/paper/listings")
FILES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.rasp"))]


def conversation(folder: Path) -> Conversation:
    return Conversation(Session(loader=Loader(root=str(folder))))


def piped(text: str, folder: Path, monkeypatch: Any) -> tuple[Conversation, str]:
    """Feed a text line by line; return the conversation and what it printed."""
    fed = conversation(folder)
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        talk_in_lines(fed)
    return fed, printed.getvalue()


def plain(names: dict[str, Any]) -> dict[str, Any]:
    """Names with what can be compared: nodes are interned, so equal ones are one object."""
    return {name: value if isinstance(value, (Node, bool, int, str)) else type(value)
            for name, value in names.items()}  # fmt: skip


def assert_same(path: Path, monkeypatch: Any) -> None:
    text = path.read_text(encoding="utf-8")
    loaded = Session(loader=Loader(root=str(path.parent)))
    loaded.run(Source(path.name, text))
    fed, printed = piped(text, path.parent, monkeypatch)
    assert not fed.failures, printed
    assert plain(fed.session.names()) == plain(loaded.names())
    assert printed.strip("\n") == conversation(path.parent).respond(text).strip("\n")


@pytest.mark.parametrize("first", range(0, len(FILES), 60))
def test_every_program_here_is_the_same_piped(first: int, monkeypatch: Any) -> None:
    for path in FILES[first : first + 60]:
        assert_same(path, monkeypatch)


@pytest.mark.slow
@pytest.mark.skipif(not WILD.exists(), reason="shared/wild is not beside this checkout")
def test_a_program_from_the_wild_is_the_same_piped(monkeypatch: Any) -> None:
    assert_same(WILD, monkeypatch)


@pytest.mark.parametrize(("lines", "answer"), [
    ("def f(x) {\n  y = x;\nreturn y;\n}\nf(indices)('ab');", "     [0, 1]"),
    ("def f(x) {\n  for i in [1, 2] {\nx = x + i;\n}\nreturn x;\n}\nf(1);", "     4"),
    ("x = 1  # one\n\n  # and\n    + 2;\nx;", "     3"),
    ("x = True\nor False;\nx;", "     True"),
    ("x = 5\n-x", "     -5"),
    ("x = 5\n[x][0]", "     5"),
])  # fmt: skip
def test_a_statement_is_read_to_its_end(lines: str, answer: str, monkeypatch: Any) -> None:
    fed, printed = piped(lines, ROOT, monkeypatch)
    assert printed.splitlines()[-1] == answer
    assert not fed.failures


def test_a_mistake_in_an_open_body_is_told_once(monkeypatch: Any) -> None:
    fed, printed = piped("def f(x) {\n  y = x +;\nreturn y;\n}\n1 + 1;\n", ROOT, monkeypatch)
    assert fed.failures == 1, printed
    assert printed.endswith("     2\n")
