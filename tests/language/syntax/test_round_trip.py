"""Text, tree and text again: nothing is lost, and the published grammar says the same."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import lark
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rasp.base.errors import RaspError
from rasp.base.source import Source, Span
from rasp.language.operators import written
from rasp.language.syntax import parse, parse_with_errors, print_expression, print_program
from rasp.language.syntax.lexer import lex
from rasp.language.syntax.lint import misreadings
from rasp.language.syntax.tree import (
    Argument,
    Assign,
    Binary,
    Bracketed,
    Call,
    Evaluate,
    Expression,
    Index,
    ListDisplay,
    Literal,
    Name,
    Ternary,
    Tree,
    Unary,
    bound_by,
    walk,
)
from rasp.language.words import BINDING
from repository import ROOT
from strategies import for_each

TESTS = ROOT / "tests"
GOLDEN = ROOT.parent / "shared" / "golden"
SOURCES = [
    *sorted((TESTS / "programs").rglob("*.rasp")),
    *sorted((TESTS / "paper" / "listings").glob("*.rasp")),
    *sorted((ROOT / "src" / "rasp").rglob("*.rasp")),
]
NOWHERE = Span(Source("nowhere", ""), 0, 0)


def tree_of(text: str) -> tuple[Tree, ...]:
    return parse(Source("test", text))


# Expressions as a program can build them, with no brackets but those they need.
names = st.sampled_from(["a", "b", "tokens"]).map(lambda name: Name(name, span=NOWHERE))
literals = st.one_of(st.integers(0, 99), st.booleans(), st.text("ab\\\"'\n§", max_size=3)).map(
    lambda value: Literal(value, span=NOWHERE)
)


def larger(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    operators = st.sampled_from(sorted(BINDING))
    binary = st.builds(lambda op, a, b: Binary(op, a, b, span=NOWHERE), operators, inner, inner)
    unary = st.builds(
        lambda op, a: Unary(op, a, span=NOWHERE), st.sampled_from(["not", "-", "+"]), inner
    )
    ternary = st.builds(lambda a, b, c: Ternary(a, b, c, span=NOWHERE), inner, inner, inner)
    index = st.builds(lambda a, b: Index(a, b, span=NOWHERE), inner, inner)
    call = st.builds(
        lambda f, a, k: Call(
            f, (Argument(a, None, span=NOWHERE), Argument(a, k, span=NOWHERE)), span=NOWHERE
        ),
        inner, inner, st.sampled_from(["key", "default"]),
    )  # fmt: skip
    lists = st.lists(inner, max_size=3).map(lambda items: ListDisplay(tuple(items), span=NOWHERE))
    return st.one_of(binary, unary, ternary, index, call, lists)


expressions = st.recursive(st.one_of(names, literals), larger, max_leaves=12)


def without_brackets(tree: Any) -> Any:
    """Take out the brackets, which say nothing that the tree's shape does not."""
    if isinstance(tree, Bracketed):
        return without_brackets(tree.inner)
    if isinstance(tree, tuple):
        return tuple(without_brackets(item) for item in tree)
    if isinstance(tree, Tree):
        parts = {f.name: without_brackets(getattr(tree, f.name)) for f in fields(tree)}
        return replace(tree, **parts)
    return tree


@given(expressions)
@settings(max_examples=400)
def test_an_expression_is_printed_with_the_brackets_it_needs(expression: Expression) -> None:
    text = print_expression(expression)
    (statement,) = tree_of(text + ";")
    assert isinstance(statement, Evaluate)
    assert without_brackets(statement.expression) == expression
    assert print_expression(statement.expression) == text


@given(st.text(max_size=80))
@settings(max_examples=500)
def test_any_text_is_parsed_or_refused(text: str) -> None:
    statements, errors = parse_with_errors(Source("test", text))
    assert all(isinstance(error, RaspError) for error in errors)
    if not errors:
        assert parse(Source("printed", print_program(statements))) == statements


PIECES = (
    "x y = ; ( ) [ ] { } , : == < + - ^ not and or in if else for def return True 1 2.5 'a' # "
    "set show example load tokens select"
)
pieces = st.sampled_from([*PIECES.split(), "\n"])


@pytest.mark.slow
@given(st.lists(pieces, max_size=30).map(" ".join))
@settings(max_examples=1000)
def test_any_heap_of_words_is_parsed_or_refused(text: str) -> None:
    statements, errors = parse_with_errors(Source("test", text))
    if not errors:
        assert parse(Source("printed", print_program(statements))) == statements


def test_comments_survive_formatting() -> None:
    text = """\
# above

x = 1;  # beside
def f(a) {  # opening
    # inside
    return a + # in the middle
        1;
    # at the end
}  # closing
# last
"""
    printed = print_program(tree_of(text))
    comments = [comment.text for comment in lex(Source("test", printed)).comments]
    assert comments == [comment.text for comment in lex(Source("test", text)).comments]
    assert print_program(tree_of(printed)) == printed


def test_long_lines_are_broken_and_stay_the_same_program() -> None:
    names = ", ".join(f"a_rather_long_name_{i}" for i in range(9))
    for text in (
        f"x = [{names}];",
        f"x = f({names});",
        "x = " + " and ".join(names.split(", ")) + ";",
        "x = " + names.replace(", ", " if a else ") + ";",
    ):
        printed = print_program(tree_of(text))
        assert max(map(len, printed.splitlines())) <= 120
        assert len(printed.splitlines()) > 1
        assert tree_of(printed) == tree_of(text)


def test_spans_are_exact() -> None:
    text = "total = count(tokens, 'a') + 2 ^ indices[0];"
    (statement,) = tree_of(text)
    assert isinstance(statement, Assign)
    assert isinstance(statement.value, Binary)
    assert statement.span.text == text
    assert statement.value.left.span.text == "count(tokens, 'a')"
    assert statement.value.right.span.text == "2 ^ indices[0]"
    for node in walk(statement):
        assert node.span.text == node.span.text.strip()


def test_a_loop_binds_what_its_body_binds_but_not_what_functions_in_it_do() -> None:
    (loop,) = tree_of("for i in l { a, b = i; for j in i { c = j; } def f(p) { d = p; } }")
    bound = [(name.name, type(binding).__name__) for name, binding in bound_by(loop)]
    assert bound == [("i", "For"), ("a", "Assign"), ("b", "Assign"), ("j", "For"),
                     ("c", "Assign"), ("f", "Define")]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("x = not a == b;", "(not a) == b"),
        ("x = a or b and c;", "(a or b) and c"),
        ("x = a in b and c;", "a in (b and c)"),
        ("x = -2 ^ 2;", "(-2) ^ 2"),
        ("x = 2 ^ 3 ^ 2;", "(2 ^ 3) ^ 2"),
        ("x = 1 < y < 3;", "(1 < y) < 3"),
    ],
)
def test_what_the_reference_reads_differently_is_pointed_at(text: str, reading: str) -> None:
    (statement,) = tree_of(text)
    (warned,) = misreadings(statement)
    assert f"`{reading}`" in warned.message
    assert misreadings(tree_of(text.replace("= ", "= (", 1).replace(";", ");"))[0])


@pytest.mark.parametrize("text", ['x = tokens or "-";', "x = 0 or y;", "x = y and 3;"])
def test_a_value_that_or_would_never_give_is_pointed_at(text: str) -> None:
    (warned,) = misreadings(tree_of(text)[0])
    assert "gives True or False, never one of its operands" in warned.message
    assert "x if condition else y" in warned.hint


@pytest.mark.parametrize(
    "text",
    [
        "x = (not a) == b;",
        "x = a or True;",
        "x = a not in b and c;",
        "x = not (a == b);",
        "x = a or (b and c);",
        "x = (-2) ^ 2;",
    ],
)
def test_brackets_silence_the_warning(text: str) -> None:
    assert not misreadings(tree_of(text)[0])


def golden_programs() -> list[str]:
    if not GOLDEN.is_dir():
        return []
    cases = [
        case["program"]
        for name in ("eval_values", "eval_errors", "arch")
        for case in json.loads((GOLDEN / f"{name}.json").read_text())["cases"]
    ]
    return list(dict.fromkeys(cases))[::5]


@cache
def grammar() -> lark.Lark:
    path = ROOT / "src" / "rasp" / "language" / "syntax" / "grammar.lark"
    return lark.Lark(path.read_text(encoding="utf-8"), parser="lalr", lexer="contextual")


@for_each(SOURCES)
def test_the_published_grammar_takes_every_program(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert parse(Source(path.name, text))
    grammar().parse(text)


def test_the_published_grammar_takes_every_operator() -> None:
    for text in [f"x {row.text} y;" for row in written("infix")] + [
        f"{row.text} x;" for row in written("prefix")
    ]:
        assert parse(Source("demo", text))
        assert grammar().parse(text), "write its sign into src/rasp/language/syntax/grammar.lark"


def test_the_published_grammar_takes_the_reference_programs() -> None:
    programs = golden_programs()
    if not programs:
        pytest.skip("the reference programs are not beside the project")
    for program in programs:
        grammar().parse(program)


@pytest.mark.slow
@given(st.lists(pieces, max_size=8).map(" ".join))
@settings(max_examples=1500)
def test_the_published_grammar_refuses_what_the_parser_refuses(text: str) -> None:
    _, errors = parse_with_errors(Source("test", text + ";"))
    checked_later = ("outside a function", "twice", "needs a default", "means nothing")
    if any(fragment in error.message for error in errors for fragment in checked_later):
        return
    if any(word in text for word in ("set", "show", "load")):
        return  # commands end with their line, which a grammar cannot say
    try:
        grammar().parse(text + ";")
        taken = True
    except lark.exceptions.LarkError:
        taken = False
    assert taken == (not errors)


def test_a_program_that_ends_in_a_number_is_asked_for_its_semicolon() -> None:
    _, [error] = parse_with_errors(Source("demo", "x = indices + 1"))
    assert error.hint == "add `;`: every statement ends in one"
