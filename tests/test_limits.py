"""Hostile and mangled programs end in a clear error: never in a hang, never in Python's own."""

from __future__ import annotations

import pytest

import rasp
from rasp.frontend.session import Session
from rasp.limits import Limits
from rasp.source import Source

HOSTILE = {
    "unclosed brackets": "a = ((((",
    "a list of a billion": "x = range(10^9);",
    "endless recursion": "def f(x) { return f(x); } f(1);",
    "recursion in pairs": "def f(x) { return g(x)+1; } def g(x){ return f(x)+1; } y = f(indices);",
    "a million-character line": "x = " + "1+" * 500_000 + "1;",
    "a NUL byte": "a = \0;",
    "100,000 brackets": "(" * 100_000 + "1" + ")" * 100_000 + ";",
    "100,000 nots": "x = " + "not " * 30_000 + "1;",
    "100,000 minuses": "x = " + "-" * 100_000 + "1;",
    "a long ternary": "x = " + "1 if 0 else " * 10_000 + "1;",
    "a tower of powers": "x = 9^9^9^9;",
    "a huge string": 'x = "a" * 10^9;',
    "a doubling string": 'x = "ab"; for i in range(100) { x = x + x; }',
    "a doubling list": "x = [0]; for i in range(60) { x = x + x; }",
    "nested loops": "for i in range(100000) { for j in range(100000) { x = 1; } }",
    "exponential recursion": "def f(n) { return 1 if n == 0 else f(n-1)+f(n-1); } x = f(50);",
    "a huge selection": 'x = select(indices, indices, <)("a" * 60000);',
    "words of the language": "def def def",
    "nothing but signs": ";,;,;(]}{",
    "a huge number": "x = " + "9" * 100_000 + ";",
}


@pytest.mark.parametrize("program", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_program_is_refused_with_a_hint(program: str) -> None:
    with pytest.raises(rasp.RaspError) as caught:
        rasp.run(program)
    assert caught.value.hint
    assert len(str(caught.value)) < 10_000


def test_a_deep_graph_is_no_problem() -> None:
    names = rasp.run("x = indices; for i in range(20000) { x = x + 1; }")
    assert names["x"]("ab") == [20_000, 20_001]


def test_a_long_sum_is_no_problem() -> None:
    text = "x = " + " + ".join(["indices"] * 5_000) + ";"
    assert rasp.run(text)["x"]("ab") == [0, 5_000]


@pytest.mark.parametrize(
    ("limits", "program"),
    [
        (Limits(text_length=10), "x = 1; y = 2;"),
        (Limits(graph_size=5), "x = indices; for i in range(10) { x = x + 1; }"),
        (Limits(steps=10), "x = 1; for i in range(10) { x = x + 1; }"),
        (Limits(list_size=3), "x = range(4);"),
        (Limits(recursion=3), "def f(n) { return 0 if n == 0 else f(n - 1); } f(4);"),
        (Limits(nesting=3), "x = ((((1))));"),
        (Limits(plain_cells=8, dense_cells=8), 'select(tokens, tokens, ==)("abc");'),
        (Limits(input_length=2), 'tokens("abc");'),
    ],
)
def test_every_budget_can_be_set(limits: Limits, program: str) -> None:
    Session().run(Source("demo", program))
    with pytest.raises(rasp.RaspLimitError):
        Session(limits=limits).run(Source("demo", program))
