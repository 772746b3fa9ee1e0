"""Each file of `programs/` is one behaviour, with what it must give in `#>` comments.

One runner takes every program through the printer and back, both evaluators, and the schedule.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rasp.frontend.session import Result, Session
from rasp.frontend.show import show_value
from rasp.graph import Node
from rasp.source import Source
from rasp.syntax import parse, print_program
from rasp.syntax.tree import Evaluate, Remark, Statement

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.rasp"))
HEADS = "#> heads per layer: "


def source(path: Path) -> Source:
    return Source(path.name, path.read_text(encoding="utf-8"))


def expectation(statement: Statement) -> str | None:
    if statement.trailing and statement.trailing.startswith("#>"):
        return statement.trailing[2:].strip()
    return None


def check_results(results: list[Result]) -> int:
    checked = 0
    for result in results:
        wanted = expectation(result.statement)
        if wanted is not None:
            assert isinstance(result.statement, Evaluate)
            shown = show_value(result.value, full=True).replace("\n      ", " ")
            assert shown == wanted, f"line {result.statement.span.line}"
            checked += 1
    return checked


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_gives_what_it_promises(path: Path) -> None:
    assert check_results(Session().run(source(path))), "a program without a promise tests nothing"


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_printing_and_parsing_again_changes_nothing(path: Path) -> None:
    tree = parse(source(path))
    text = print_program(tree)
    assert parse(Source("printed", text)) == tree
    assert print_program(parse(Source("printed", text))) == text
    assert check_results(Session().run(Source("printed", text)))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_heads_per_layer_are_as_promised(path: Path) -> None:
    from rasp.architecture import schedule

    session = Session()
    for result in session.run(source(path)):
        statement = result.statement
        if isinstance(statement, Remark) and statement.text.startswith(HEADS):
            name, *heads = statement.text.removeprefix(HEADS).split()
            node = session.find(name)
            assert isinstance(node, Node)
            assert schedule([node]).heads_per_layer == tuple(map(int, heads))
