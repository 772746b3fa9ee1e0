"""Each file of `programs/` is one behaviour, with what it must give in `#>` comments.

Every program goes through `rasp test`, and through the printer and back. Where it applies a name
to an input, the fast evaluator gives the same, and so does the compiled model, which the checker
accepts; a program that the compiler refuses says so in its first lines.
"""

from __future__ import annotations

from operator import le
from pathlib import Path
from typing import Any

import pytest

import rasp
from rasp.base.atoms import Atom, read_input, to_python
from rasp.base.errors import RaspUnsupportedError
from rasp.base.source import Source
from rasp.language.evaluator import apply
from rasp.language.evaluator.fast.evaluate import evaluate as evaluate_fast
from rasp.language.graph import Node, SOp
from rasp.language.meaning.session import Session
from rasp.language.syntax import parse, print_program
from rasp.language.syntax.tree import Call, Evaluate, Name
from rasp.teaching.testing import check_program

FOLDER = Path(__file__).parent / "programs"
PROGRAMS = sorted(FOLDER.rglob("*.rasp"))
SMALL = [path for path in PROGRAMS if path.parent != FOLDER]
REFUSED = "# The compiler refuses this"


def source(path: Path) -> Source:
    return Source(path.name, path.read_text(encoding="utf-8"))


def name_of(path: Path) -> str:
    return str(path.relative_to(FOLDER).with_suffix(""))


def applications(path: Path) -> list[tuple[str, Node, tuple[Atom, ...]]]:
    """The names that a program applies to inputs: `name("abc");`."""
    session = Session()
    session.run(source(path))
    applied: list[tuple[str, Node, tuple[Atom, ...]]] = []
    for statement in parse(source(path)):
        match statement:
            case Evaluate(Call(Name(name), (argument,))) if isinstance(
                node := session.find(name), Node
            ):
                given: Any = session.run(Source("input", f"{argument.span.text};"))[0].value
                applied.append((name, node, read_input(given)))
    return applied


@pytest.mark.parametrize("path", PROGRAMS, ids=name_of)
def test_a_program_gives_what_it_promises(path: Path) -> None:
    report = check_program(source(path))
    assert not report.failures
    assert report.held, "a program without a promise tests nothing"


@pytest.mark.parametrize("path", PROGRAMS, ids=name_of)
def test_printing_and_parsing_again_changes_nothing(path: Path) -> None:
    tree = parse(source(path))
    text = print_program(tree)
    assert parse(Source("printed", text)) == tree
    assert print_program(parse(Source("printed", text))) == text
    assert check_program(Source("printed", text)).held == check_program(source(path)).held


@pytest.mark.parametrize("path", PROGRAMS, ids=name_of)
def test_the_fast_evaluator_gives_the_same(path: Path) -> None:
    for _, node, tokens in applications(path):
        assert evaluate_fast([node], [tokens])[node] == [apply(node, tokens)]


@pytest.mark.parametrize("path", SMALL, ids=name_of)
def test_a_refusal_names_a_place_in_the_program(path: Path) -> None:
    session, errors = Session(), []
    session.run(source(path))
    for name, node, tokens in applications(path):
        options: dict[str, Any] = {"alphabet": list(dict.fromkeys(tokens)), "max_length": 3}
        try:  # hard to compile: nothing may look ahead, and no selector may be empty
            rasp.compile({name: node}, program=session.program_of(name), causal=True, sink=False,
                         style="compact", **options)  # fmt: skip
        except RaspUnsupportedError as error:
            errors += error.everything
    for error in errors:
        assert error.span is not None, str(error)
        assert error.span.source.text == source(path).text, str(error)


@pytest.mark.parametrize("path", SMALL, ids=name_of)
def test_the_compiled_model_gives_the_same_and_is_certified(path: Path) -> None:
    applied = [each for each in applications(path) if isinstance(each[1], SOp)]
    assert applied, "a small program applies an s-op by its name"
    nodes = {name: node for name, node, _ in applied}
    alphabet = list(dict.fromkeys(token for *_, tokens in applied for token in tokens))
    longest = max(len(tokens) for *_, tokens in applied)
    is_refused = REFUSED in path.read_text(encoding="utf-8")
    model = None
    for style in ("robust", "compact"):
        try:
            model = rasp.compile(nodes, alphabet=alphabet, max_length=longest, style=style)
        except RaspUnsupportedError as error:
            if 'style="compact"' in str(error.hint):
                continue
        break
    assert is_refused == (model is None), "the remark says what the compiler does"
    if model is None:
        return
    assert model.certificate.exact
    promised = rasp.schedule(list(nodes.values())).heads_per_layer
    assert all(map(le, model.heads_per_layer, promised)), "more heads than the schedule has"
    for name, node, tokens in applied:
        answer = model(list(tokens))
        assert (answer if len(nodes) == 1 else answer[name]) == [
            *map(to_python, apply(node, tokens))
        ]
