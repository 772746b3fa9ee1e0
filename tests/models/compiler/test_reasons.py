"""Each reason why a program is refused, in the words that its author reads, with a way out."""

from __future__ import annotations

from typing import Any

import pytest

import rasp
from rasp.base.errors import RaspUnsupportedError
from rasp.models.compiler import build, compile
from rasp.models.compiler.analysis import weighted_sums
from rasp.models.compiler.robust.plan import RobustPlan

AVERAGES = """one = aggregate(select(tokens, tokens, ==), indices);
two = aggregate(select(tokens, tokens, !=), indices);
"""
EQUAL_AVERAGES = AVERAGES + "out = selector_width(select(one, one, ==));"
REASONS: list[tuple[str, Any, int, dict[str, Any], str]] = [
    (
        "aggregate(select_best(select_all, score(tokens, 1)), indices)", "ab", 3, {},
        "`score` multiplies numbers, not strings",
    ),
    (
        "aggregate(select_best(select_all, score(tokens, 1)), indices)", [0, 1, 10**6], 3, {},
        "the scores of select_best spread over 1000000 times their smallest difference, "
        "and the limit is 16384",
    ),
    (
        "aggregate(select(tokens, tokens, >), pow(7548472197, 2))", "ab", 3, {},
        "as an int and as a float, which are not the same number",
    ),
    ("tokens * 1000 + indices", range(300), 300, {}, "it can be one of 90000 numbers"),
    ("tokens * 5000 + indices", range(5000), 4096, {}, "it can be one of too many numbers, and"),
    ("(one - indices) * (one + indices)", "ab", 10, {}, "it depends on 596 × 596 = 355216"),
    (
        "aggregate(select_all, 10^40 * indices)", "ab", 8, {},
        "some of its numbers are too large for float32",
    ),
    ("one * two", "ab", 12, {}, "combinations of values, and the limit is 60000"),
    (
        "aggregate(select(tokens, tokens, <), 1)", range(8000), 2, {},
        "a selector compares 8000 values of its keys with 8000 of its queries, which is too many",
    ),
    (
        "aggregate(select(tokens, tokens, <), indices)", range(1600), 3, {},
        "a selector tells 1600 classes of values apart, which takes as many dimensions, "
        "over 3200 combinations of values",
    ),
    (
        'aggregate(select(tokens if indices == 0 else 1, tokens, <), indices)', "ab", 2, {},
        "it compares strings with numbers, which the program itself cannot",
    ),
    (
        'aggregate(select(tokens, "a", ==), indices + 1)', "ab", 4, {"sink": False},
        "its selector may pick nothing, and without a sink softmax cannot tell that from "
        "picking everything",
    ),
    ("one + 0 * tokens", "ab", 3, {}, "the program fails on every input"),
    ("tokens", range(70_000), 2, {}, "it can be one of 70000 atoms, and the limit of a read-out"),
]  # fmt: skip


def refusal(text: str, vocabulary: Any, length: int, **options: Any) -> RaspUnsupportedError:
    handle = rasp.run(text)["out"]
    with pytest.raises(RaspUnsupportedError) as caught:
        compile(handle, vocabulary=vocabulary, max_length=length, **options, style="compact")
    assert caught.value.hint
    return caught.value


@pytest.mark.slow
@pytest.mark.parametrize(("text", "vocabulary", "length", "options", "reason"), REASONS)
def test_the_reason_is_told(
    text: str, vocabulary: Any, length: int, options: dict[str, Any], reason: str
) -> None:
    known = list(vocabulary)
    error = refusal(f"{AVERAGES}out = {text};", known, length, **options)
    assert "cannot be compiled exactly: " in error.message
    assert reason in error.message


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        (
            "emitting.emitter.MOST_CELLS",
            "the feed-forward of layer 1 would have to make 1 numbers from ",
        ),
        ("emitting.emitter.MOST_PARAMETERS", "the feed-forward of layer 1 would need "),
        ("emitting.emitter.MOST_WORK", "the feed-forward of layer 1 would need "),
    ],
)
def test_a_budget_of_a_feed_forward_is_kept(
    budget: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = AVERAGES + "out = aggregate(select(round(one) % 2, 1, ==), indices);"
    compile(rasp.run(text)["out"], vocabulary="ab", max_length=4, style="compact")
    monkeypatch.setattr(f"rasp.models.compiler.{budget}", 3)
    assert reason in refusal(text, "ab", 4).message


def test_a_comparison_of_averages_without_margin_is_refused() -> None:
    assert "no margin" in refusal(EQUAL_AVERAGES, "ab", 5).message


@pytest.mark.parametrize("text", [
    "tokens_int > 10 ^ 400",
    "aggregate(select_best(select_all, score(10 ^ 200 * indices, 1)), indices)",
    "aggregate(select(indices * 10 ^ 400, 10 ^ 400, ==), tokens)",
])  # fmt: skip
def test_numbers_beyond_floats_that_no_model_holds_are_compiled(text: str) -> None:
    handle = rasp.run(f"out = {text};")["out"]
    assert compile(handle, vocabulary="012", max_length=3)("201") == handle("201")
    with pytest.raises(RaspUnsupportedError, match="too large for float32"):
        compile(handle, vocabulary="012", max_length=3, style="robust")


@pytest.mark.parametrize("style", ["auto", "robust", "compact"])
def test_answers_beyond_floats_are_refused(style: str) -> None:
    handle = rasp.run("out = 10 ^ 400 + indices;")["out"]
    with pytest.raises(RaspUnsupportedError, match="too large for float32") as caught:
        compile(handle, vocabulary="012", max_length=3, style=style)
    assert caught.value.span is not None


def test_where_both_styles_refuse_the_smaller_one_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RaspUnsupportedError("compact is refused", None, "a hint")

    monkeypatch.setattr(build, "compile_compact", refuse)
    monkeypatch.setattr(RobustPlan, "effort", 10**12)
    with pytest.raises(RaspUnsupportedError, match="compact is refused"):
        compile(rasp.tokens, vocabulary="ab", max_length=3)


def test_numbers_that_are_too_many_to_be_listed_are_not_counted() -> None:
    error = refusal("out = histf(tokens) * 10 ^ 350;", "ab", 4)
    assert "one of too many numbers, and the limit is 60000" in error.message


def test_numbers_that_are_listed_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weighted_sums, "MOST_STATES", 8)
    error = refusal("out = aggregate(select(tokens, tokens, ==), indices);", "ab", 4)
    assert "the mean of its values can be one of 19 numbers, and the limit is 8" in error.message
