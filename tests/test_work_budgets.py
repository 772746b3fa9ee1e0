"""Programs that would take all time or memory: they end in an error within their budgets."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

import rasp
from rasp import Limits
from rasp.apps.cli import main
from rasp.base.limits import DEFAULT_LIMITS, MEGABYTE
from rasp.base.meter import Meter
from rasp.base.source import Source
from rasp.language.evaluator import EvaluationError, evaluate_plain
from rasp.language.evaluator.fast.evaluate import evaluate as evaluate_fast
from rasp.language.graph import in_order
from rasp.language.meaning.operations import equal
from rasp.language.meaning.session import Session
from rasp.language.meaning.shown_values import show_value
from rasp.language.syntax import parse

DOUBLED = "def d(x, n) { return x if n == 0 else d([x, x], n - 1); }"
COPIES = (
    "base = range(99000); def g(l, i) { return l + [i]; } x = [g(base, i) for i in range(50000)];"
)
SELECTORS = "s = select_all; for i in range(20000) { s = s and select(indices, i, !=); }"
SELECTORS += " x = selector_width(s);"
STRINGS = 's = tokens_str + "a" * 99000; x = aggregate(select(s, s, ==), 1);'
FRACTIONS = "x = aggregate(select(indices, indices, <=), 1 / (tokens_int + 1));"
SUMS = "x = 1 / 3; for i in range(9000) { x = x + 1 / (3 * i + 1); }"

RUN = """
import json, sys, time
import rasp
text, given, evaluator = json.loads(sys.stdin.read())
limits = rasp.Limits(seconds=2, memory=300_000_000)
if evaluator == "fast":
    import numpy
begun = time.monotonic(), time.process_time()
try:
    rasp.run(text, limits=limits)["x"](given)
except rasp.RaspLimitError as error:
    with open("/proc/self/status") as status:  # ru_maxrss would begin with the parent's
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) // 1024
    told = {"message": error.message, "megabytes": peak}
    told["seconds"] = min(time.monotonic() - begun[0], time.process_time() - begun[1])
    print(json.dumps(told))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="asks how much memory a process used")
@pytest.mark.parametrize(
    ("text", "given", "evaluator"),
    [
        (COPIES, "a", ""),
        (SELECTORS, "a" * 150, "plain"),
        (SELECTORS, "a" * 150, "fast"),
        (STRINGS, [str(number) for number in range(100_000)], "fast"),
        (FRACTIONS, [str(number) for number in range(70_000)], "fast"),
        (FRACTIONS, [str(number) for number in range(12_000)], "fast"),
    ],
    ids=["lists", "selectors", "selectors, fast", "strings", "fractions", "fractions in time"],
)
def test_a_greedy_program_ends_within_its_budgets(text: str, given: Any, evaluator: str) -> None:
    for _ in range(3):  # a busy machine makes the time between two looks at the clock longer
        ran = subprocess.run(
            [sys.executable, "-c", RUN], input=json.dumps([text, given, evaluator]),
            capture_output=True, text=True, check=True, timeout=120,
        )  # fmt: skip
        told = json.loads(ran.stdout)
        assert told["megabytes"] < 500
        if told["seconds"] < 2.5:  # for the text and its application together
            return
    pytest.fail(f"it took {told['seconds']} s, three times")


# Shared lists


def test_shared_lists_are_compared_once() -> None:
    text = f"{DOUBLED} x = d([1], 60); y = d([1], 60); z = d([2], 60); a = x == y; b = x == z;"
    names = rasp.run(text, limits=Limits(steps=5000))
    assert names["a"] is True and names["b"] is False
    shared = names["x"]
    assert shared[0] is shared[1], "Python gets shared lists too"


@pytest.mark.parametrize("left", [1, True, "a", [], [1], [[1], 2], [{"a": [1]}], [{"b": [1]}]])
@pytest.mark.parametrize("right", [1, True, "a", [], [1], [[1], 2], [{"a": [1]}], [{"b": [1]}]])
def test_lists_are_equal_where_python_says_so(left: Any, right: Any) -> None:
    assert equal(left, right, Meter(DEFAULT_LIMITS)) == (left == right)


def test_what_is_shown_has_an_end() -> None:
    shared: list[Any] = [1]
    for _ in range(60):
        shared = [shared, shared]
    assert len(show_value(shared)) < 10**6 and "…" in show_value(shared)
    deep: list[Any] = [1]
    for _ in range(50_000):
        deep = [deep]
    assert "…" in show_value(deep, full=True)
    assert show_value([[1], {"a": 1}, "b"]) == '[[1], {"a": 1}, "b"]'


# Work inside one expression


@pytest.mark.parametrize(
    "text",
    [
        "l = range(90000); for i in range(40) { x = l + [i]; }",
        "l = range(90000); for i in range(40) { x = [i] * 90000; }",
        "l = range(90000); m = range(90000); for i in range(40) { x = l == m; }",
        "l = range(90000); for i in range(40) { x = -1 in l; }",
        "l = range(9000); for i in range(40) { x = l[indices + i]; }",
        "for i in range(40) { x = range(90000); }",
        's = "a" * 90000; for i in range(400) { x = s + "b"; }',
        "x = 3 ^ 8000; for i in range(9000) { y = x + i; }",
        SUMS,
    ],
)
def test_steps_count_the_work_inside_an_expression(text: str) -> None:
    rasp.run(text.replace("range(40)", "range(1)").replace("(400)", "(1)").replace("(9000)", "(1)"),
             limits=Limits(steps=6000))  # fmt: skip
    with pytest.raises(rasp.RaspLimitError, match="steps"):
        rasp.run(text, limits=Limits(steps=20_000))


# Memory


LONG_STRINGS = 'x = tokens_str + "a" * 90000;'
MANY_TABLES = "s = select(indices, indices, <); x = selector_width(s and not s or s);"


@pytest.mark.parametrize("text", [LONG_STRINGS, MANY_TABLES])
def test_values_alive_have_a_limit_in_the_plain_evaluator(text: str) -> None:
    node = rasp.run(text)["x"].node
    tokens = tuple(str(number) for number in range(100))
    assert evaluate_plain([node], tokens, Limits(memory=50 * MEGABYTE))
    with pytest.raises(EvaluationError, match="of memory or more"):
        evaluate_plain([node], tokens, Limits(memory=100_000))


@pytest.mark.parametrize("text", [LONG_STRINGS, "x = tokens_int * 2 ^ 400;", FRACTIONS])
def test_values_alive_have_a_limit_in_the_fast_evaluator(text: str) -> None:
    node = rasp.run(text)["x"].node
    tokens = tuple(str(number) for number in range(200))
    assert evaluate_fast([node], [tokens], Limits(memory=50 * MEGABYTE))
    with pytest.raises(EvaluationError, match=r"of memory or more|so many different denominators"):
        evaluate_fast([node], [tokens], Limits(memory=20_000))


def test_a_value_is_dropped_after_its_last_use() -> None:
    """A hundred tables of 80 KB pass through 1 MB, because few are alive at once."""
    text = "s = select_all; for i in range(100) { s = s and select(indices, i, !=); }"
    node = rasp.run(text + " x = selector_width(s);")["x"].node
    tokens = tuple("a" * 100)
    enough = Limits(memory=1_000_000)
    assert evaluate_plain([node], tokens, enough)[node] == [0] * 100
    assert set(evaluate_plain([node], tokens, enough)) == {node}
    with pytest.raises(EvaluationError):
        evaluate_plain([node], tokens, Limits(memory=100_000))


def test_memory_is_said_with_the_place_that_needs_it() -> None:
    names = rasp.run('x = indices;\ny = tokens_str + "a" * 90000;', limits=Limits(memory=10**6))
    with pytest.raises(rasp.RaspLimitError) as caught:
        names["y"]([str(number) for number in range(100)])
    assert caught.value.span is not None and caught.value.span.line == 2


# Time inside one node


@pytest.mark.parametrize(
    "text",
    [
        "x = tokens_str + tokens_str;",
        "x = aggregate(select(tokens, tokens, <=), tokens_int / 7);",
        "x = selector_width(select(tokens, tokens, ==) or select(tokens, tokens, <));",
    ],
)
def test_the_clock_is_looked_at_within_a_node(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    node = rasp.run(text)["x"].node
    tokens = tuple(str(number) for number in range(300))
    looks = count()
    monkeypatch.setattr("rasp.base.limits.time.monotonic", lambda: float(next(looks)))
    evaluate_plain([node], tokens, Limits(seconds=10**9))
    looked = next(looks)
    assert looked > 2 * len(in_order([node]))
    with pytest.raises(EvaluationError, match="seconds"):
        evaluate_plain([node], tokens, Limits(seconds=looked / 2))


@pytest.mark.parametrize("text", ["x = " + "1 + " * 20_000 + "1;", "x = f(a, b)(c);" * 2_000])
def test_the_clock_is_looked_at_while_a_text_is_read(text: str) -> None:
    parse(Source("demo", text))
    with pytest.raises(rasp.RaspLimitError, match="takes more than 1e-06 seconds"):
        parse(Source("demo", text), Limits(seconds=1e-6))


def test_an_application_inside_a_program_has_no_time_of_its_own() -> None:
    text = 'h = histf(tokens); x = [h("ab" * 40) for i in range(100000)];'
    with pytest.raises(rasp.RaspLimitError, match=r"takes more than 0\.2 seconds"):
        rasp.run(text, limits=Limits(seconds=0.2))


def test_no_memory_left_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    program = tmp_path / "demo.rasp"
    program.write_text("x = indices;\ny = x + 1;")

    def fail(*given: object) -> None:
        raise MemoryError

    monkeypatch.setattr("rasp.language.meaning.operations.binary", fail)
    assert main(["run", str(program)]) == 2
    told = capsys.readouterr().err
    assert "memory" in told and "demo.rasp:2:1" in told and "Traceback" not in told


# One request, one budget of seconds


def test_a_text_and_what_it_is_applied_to_share_their_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = count(0.0, 1.0)  # every look at it takes a second
    monkeypatch.setattr("rasp.base.limits.time.monotonic", lambda: next(clock))
    text = "for i in range(200) { y = i; } x = aggregate(select(tokens, tokens, ==), indices);"
    handle = rasp.run(text, limits=Limits(seconds=60))["x"]
    assert 0 < handle.limits.spent < 60 and handle("ab" * 100)
    spent = replace(handle.limits, spent=58.0)  # as if the text had taken so long
    with pytest.raises(rasp.RaspLimitError, match="more than 60 seconds"):
        handle.within(spent)("ab" * 100)


def test_every_entry_of_a_session_has_its_own_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = count(0.0, 1.0)
    monkeypatch.setattr("rasp.base.limits.time.monotonic", lambda: next(clock))
    session = Session(Limits(seconds=100))
    for _ in range(50):
        session.run(Source("entry", "x = tokens;"))
        assert session.rest().spent < 20
