"""What cannot be compiled is refused before anything is built, with every reason and a way out."""

from __future__ import annotations

from typing import Any

import pytest
from test_random_programs import random_program

import rasp
from rasp.base.errors import RaspError, RaspTypeError, RaspUnsupportedError, RaspValueError
from rasp.language.graph import expression
from rasp.models.compiler import compile


def refusal(text: str, **options: object) -> RaspUnsupportedError:
    given = {"vocabulary": "ab", "max_length": 6} | options
    with pytest.raises(RaspUnsupportedError) as caught:
        compile(rasp.run(text)["out"], **given, style="compact")
    return caught.value


def test_a_selector_that_looks_ahead_is_refused_in_a_causal_model() -> None:
    error = refusal("out = length;", causal=True)
    assert "after the query" in error.message
    assert error.hint is not None
    assert "select(indices, indices, <=)" in error.hint
    assert error.span is not None


def test_a_selector_that_may_pick_nothing_needs_a_sink() -> None:
    error = refusal("out = aggregate(select(tokens, tokens, <), indices);", sink=False)
    assert "may pick nothing" in error.message
    assert error.hint is not None
    assert "sink=True" in error.hint


def test_select_best_inside_another_selector_is_refused() -> None:
    error = refusal("out = aggregate(not select_best(select_all, score(indices, 1)), indices);")
    assert "select_best" in error.message


def test_every_reason_is_listed() -> None:
    error = refusal(
        """one = aggregate(select(tokens, tokens, ==), indices);
        two = aggregate(select(tokens, tokens, !=), 1);
        out = one + two;""",
        causal=True,
    )
    assert len(error.everything) == 2
    assert {each.span.line for each in error.everything if each.span} == {1, 2}


def test_what_only_follows_from_a_reason_is_not_another() -> None:
    error = refusal(
        """flip = select(indices, length - 1 - indices, ==);
        out = aggregate(flip, tokens);""",
        causal=True,
    )
    (only,) = error.everything
    assert "flip" in only.message


def test_averages_of_very_many_numbers_are_refused_with_their_count() -> None:
    error = refusal("out = aggregate(select(tokens, tokens, ==), indices ^ 5);", max_length=60)
    assert "numbers" in error.message


def test_a_program_that_fails_everywhere_is_refused_with_its_failure() -> None:
    assert "division by zero" in refusal("out = indices / 0;").message


@pytest.mark.parametrize(
    ("given", "part"),
    [("abx", '"x" at position 2'), ("a" * 7, "at most 6"), ("", "empty")],
)
def test_a_compiled_model_refuses_inputs_it_was_not_compiled_for(given: str, part: str) -> None:
    model = compile(rasp.run("out = length;")["out"], vocabulary="ab", max_length=6)
    with pytest.raises(RaspError, match=part):
        model(given)


@pytest.mark.parametrize("given", ["ab", "a§", "§a§"])
def test_a_missing_or_repeated_bos_is_an_error(given: str) -> None:
    model = compile(rasp.run("out = length;")["out"], vocabulary="ab", max_length=6, bos="§")
    with pytest.raises(RaspValueError, match="begin with"):
        model(given)


def test_a_vocabulary_is_of_one_kind() -> None:
    with pytest.raises(RaspTypeError, match="strings or numbers"):
        compile(rasp.run("out = length;")["out"], vocabulary=["a", 1], max_length=3)


def test_only_s_ops_are_compiled() -> None:
    with pytest.raises(RaspUnsupportedError, match="not an s-op"):
        compile(rasp.run("out = select_all;")["out"], vocabulary="a", max_length=3)


@pytest.mark.slow
@pytest.mark.parametrize(("text", "vocabulary", "length"), [
    ("a = 2 ^ (9 * length) * histf(tokens);\nout = aggregate(select(a, a, <), indices);", "ab", 40),
    ("out = aggregate(full_s, tokens) > 10 ^ 6;", [5, 10**6 - 1, 10**6 + 1], 7),  # no margin
    ("out = aggregate(select_all, 27 ^ indices);", "ab", 20),
    ("out = aggregate(select_all, tokens);", [0, 1, 10**9], 20),
    ("late = select(indices, indices, >);\nout = aggregate(late, indices);", "ab", 5),
])  # fmt: skip
@pytest.mark.parametrize("style", ["robust", "compact"])
def test_a_refusal_names_its_place(text: str, vocabulary: object, length: int, style: str) -> None:
    options: dict[str, Any] = {"causal": "late" in text, "style": style}
    with pytest.raises(RaspUnsupportedError) as caught:
        compile(rasp.run(text)["out"], vocabulary=vocabulary, max_length=length, **options)
    for error in caught.value.everything:
        assert error.span is not None
        assert error.span.text in text
        assert error.hint


@pytest.mark.parametrize(
    ("start", "style"),
    [
        (300, "compact"),
        (340, "compact"),
        pytest.param(300, "robust", marks=pytest.mark.slow),
    ],
)
def test_a_refusal_of_a_random_program_names_its_place(start: int, style: str) -> None:
    errors = []
    for seed in range(start, start + 40):
        outputs, vocabulary, options = random_program(seed)
        text = "\n".join(
            f"{name} = {expression(node, {}, depth=1000)};" for name, node in outputs.items()
        )
        try:
            names = rasp.run(text)
            wanted = {each: names[each] for each in outputs}
            compile(wanted, vocabulary=vocabulary, **options, style=style)
        except RaspUnsupportedError as error:
            errors += [(text, each) for each in error.everything]
        except RaspError:
            continue
    assert errors
    for text, error in errors:  # a place in the user's own text, not in the library's
        assert error.span is not None, str(error)
        assert error.span.source.text == text, str(error)
