"""Two mistakes planted in one program: `rasp check` tells both, and nothing that only follows."""

from __future__ import annotations

import pytest

from rasp.base.source import Source
from rasp.language.meaning.mistakes import check
from rasp.language.syntax import parse_with_errors
from rasp.language.syntax.lexer import lex
from rasp.language.syntax.recovery import names_bound

MISTAKES = {
    "unclosed (": "{0} = (1 + 2;",
    "unclosed call": "{0} = select(tokens, tokens, ==;",
    "unclosed [": "{0} = [1, 2;",
    "unclosed {": "{0} = {{1: 2;",
    "missing operand": "{0} = 3 +;",
    "missing ;": "{0} = 4",
    "undefined": "{0} = quux_thing;",
    "type": "{0} = full_s + 1;",
    "zero": "{0} = 1 / 0;",
    "char": "{0} = 3 $ 4;",
    "curly": "{0} = “a”;",
    "unclosed string": '{0} = "abc;',
    "extra ;": "{0} = 1;;",
    "extra )": "{0} = 1 + 2);",
    "extra ]": "{0} = [1]];",
    "extra }": "{0} = 1; }}",
    "def no brackets": "def {0} {{ return 1; }}",
    "def no brace": "def {0}(x) return x;",
    "def colon": "def {0}(x): return x;",
    "def body mistake": "def {0}(x) {{ y = (x + ; return y; }}",
    "def body name": "def {0}(x) {{ return x + ; }}",
    "def unclosed param": "def {0}(x {{ return x; }}",
    "def repeated param": "def {0}(x, x) {{ return x; }}",
    "def default order": "def {0}(x=1, z) {{ return x; }}",
    "def digit": "def 3(x) {{ return x; }}",
    "for no in": "for {0} range(3) {{ y{0} = 1; }}",
    "for colon": "for {0} in range(3): y{0} = 1;",
    "for bad source": "for {0} in 3 {{ y{0} = 1; }}",
    "for bad body": "for {0} in range(3) {{ y{0} = ; }}",
    "return outside": "return 3;",
    "while": "while True {{ {0} = 1; }}",
    "if": "if True {{ {0} = 1; }} ",
    "import": "import {0};",
    "keyword": "for = 3;",
    "apply": '{0} = (1 / indices)("abc");',
    "library": "{0} = selector_width(tokens);",
    "arity": "{0} = sort(tokens);",
    "&&": "{0} = True && False;",
    "**": "{0} = 2 ** 3;",
    "assign twice": "{0} = b = 3;",
    "ternary no else": "{0} = 1 if True;",
    "dot": "{0} = tokens.length;",
    "bad escape": '{0} = "a\\qb";',
    "dict no colon": '{0} = {{"a" 1}};',
    "comprehension": "{0} = [i for i range(3)];",
    "kw twice": "{0} = histf(seq=tokens, seq=indices);",
    "load": 'load "no_such_file_here";',
    "not": "{0} = 1 == not 2;",
    "bare ==": "{0} = ==;",
    "unpack": "{0}, other{0} = [1, 2, 3];",
    "multi-line call": "{0} = aggregate(\n    full_s,\n    tokens;",
    "+=": "{0} += 1;",
    "lambda": "{0} = lambda x: x;",
    "trailing op": "{0} = 1 + 2 +\n;",
    "call nothing": "{0} = 3(1);",
    "python def": "def {0}(x):\n    return x",
}

"""Statements with one mistake each; `{0}` is the name that they bind."""
BINDS_NOTHING = ("def digit", "return outside", "keyword")


def told(text: str) -> list[tuple[int, str]]:
    errors, _ = check(Source("p.rasp", text))
    return [(error.span.line if error.span else 0, error.message) for error in errors]


def lines_of(text: str, first: int) -> range:
    return range(first, first + text.count("\n") + 1)


@pytest.mark.parametrize("name", MISTAKES)
def test_one_mistake_is_told_once(name: str) -> None:
    text = MISTAKES[name].format("aa")
    used = "good" if name in BINDS_NOTHING else "aa"
    [(line, _)] = told(f"{text}\ngood = 1;\nuse = [{used}, good];\nagain = [use];\n")
    assert line in lines_of(text, 1)


@pytest.mark.parametrize("step", range(1, 9))
def test_two_mistakes_are_both_told_and_nothing_else(step: int) -> None:
    names = list(MISTAKES)
    for number, first in enumerate(names):
        second = names[(number + step * 7) % len(names)]
        if (first, second) == ("load", "undefined"):
            continue  # the name may be one of the file's
        one, two = MISTAKES[first].format("aa"), MISTAKES[second].format("bb")
        used = [name for name, which in (("aa", first), ("bb", second))
                if which not in BINDS_NOTHING]  # fmt: skip
        text = f"{one}\nmid = 1;\n{two}\nuse = [{', '.join([*used, 'mid'])}];\n"
        found = told(text)
        assert len(found) == 2, (text, found)
        assert found[0][0] in lines_of(one, 1), (text, found)
        assert found[1][0] in lines_of(two, one.count("\n") + 3), (text, found)


def is_of_syntax(name: str) -> bool:
    text = MISTAKES[name].format("aa") + "\ngood = 1;\n"
    is_clear = name not in ("extra }", "return outside")  # inside a function, they are not
    return is_clear and bool(parse_with_errors(Source("p.rasp", text))[1])


@pytest.mark.parametrize("step", range(1, 5))
def test_two_mistakes_in_a_function_are_both_told_and_what_calls_it_is_left_alone(
    step: int,
) -> None:
    names = [name for name in MISTAKES if is_of_syntax(name)]
    for number, first in enumerate(names):
        second = names[(number + step * 7) % len(names)]
        one, two = (MISTAKES[name].format(target).replace("\n", "\n    ")
                    for name, target in ((first, "aa"), (second, "bb")))  # fmt: skip
        text = f"def f(x) {{\n    {one}\n    mid = 1;\n    {two}\n    return mid;\n}}\n"
        text += "use = f(1);\nlast = use + nowhere;\n"
        found = told(text)
        assert len(found) == 3, (text, found)
        assert found[0][0] in lines_of(one, 2), (text, found)
        assert found[1][0] in lines_of(two, one.count("\n") + 4), (text, found)
        assert found[2][1] == "`nowhere` is not defined"


@pytest.mark.parametrize(
    "unclosed",
    [
        "def aa(x) {\n    y = x + 1;\n    return y;\n",
        "def aa(x) {\n    for i in [1] {\n        y = i;\n    return x;\n}\n",
        "def aa(x) {\n    return x;\n\ndef ok(x) {\n    return x;\n}\n",
        "for aa in [1] {\n    y = aa;\n",
    ],
)
def test_a_body_that_is_never_closed_ends_where_its_lines_do(unclosed: str) -> None:
    [first, second, third] = told(f"{unclosed}b = nothing;\nc = (;\nd = aa;\n")
    assert "never closed" in first[1]
    assert second[1] == "`nothing` is not defined"
    assert "expected an expression" in third[1]


def test_mistakes_come_in_the_order_of_the_text() -> None:
    lines = [line for line, _ in told("a = nothing;\nb = ;\nc = full_s + 1;\nd = );\n")]
    assert lines == [1, 2, 3, 4]


def test_every_missing_name_of_a_statement_is_told_once() -> None:
    text = "x = one + two + one;\ny = x + three;\nfor i in four { z = i; }\nw = [j for j in five];"
    assert [message for _, message in told(text)] == [
        f"`{name}` is not defined" for name in ("one", "two", "three", "four", "five")
    ]


def test_a_name_that_a_function_looks_for_in_vain_is_told_also_where_nobody_calls_it() -> None:
    text = "def f(x) {\n    y = [i for i in x];\n    return y + nowhere + later;\n}\nlater = 1;\n"
    assert told(text) == [(3, "`nowhere` is not defined")]
    assert told(text + "a = f([1]);\n") == [(3, "`nowhere` is not defined")]
    nested = "def f(x) { def g(y) { return f(x) + y + z; } z = 1; return g; }"
    assert told(nested) == []


def test_a_budget_of_one_statement_does_not_end_the_check() -> None:
    found = told("a = range(10 ^ 9);\nb = a;\nc = nothing;\n")
    assert [line for line, _ in found] == [1, 3]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a, b = (1;", ["a", "b"]),
        ("def f(x { return x; }", ["f"]),
        ("for i, j range(3) { k = 1; }", ["i", "j", "k"]),
        ("x = sort(tokens, keys=tokens;", ["x"]),
        ("while True { y = 1; z += 2; }", ["y", "z"]),
    ],
)
def test_the_names_that_an_unreadable_statement_would_bind(text: str, names: list[str]) -> None:
    source = Source("p.rasp", text)
    assert [token.text for token in names_bound(source, lex(source).tokens)] == names
