"""What a name means, as far as the text alone tells."""

from __future__ import annotations

from rasp.base.source import Source
from rasp.language.syntax import parse_with_errors
from rasp.language.syntax.bindings import Bindings, bindings_of
from rasp.language.syntax.lint import unused


def resolved(text: str) -> Bindings:
    return bindings_of(parse_with_errors(Source("it", text))[0])


def unknown(text: str) -> list[str]:
    return [occurrence.name for occurrence in resolved(text).unknown]


def test_a_statement_that_cannot_be_read_binds_its_names_all_the_same() -> None:
    assert unknown("x = (1 + ;\ny = x;") == []


def test_a_function_sees_what_is_bound_after_it() -> None:
    assert unknown("def f() { return later + never; } later = 1;") == ["never"]


def test_a_comprehension_keeps_its_names_to_itself() -> None:
    assert unknown("a = [i for i in [1]]; b = i;") == ["i"]


def test_a_name_that_only_another_scope_reads_is_unused() -> None:
    text = "def f(x) { y = x; def g(y) { return y; } return g(x); }"
    statements, _ = parse_with_errors(Source("it", text))
    assert [warned.message for warned in unused(statements)] == ["`y` is never used"]
