"""Sessions: loops that return, settings, files that load files; and how values are shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rasp
from rasp.apps.shown_results import show_named, show_result
from rasp.base.limits import Limits
from rasp.base.source import Source
from rasp.language.graph import Program
from rasp.language.meaning.builtins import DrawRequest, language_scope
from rasp.language.meaning.calls import signature
from rasp.language.meaning.loader import read_source
from rasp.language.meaning.session import Session
from rasp.language.meaning.shown_values import MOST_ITEMS, MOST_ROWS, show_value


def ran(text: str, session: Session | None = None) -> list[Any]:
    return (session or Session()).run(Source("demo", text))


def shown(text: str, session: Session | None = None) -> str:
    """What the REPL shows of a text's last statement."""
    session = session or Session()
    return show_result(ran(text, session)[-1], session)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("def f(l) { for x in l { return x; } return 0; } f([5, 6]);", 5),
        ("def f(l) { for x in l { return x; } return 0; } f([]);", 0),
        ("def f(l) { for x in l { for y in x { return y; } } return 0; } f([[], [7, 8]]);", 7),
        ("def f(l) { for x in l { y = x; } return y; } f([5, 6]);", 6),
    ],
)
def test_a_return_inside_loops_ends_the_function(text: str, value: int) -> None:
    assert ran(text)[-1].value == value


@pytest.mark.parametrize(
    "text",
    ["x = nothing;", "def x(y=nothing) { return y; }", "for x in nothing { }",
     "for y in nothing { def x() { return y; } }"],
)  # fmt: skip
def test_what_a_failed_statement_would_have_defined_is_not_told_missing_too(text: str) -> None:
    _, errors = Session().check(Source("demo", f"{text} a = x; b = a;"))
    assert [error.message for error in errors] == ["`nothing` is not defined"]


def test_a_program_may_call_something_out() -> None:
    assert list(rasp.run("1 + 1; out * 3;")) == []
    names = rasp.run("out = tokens + tokens; other = indices; other([5]);")
    assert list(names) == ["out", "other"]
    assert names["out"]("ab") == ["aa", "bb"]
    assert names["out"].program.names[names["out"].node] == "out"


def test_a_mistake_inside_a_library_function_is_told_at_the_outermost_call() -> None:
    text = 'x = histf(1);\ny = sort(select(tokens, tokens, ==), "a");'
    _, errors = Session().check(Source("demo", text))
    for error in errors:
        assert error.span is not None
        assert error.span.source.name == "demo"
    assert [error.message for error in errors] == [
        "`sort` takes an s-op for its vals, but this is a selector"
    ]


@pytest.mark.parametrize(
    ("commands", "is_on"),
    [("", True), ("examples off", False), ("examples off\nexamples on", True)],
)
def test_examples_are_switched_for_every_kind(commands: str, is_on: bool) -> None:
    session = Session()
    ran(commands, session)
    for text in ("x = indices;", "y = select(indices, indices, <);", "z = score(indices, 1);"):
        assert ("example:" in shown(text, session)) == is_on


@pytest.mark.parametrize(
    ("command", "s_op", "selector"),
    [
        ('set example "ab"', "ab", "ab"),
        ('set s-op example "ab"', "ab", "hello"),
        ('set selector example "ab"', "hello", "ab"),
    ],
)
def test_examples_are_set_by_kind(command: str, s_op: str, selector: str) -> None:
    session = Session()
    ran(command, session)
    assert session.settings.s_op_example == tuple(s_op)
    assert session.settings.selector_example == tuple(selector)
    told = shown("show example", session)
    assert s_op in told
    assert selector in told


def test_a_scorer_is_shown_as_a_grid_of_its_numbers() -> None:
    session = Session()
    ran('set example "ab"', session)
    lines = shown("s = score(indices - 12, 1 + indices);", session).splitlines()
    assert lines[0].split() == ["scorer:", "s"]
    assert [line.split() for line in lines[2:]] == [
        ["a", "b"], ["a", "-12", "-11"], ["b", "-24", "-22"],
    ]  # fmt: skip


def test_a_long_selection_is_cut_and_says_so() -> None:
    session = Session()
    ran(f'set example "{"a" * (MOST_ROWS + 7)}"', session)
    assert f"… {MOST_ROWS + 7} rows and columns in all" in shown("select(indices, 1, ==);", session)
    assert len(shown("score(indices, 1);", session).splitlines()) == 2 + 1 + MOST_ROWS
    ran("full seq display on", session)
    whole = shown("select(indices, 1, ==);", session)
    assert "in all" not in whole
    assert len(whole.splitlines()) == 2 + 1 + MOST_ROWS + 7


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = [[1, 2], [3]];", "[[1, 2],\n      [3]]"),
        ('x = {"a": [1], "b": indices};', '{"a": [1], "b": indices}'),
        ("x = zip;", "zip(…)"),
        ("x = [tokens, indices];", "[tokens, indices]"),
        ("def f(x, y=2) { return x; } f;", "f(x, y=…)"),
        ("def f(x) { return x; } x = [f];", "[f(x)]"),
        ("x = 1/3;", "0.333"),
    ],
)
def test_compile_time_values_are_written_as_rasp_does(text: str, told: str) -> None:
    assert told in shown(text)


def test_a_long_list_of_lists_is_cut_unless_asked_for_in_full() -> None:
    rows = [[number] for number in range(MOST_ITEMS + 3)]
    assert f"… {MOST_ITEMS + 3} in all" in show_value(rows)
    assert "…" not in show_value(rows, full=True)


def test_nothing_is_shown_of_what_is_nothing() -> None:
    assert show_named("x", None, Session(), Program()) == ""
    [drawn] = ran('draw(indices, "abc");')
    assert isinstance(drawn.value, DrawRequest)
    assert drawn.value.tokens == ("a", "b", "c")
    assert show_result(drawn, Session()) == ""


def test_every_function_of_the_language_has_a_signature() -> None:
    for name, value in language_scope().names.items():
        if callable(getattr(value, "build", None)):
            assert signature(value).startswith(f"{name}(")


def test_docs_are_those_of_the_name_s_own_thing() -> None:
    session = Session()
    ran("# Twice as much.\ndef twice(x) { return x * 2; }\nsort = 1;", session)
    assert session.doc("twice") == "Twice as much."
    assert session.doc("sort") == ""  # not the library's
    assert session.doc("select")
    assert session.doc("nothing_of_the_kind") == ""


def test_commands_in_a_loaded_file_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "part.rasp").write_text('set example "zzz"\nx = 3;\n_y = 4;\n')
    (tmp_path / "main.rasp").write_text('load "part";\n')
    session = Session()
    session.run(read_source(str(tmp_path / "main.rasp")))
    assert session.settings.s_op_example == tuple("hello")
    assert session.names() == {"x": 3}


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.rasp"
    path.write_text("#" * 100)
    for most in (20, 50):  # found by its size, and by what can be read of it
        with pytest.raises(rasp.RaspLimitError, match=f"more than {most} characters"):
            read_source(str(path), Limits(text_length=most))
    assert len(read_source(str(path), Limits(text_length=100)).text) == 100


def test_a_program_that_python_cannot_nest_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session()

    def too_deep(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr(session.elaborator, "statement", too_deep)
    with pytest.raises(rasp.RaspLimitError, match="nested too deeply"):
        ran("x = 1;", session)
