"""What a program's names are to Python: a mapping of handles, functions, lists and atoms."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import rasp
from rasp import indices, select, tokens
from rasp.language.embedding import python_places
from rasp.language.embedding.function_handles import FunctionHandle
from rasp.language.embedding.handles import Handle
from rasp.language.embedding.python_places import Place
from rasp.language.graph import Elementwise, Program

TEXT = """
half = 1/2; count = 3; word = "a"; yes = True;
table = {"a": 1/2, "b": indices}; several = [1, tokens];
def twice(x, times=2) { return x * times; }
_hidden = 1;
"""


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ("first.rasp", "the name of a file"),
        (Path("first.rasp"), "the name of a file"),
        (None, "nothing"),
        (b"x = 1;", "a value of Python's type `bytes`"),
    ],
)
def test_what_is_no_text_is_refused(given: Any, what: str) -> None:
    with pytest.raises(rasp.RaspTypeError) as caught:
        rasp.run(given)
    assert caught.value.message == f"`run` takes a program's text, but this is {what}"
    assert "load it" in str(caught.value.hint)


def test_a_text_may_end_in_the_name_of_a_file() -> None:
    assert rasp.run("x = 1; # as in first.rasp")["x"] == 1


def test_an_unknown_name_is_answered_with_those_there_are() -> None:
    with pytest.raises(KeyError) as caught:
        rasp.run("one = 1; two = 2;")["nope"]
    assert str(caught.value).endswith("hint: the names are `one`, `two`")


def test_names_are_a_mapping() -> None:
    names = rasp.run(TEXT)
    public = ["half", "count", "word", "yes", "table", "several", "twice"]
    assert list(names) == public
    assert len(names) == len(public)
    assert all(name in names for name in public)
    assert "length" not in names
    assert names["length"]("abc") == [3, 3, 3]  # the library can be looked up, but is not listed
    assert repr(names) == f"<names: {', '.join(public)}>"
    assert repr(rasp.run("")) == "<names: none>"
    with pytest.raises(KeyError, match="did you mean"):
        names["coumt"]


def test_values_are_python_s_own() -> None:
    names = rasp.run(TEXT)
    assert (names["half"], names["count"], names["word"], names["yes"]) == (0.5, 3, "a", True)
    assert names["table"]["a"] == 0.5
    assert names["table"]["b"]("xy") == [0, 1]
    assert names["several"][0] == 1
    assert names["several"][1]("xy") == ["x", "y"]


def test_functions_describe_themselves() -> None:
    names = rasp.run(TEXT)
    assert str(inspect.signature(names["twice"])) == "(x, times=2)"
    assert repr(names["twice"]) == "<function twice(x, times=…)>"
    assert str(inspect.signature(names["zip"])) == "(*values)"
    assert repr(names["zip"]) == "<function zip(…)>"
    assert isinstance(names["zip"], FunctionHandle)


def test_a_function_may_give_back_a_function() -> None:
    make = rasp.run("def make(f) { def g(x) { return f(f(x)); } return g; }")["make"]
    twice = rasp.run("def double(x) { return x * 2; }")["double"]
    assert make(twice)(3) == 12
    assert make(make(twice))(1) == 16


def test_a_call_without_a_source_points_at_the_function() -> None:
    with pytest.raises(rasp.RaspTypeError) as caught:
        eval("twice()", {"twice": rasp.run(TEXT)["twice"]})
    assert caught.value.span is not None
    assert caught.value.span.text == "twice(x, times=…)"


def test_code_without_columns_points_at_its_line(tmp_path: Path) -> None:
    path = tmp_path / "written.py"
    path.write_text("x = 1\nmade = x + x\n")

    def place(*position: int | None) -> Any:
        code = SimpleNamespace(co_filename=str(path), co_positions=lambda: iter([position]))
        return Place(code, 0).span  # type: ignore[arg-type]

    assert place(2, 2, 7, 12).text == "x + x"
    assert place(2, 2, None, None).text == "made = x + x"
    assert place(None, None, None, None) is None
    assert place(9, 9, 0, 1) is None


def test_where_all_code_is_ours_there_is_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    outer = SimpleNamespace(f_globals={"__name__": "rasp"}, f_back=None)
    inner = SimpleNamespace(f_globals={"__name__": "rasp.apps.cli"}, f_back=outer)
    monkeypatch.setattr(python_places, "sys", SimpleNamespace(_getframe=lambda depth: inner))
    assert python_places.calling_place() is None


def test_a_table_shows_its_items_and_refuses_plain_positions() -> None:
    assert repr(rasp.table([5, 6])) == "table([5, 6])"
    with pytest.raises(rasp.RaspTypeError, match="the int 0"):
        rasp.table([5, 6])[0]
    with pytest.raises(rasp.RaspTypeError, match="object"):
        rasp.table([5, 6])[object()]


def test_a_selector_contains_nothing_before_it_meets_an_input() -> None:
    with pytest.raises(rasp.RaspTypeError) as caught:
        "a" in select(tokens, tokens, "==")  # noqa: B015
    assert caught.value.hint is not None
    assert "apply the selector to an input" in caught.value.hint


def test_names_that_texts_cannot_have_are_changed_in_writing() -> None:
    one, two = (indices + 1).node, (indices + 1).node
    product = Elementwise("*", (one, two))
    for given, written in (("select", "my_select"), ("two words", "result"), ("plus", "plus")):
        program = Program.named({one: given})
        text = rasp.to_rasp(Handle(Elementwise("-", (product, one)), program), "x")
        assert f"{written} = indices + 1;" in text
        assert rasp.run(text)["x"].node is Elementwise("-", (product, one))


def test_names_that_are_taken_get_a_number() -> None:
    one = (indices + 1).node
    program = Program.named({one: "x"})
    text = rasp.to_rasp(Handle(Elementwise("*", (one, one)), program), "x")
    assert "x_2 = indices + 1;" in text
    assert rasp.run(text)["x"].node is Elementwise("*", (one, one))
