"""Hostile and mangled programs end in a clear error: never in a hang, never in Python's own."""

from __future__ import annotations

import io
import math
import re
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from itertools import count
from pathlib import Path

import pytest

import rasp
from rasp.apps.cli import COMMANDS, main
from rasp.apps.cli.arguments import CommandParser
from rasp.apps.lsp.analysis import LIMITS as EDITOR_LIMITS
from rasp.apps.playground.budgets import LIMITS as PLAYGROUND_LIMITS
from rasp.base.limits import Limits, alarm, read_limit
from rasp.base.source import Source
from rasp.language.evaluator import EvaluationError, evaluate_plain
from rasp.language.evaluator.fast.evaluate import evaluate as evaluate_fast
from rasp.language.meaning.session import Session

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


@pytest.mark.slow
@pytest.mark.parametrize("program", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_program_is_refused_with_a_hint(program: str) -> None:
    with pytest.raises(rasp.RaspError) as caught:
        rasp.run(program)
    assert caught.value.hint
    assert len(str(caught.value)) < 10_000


@pytest.mark.slow
def test_a_deep_graph_is_no_problem() -> None:
    names = rasp.run("x = indices; for i in range(20000) { x = x + 1; }")
    assert names["x"]("ab") == [20_000, 20_001]


def test_a_long_sum_is_no_problem() -> None:
    text = "x = " + " + ".join(["indices"] * 5_000) + ";"
    assert rasp.run(text)["x"]("ab") == [0, 5_000]


LOOP = "x = 1; for i in range(100) { x = 1; }"
BUDGETS = {
    "text_length": (10, "x = 1; y = 2;"),
    "graph_size": (5, "x = indices; for i in range(10) { x = x + 1; }"),
    "steps": (10, "x = 1; for i in range(10) { x = x + 1; }"),
    "list_size": (3, "x = range(4);"),
    "recursion": (3, "def f(n) { return 0 if n == 0 else f(n - 1); } f(4);"),
    "nesting": (3, "x = ((((1))));"),
    "dense_cells": (8, 'select(tokens, tokens, ==)("abc");'),
    "plain_cells": (8, 'aggregate(select(tokens, tokens, ==), 1)("abc");'),
    "input_length": (2, 'tokens("abc");'),
    "number_digits": (3, "x = 999 + 1; y = x * x;"),
    "string_length": (5, 'x = "abc" + "def";'),
    "memory": (1_000, 'x = "a" * 2000;'),
    "seconds": (1e-9, LOOP),
}


@pytest.mark.parametrize("name", rasp.base.limits.BUDGETS)
def test_every_budget_can_be_set(name: str) -> None:
    budget, program = BUDGETS[name]
    Session().run(Source("demo", program))
    with pytest.raises(rasp.RaspLimitError):
        Session(limits=Limits(**{name: budget})).run(Source("demo", program))


@pytest.mark.parametrize(
    ("limits", "program"),
    [
        (Limits(number_digits=3), "x = 1234;"),
        (Limits(number_digits=3), "x = 99 ^ 2;"),
        (Limits(number_digits=3), "x = -(99 * 99);"),
        (Limits(number_digits=3), 'x = tokens_int(["12345"]);'),
        (Limits(number_digits=3), "x = tokens([12345, 1]);"),
        (Limits(string_length=5), 'x = "abcdef";'),
        (Limits(string_length=5), 'x = "ab" * 3;'),
        (Limits(string_length=5), 'x = tokens(["ab", "abcdef"]);'),
        (Limits(seconds=1e-9), 'x = (tokens + tokens)("abc");'),
    ],
)
def test_a_budget_holds_wherever_a_value_comes_from(limits: Limits, program: str) -> None:
    Session().run(Source("demo", program))
    with pytest.raises(rasp.RaspError) as caught:
        Session(limits=limits).run(Source("demo", program))
    assert caught.value.span is not None


def test_numbers_of_just_the_digits_allowed_are_allowed() -> None:
    for digits in (1, 2, 3, 5, 10, 19, 20, 100):
        limits = Limits(number_digits=digits)
        assert rasp.run(f"x = {'9' * digits};", limits=limits)["x"] == 10**digits - 1
        assert rasp.run("x = tokens;", limits=limits)["x"]([10**digits - 1]) == [10**digits - 1]


SMALL = [Limits(number_digits=2), Limits(number_digits=5), Limits(string_length=3)]
PROGRAMS = [
    "x = tokens_int * tokens_int;",
    "x = tokens_int ^ indices;",
    "x = 1 / (tokens_int * tokens_int + 1);",
    "x = -(tokens_int * 997) % 1000003;",
    "x = tokens_str + tokens_str;",
    "x = tokens_str * indices;",
    "x = aggregate(select(indices, indices, <=), tokens_int * 3 + 1/7);",
    "x = (tokens_int * 1000 if tokens_int > 3 else tokens_int) + 0;",
    "x = aggregate(select(indices, indices, ==), tokens_int * 13);",
]


@pytest.mark.parametrize("text", PROGRAMS)
@pytest.mark.parametrize("limits", SMALL, ids=str)
def test_the_evaluators_agree_on_what_is_too_large(limits: Limits, text: str) -> None:
    node = rasp.run(text)["x"].node
    for tokens in (("1", "2"), ("3", "4", "5"), ("31", "9", "7"), ("11", "22", "5", "1")):
        try:
            plain: object = evaluate_plain([node], tokens, limits)[node]
        except EvaluationError as error:
            plain = (error.error.message, error.node)
        try:
            fast: object = evaluate_fast([node], [tokens], limits)[node][0]
        except EvaluationError as error:
            fast = (error.error.message, error.node)
        assert plain == fast


def test_time_is_up_in_the_fast_evaluator_too() -> None:
    hist = rasp.run("hist = histf(tokens);", limits=Limits(seconds=1e-9))["hist"]
    with pytest.raises(rasp.RaspLimitError, match="takes more than 1e-09 seconds"):
        hist("ab" * 1000)
    with pytest.raises(rasp.RaspLimitError, match="takes more than 1e-09 seconds"):
        rasp.evaluate(hist, ["ab" * 1000])


def test_rows_computed_in_blocks_look_at_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "x = selector_width(select(indices, indices, <) and select(tokens, tokens, <) and "
    text += "select(indices % 7, indices % 5, <) and select(indices % 3, indices % 11, >));"
    slow = rasp.run(text, limits=Limits(seconds=60))["x"]
    assert "blocked" in rasp.explain_plan(slow)
    tokens = [str(number % 1000) for number in range(9_000)]  # more than 60 blocks, fewer nodes
    looks = count()
    monkeypatch.setattr("rasp.base.limits.time.monotonic", lambda: float(next(looks)))
    with pytest.raises(rasp.RaspLimitError, match="takes more than 60 seconds"):
        slow(tokens)


# Handles


def test_a_handle_keeps_to_the_budgets_it_was_made_under() -> None:
    names = rasp.run("x = tokens; def f(s) { return s; }", limits=Limits(input_length=3))
    made = {
        "alone": names["x"],
        "named": names["x"].named("other"),
        "operator": rasp.indices == names["x"],
        "function": names["f"](rasp.tokens),
        "library": rasp.selector_width(rasp.select(names["x"], rasp.tokens, "==")),
        "within": rasp.tokens.within(Limits(input_length=3)),
    }
    for handle in made.values():
        assert handle("abc")
        with pytest.raises(rasp.RaspLimitError):
            handle("abcd")
        with pytest.raises(rasp.RaspLimitError):
            rasp.evaluate(handle, ["abcd"])
        with pytest.raises(rasp.RaspLimitError):
            rasp.draw(handle, "abcd")
    with pytest.raises(rasp.RaspLimitError):
        rasp.evaluate(names, ["abcd"])
    assert rasp.tokens("abcd")


def test_what_is_made_of_two_keeps_to_the_smaller_budget_of_each_kind() -> None:
    quick, small = rasp.Limits(seconds=2, nesting=30), rasp.Limits(steps=5, nesting=40)
    combined = rasp.indices.within(quick) + rasp.tokens_int.within(small)
    assert combined.limits == rasp.Limits(seconds=2, steps=5, nesting=30)


def test_a_wider_budget_stays_when_combined_with_what_has_none() -> None:
    wide = rasp.run("x = tokens;", limits=Limits(input_length=10**9))["x"] == rasp.tokens
    assert wide.budgets.input_length == 10**9


# The command line


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "it.rasp"
    path.write_text("x = 1; for i in range(100) { x = indices; } y = x;\n")
    return str(path)


@pytest.mark.parametrize(
    "words",
    [
        "run {}", "eval {} y abc", "check {}", "arch {} y", "fit {} y --layers 1", "diff {} y {} y",
        "draw {} y abc", "compile {} y --alphabet ab --max-length 3",
    ],
)  # fmt: skip
def test_every_command_that_runs_a_program_takes_budgets(
    words: str, program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [word.format(program) for word in words.split()]
    assert main([*command]) == 0
    assert main([*command, "--limit", "steps=50"]) in (1, 2)
    assert "takes more than 50 steps" in "".join(capsys.readouterr())
    assert main([*command, "--limit=seconds=1e-9"]) in (1, 2)
    assert "takes more than 1e-09 seconds" in "".join(capsys.readouterr())
    assert main([*command, "--limit", "steps=50", "--limit", "steps=1_000"]) == 0


def test_fmt_reads_within_budgets(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", program, "--limit", "text_length=20"]) == 2
    assert "has more than 20 characters, which is over the limit" in capsys.readouterr().err


def test_a_budget_of_inputs_on_the_command_line(
    program: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["eval", program, "y", "abc", "--limit", "input_length=2"]) == 1
    monkeypatch.setattr(sys, "stdin", io.StringIO("ab\nabc\n"))
    assert main(["eval", program, "y", "--limit", "input_length=2"]) == 1
    assert capsys.readouterr().err.count("over the limit of 2") == 2


def test_the_repl_takes_budgets(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(LOOP + "\n1 + 1;\n"))
    assert main(["--limit", "steps=50"]) == 1
    told = capsys.readouterr().out
    assert "takes more than 50 steps" in told
    assert "2" in told.splitlines()[-1]  # and the conversation goes on


def test_a_program_from_standard_input_is_read_only_as_far_as_it_may_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    endless = io.StringIO("x" * 1_000_000)
    monkeypatch.setattr(sys, "stdin", endless)
    assert main(["run", "-"]) == 2
    assert endless.tell() <= Limits().text_length + 1


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("stepz=5", "there is no budget called `stepz`", "did you mean `steps`?"),
        ("", "there is no budget called ``", "the budgets are text_length, nesting, steps"),
        ("steps=many", "`steps` is a whole number above 0, but this is `many`", "`steps=300_000`"),
        ("steps=0", "`steps` is a whole number above 0, but this is `0`", "steps"),
        ("steps", "`steps` is a whole number above 0, but this is ``", "steps"),
        ("seconds=nan", "`seconds` is a number above 0, but this is `nan`", "`seconds=300.0`"),
    ],
)
def test_a_budget_that_is_none_is_refused(text: str, message: str, hint: str) -> None:
    with pytest.raises(rasp.RaspValueError) as caught:
        read_limit(text)
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


# The other front doors


def test_the_playground_keeps_to_its_budgets_in_every_request() -> None:
    pytest.importorskip("starlette", reason="the playground needs its extra")
    from rasp.apps.playground.exercises import EXERCISES
    from rasp.apps.playground.page_answers import answer

    long_text = "x = indices;" + "#" * PLAYGROUND_LIMITS.text_length
    asked = {"program": long_text, "example": "ab", "output": "x", "theme": "light"}
    for kind in ("run", "format", "flow", "picture", "architecture", "fit", "exercise", "weights"):
        name = EXERCISES[0].name if kind == "exercise" else "x"
        request = asked | {"kind": kind, "name": name}
        told = str(answer(request))
        assert "over the limit" in told or "fix the program first" in told, kind


def test_the_language_server_keeps_to_its_budgets() -> None:
    from rasp.apps.lsp.analysis import analyse

    text = 'x = indices; y = select(x, x, <); z = y("' + "a" * 300 + '");'
    mistakes, facts = analyse({"name": "it", "text": text, "example": "a" * 300})
    assert not mistakes["errors"]
    told = str(facts)
    assert f"over the limit of {EDITOR_LIMITS.dense_cells} cells" in told


def test_the_library_s_own_budget_is_not_the_session_s() -> None:
    assert Session(Limits(steps=2, nesting=2)).find("histf") is not None


def test_the_table_in_the_docs_is_that_of_the_source() -> None:
    page = (Path(__file__).parents[2] / "docs" / "limits.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|(.+)\|$", page, re.MULTILINE)
    assert [name for name, _ in rows] == list(rasp.base.limits.BUDGETS)
    for name, row in rows:
        told = [float(cell.replace(",", "")) for cell in row.split("|")[:3]]
        assert told == [
            getattr(limits, name) for limits in (Limits(), PLAYGROUND_LIMITS, EDITOR_LIMITS)
        ]


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="the system has no alarms")
def test_an_alarm_rings_in_the_main_thread_and_is_gone_afterwards() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(TimeoutError), alarm(0.01, TimeoutError):
        time.sleep(30)
    with alarm(1e300, TimeoutError), alarm(math.inf, TimeoutError):
        pass  # more than a system can count to
    with alarm(30, TimeoutError):
        pass
    assert signal.getsignal(signal.SIGALRM) == before
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0

    def elsewhere() -> str:
        with alarm(0.01, TimeoutError):
            time.sleep(0.05)
            return "undisturbed"

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(elsewhere).result() == "undisturbed"


def test_the_docs_list_every_command_that_takes_a_limit() -> None:
    page = (Path(__file__).parents[2] / "docs" / "limits.md").read_text(encoding="utf-8")
    listed = page.partition("## On the command line")[2].partition("take\n")[0]
    taking = []
    for name in COMMANDS:
        parser = CommandParser(name, "")
        import_module(f"rasp.apps.cli.{name}").configure(parser)
        if "--limit" in parser.format_help():
            taking.append(name)
    assert re.findall(r"`(\w+)`", listed) == taking
