"""The same program by either door is the same graph: not equal ones, but one and the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import rasp
import rasp.teaching.gallery
from rasp.base.source import Source
from rasp.language.embedding.handles import Handle
from rasp.language.syntax import parse, print_expression, print_program
from rasp.language.syntax.tree import Call, Command, Evaluate
from strategies import examples, for_each
from strategies.programs import Case, cases

from .by_python import built_by_python
from .nodes_by_python import built_nodes

TESTS = Path(__file__).parents[2]


def with_names(text: str) -> str:
    """The program with a name for whatever it applies to an input: `(a + b)("hey");`."""
    statements = []
    for number, statement in enumerate(parse(Source("<text>", text))):
        match statement:
            case Evaluate(Call(function)):
                written = print_expression(function)
                statements.append(f"applied_{number} = {written};")
            case Evaluate() | Command():
                pass
            case _:
                statements.append(print_program([statement]))
    return "\n".join(statements)


TEXTS = {
    str(path.relative_to(TESTS)): with_names(path.read_text(encoding="utf-8"))
    for folder in ("programs", "paper/listings")
    for path in sorted((TESTS / folder).rglob("*.rasp"))
} | {f"gallery {name}": rasp.programs.source(name) for name in rasp.programs.names()}


def nodes(value: Any) -> Any:
    """What a name is bound to, with handles replaced by their nodes."""
    match value:
        case Handle():
            return id(value.node)
        case list():
            return [nodes(item) for item in value]
        case dict():
            return {key: nodes(item) for key, item in value.items()}
    return None  # functions and atoms: what they lead to is compared


@for_each(TEXTS.values())
def test_text_python_and_what_is_written_back_make_the_same_nodes(text: str) -> None:
    by_text, by_python = rasp.run(text), built_by_python(text)
    assert set(by_text) <= set(by_python)
    for name in by_text:
        assert nodes(by_text[name]) == nodes(by_python[name]), name
    held = {name: value for name, value in by_text.items() if isinstance(value, Handle)}
    if not held:
        return
    written = rasp.to_rasp(held)
    again = rasp.run(written)
    for name, handle in held.items():
        assert again[name].node is handle.node, written
    assert rasp.to_rasp({name: again[name] for name in held}) == written


@pytest.mark.slow
@given(cases())
@examples(80)
def test_operators_of_python_build_the_same_nodes(case: Case) -> None:
    for node, made in built_nodes(case.outputs.values()).items():
        assert not isinstance(made, Handle) or made.node is node, made
