"""Names cross over between RASP cells and Python, and whoever spoke last is right."""

from __future__ import annotations

from typing import Any

import pytest

import rasp
from rasp.apps.notebook.cells import Cells
from rasp.base.source import Source
from rasp.language.embedding.function_handles import FunctionHandle
from rasp.language.embedding.handles import Handle

pytestmark = pytest.mark.slow


class Notebook:
    """A notebook without a kernel: RASP cells, and Python's names."""

    def __init__(self) -> None:
        self.cells = Cells()
        self.names: dict[str, Any] = {}

    def rasp(self, text: str) -> Any:
        results = self.cells.run(Source("<cell>", text), self.names)
        return results[-1].value if results else None


@pytest.fixture
def notebook() -> Notebook:
    return Notebook()


def test_python_sees_what_a_cell_defines(notebook: Notebook) -> None:
    notebook.rasp("hist = selector_width(select(tokens, tokens, ==)); pairs = ['()', '{}'];")
    notebook.rasp("def twice(x) { return x + x; } _hidden = indices;")
    assert notebook.names["hist"]("hello") == [1, 1, 2, 2, 1]
    assert notebook.names["pairs"] == ["()", "{}"]
    assert isinstance(notebook.names["twice"], FunctionHandle)
    assert notebook.names["twice"](rasp.tokens)("ab") == ["aa", "bb"]
    assert set(notebook.names) == {"hist", "pairs", "twice"}


def test_a_cell_sees_handles_atoms_lists_dicts_and_functions_of_python(notebook: Notebook) -> None:
    notebook.names |= {
        "flip": rasp.select(rasp.indices, rasp.length - 1 - rasp.indices, "=="),
        "n": 2,
        "half": 0.5,
        "letters": ["a", "b"],
        "codes": {"a": 1, "b": 2},
        "shout": lambda s: s + "!",
    }
    assert notebook.rasp('aggregate(flip, tokens)("ab");') == ["b", "a"]
    assert notebook.rasp('(indices * n + half)("ab");') == [0.5, 2.5]
    assert notebook.rasp('(tokens in letters)("ax");') == [True, False]
    assert notebook.rasp('codes[tokens]("ab");') == [1, 2]
    assert notebook.rasp('shout(tokens)("ab");') == ["a!", "b!"]


def test_the_last_meaning_of_a_name_wins_on_both_sides(notebook: Notebook) -> None:
    notebook.rasp("x = indices + 1;")
    notebook.names["x"] = rasp.indices + 2
    assert notebook.rasp('x("ab");') == [2, 3]
    notebook.rasp("x = indices + 3;")
    assert notebook.names["x"]("ab") == [3, 4]
    assert notebook.rasp('x("ab");') == [3, 4]


def test_python_names_that_rasp_has_too_are_not_taken_for_it(notebook: Notebook) -> None:
    notebook.names |= {"select": rasp.select, "max": max, "length": 99, "sort": 3}
    assert notebook.rasp('aggregate(select(indices, length - 1, ==), tokens)("abc");') == ["c"] * 3
    notebook.names["length"] = rasp.indices * 0 + 7
    assert notebook.rasp('length("abc");') == [7, 7, 7]


def test_only_names_that_a_cell_mentions_are_taken(notebook: Notebook) -> None:
    notebook.names["unrelated"] = object()
    notebook.names["odd"] = object()
    notebook.rasp("y = indices;")
    with pytest.raises(rasp.RaspNameError):
        notebook.rasp("z = odd + 1;")


def test_what_was_defined_before_a_mistake_stays(notebook: Notebook) -> None:
    with pytest.raises(rasp.RaspTypeError) as caught:
        notebook.rasp("good = indices + 1;\nbad = select_all + 1;")
    assert str(caught.value.span) == "<cell>:2:7"
    assert notebook.names["good"]("ab") == [1, 2]
    assert "bad" not in notebook.names


def test_names_given_in_python_are_known_in_cells(notebook: Notebook) -> None:
    notebook.names["flip"] = rasp.select(rasp.indices, 0, "==").named("first_key")
    notebook.rasp("x = aggregate(flip, indices);")
    handle = notebook.names["x"]
    assert isinstance(handle, Handle)
    assert repr(handle) in ("<s-op x = aggregate(flip, indices)>",
                            "<s-op x = aggregate(first_key, indices)>")  # fmt: skip
