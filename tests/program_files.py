"""What pytest does with `.rasp` files: each file of `programs/` and `errors/` is tests by itself.

A file of `programs/` is one behaviour, with what it must give in `#>` comments. It goes through
`rasp test`, and through the printer and back. Where it applies a name to an input, the fast
evaluator gives the same. In the folders of `programs/` are small ones: the compiled model gives the
same too, and the checker accepts it; one that the compiler refuses says so in its first lines.

A file of `errors/` is a program that goes wrong, and after `#!` the exact message it gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import le
from pathlib import Path
from typing import Any

import pytest

import rasp
from rasp.base.atoms import Atom, read_input, to_python
from rasp.base.errors import RaspError, RaspUnsupportedError
from rasp.base.source import Source
from rasp.language.evaluator import apply
from rasp.language.evaluator.fast.evaluate import evaluate as evaluate_fast
from rasp.language.graph import Node, SOp
from rasp.language.meaning.session import Session
from rasp.language.syntax import parse, print_program
from rasp.language.syntax.tree import Call, Evaluate, Name
from rasp.teaching.testing import check_program

TESTS = Path(__file__).parent
PROGRAMS, ERRORS = TESTS / "programs", TESTS / "errors"
REFUSED = "# The compiler refuses this"


def source(path: Path) -> Source:
    return Source(path.name, path.read_text(encoding="utf-8"))


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


def gives_what_it_promises(path: Path) -> None:
    report = check_program(source(path))
    assert not report.failures
    assert report.held, "a program without a promise tests nothing"


def is_the_same_printed_and_parsed_again(path: Path) -> None:
    tree = parse(source(path))
    text = print_program(tree)
    assert parse(Source("printed", text)) == tree
    assert print_program(parse(Source("printed", text))) == text
    assert check_program(Source("printed", text)).held == check_program(source(path)).held


def gives_the_same_in_the_fast_evaluator(path: Path) -> None:
    for _, node, tokens in applications(path):
        assert evaluate_fast([node], [tokens])[node] == [apply(node, tokens)]


def names_a_place_where_it_is_refused(path: Path) -> None:
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


def gives_the_same_compiled(path: Path) -> None:
    applied = [each for each in applications(path) if isinstance(each[1], SOp)]
    assert applied, "a small program applies an s-op by its name"
    nodes = {name: node for name, node, _ in applied}
    model = compiled(nodes, [tokens for *_, tokens in applied])
    is_refused = REFUSED in path.read_text(encoding="utf-8")
    assert is_refused == (model is None), "the remark says what the compiler does"
    if model is None:
        return
    assert model.certificate.exact
    promised = rasp.schedule(list(nodes.values())).heads_per_layer
    assert all(map(le, model.heads_per_layer, promised)), "more heads than the schedule has"
    for name, node, tokens in applied:
        answer = model(list(tokens))
        expected = [*map(to_python, apply(node, tokens))]
        assert (answer if len(nodes) == 1 else answer[name]) == expected


def compiled(nodes: dict[str, Any], inputs: list[tuple[Atom, ...]]) -> Any:
    """A model in the first style that takes the program; None where none does."""
    alphabet = list(dict.fromkeys(token for tokens in inputs for token in tokens))
    longest = max(map(len, inputs))
    for style in ("robust", "compact"):
        try:
            return rasp.compile(nodes, alphabet=alphabet, max_length=longest, style=style)
        except RaspUnsupportedError as error:
            if 'style="compact"' not in str(error.hint):
                return None
    return None


def split(text: str) -> tuple[str, str]:
    """Part a file of `errors/` into its program and the message it promises."""
    lines = text.split("\n")
    program = [line for line in lines if not line.startswith("#!")]
    message = [line[3:] for line in lines if line.startswith("#!")]
    return "\n".join(program), "\n".join(message)


def told(errors: list[RaspError]) -> str:
    return "\n\n".join(str(error) for error in errors)


def has_exactly_this_message(path: Path) -> None:
    program, expected = split(path.read_text(encoding="utf-8"))
    assert expected, "say what the message is: run scripts/update, and read it"
    _, errors = Session().check(Source(path.name, program))
    assert told(errors) == expected
    assert all(error.hint and error.span for error in errors), "say where, and what to do next"


Run = Callable[[Path], None]
SLOW = ("limit_steps", "gives_the_same_compiled")
"""What is not in the fast set: a file that takes seconds, and compiling two hundred programs."""
ANY: tuple[Run, ...] = (
    gives_what_it_promises, is_the_same_printed_and_parsed_again,
    gives_the_same_in_the_fast_evaluator,
)  # fmt: skip
SMALL: tuple[Run, ...] = (*ANY, names_a_place_where_it_is_refused, gives_the_same_compiled)


def runs_of(path: Path) -> tuple[Run, ...]:
    """What a file has to pass; nothing where it lies elsewhere."""
    if path.parent == ERRORS:
        return (has_exactly_this_message,)
    if path.parent == PROGRAMS:
        return ANY
    return SMALL if PROGRAMS in path.parents else ()


class ProgramFile(pytest.File):
    """A `.rasp` file, a test for each thing it has to pass."""

    def collect(self) -> Iterator[ProgramItem]:
        for run in runs_of(self.path):
            item: ProgramItem = ProgramItem.from_parent(self, name=run.__name__)
            item.run = run
            if self.path.stem in SLOW or item.name in SLOW:
                item.add_marker(pytest.mark.slow)
            yield item


class ProgramItem(pytest.Item):
    """One thing that a program has to pass."""

    run: Run

    def runtest(self) -> None:
        self.run(self.path)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"{self.path.stem} {self.name.replace('_', ' ')}"
