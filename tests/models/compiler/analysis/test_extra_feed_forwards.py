"""Feed-forward blocks without heads: allowed by an option, announced, checked, and few."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from test_promises import holds

import rasp
from rasp.base.errors import RaspUnsupportedError
from rasp.language.graph import Const
from rasp.models.certificate.claims import Claims
from rasp.models.compiler import compile, load, verify
from rasp.models.compiler.model.forms import from_data, to_data
from rasp.models.compiler.model.transformer import Transformer

COUNTS = """
few = count(tokens, "a") > count(tokens, "b") * count(tokens, "c");
many = count(tokens, "d") * count(tokens, "e") < count(tokens, "f") + 1;
condition = few and many if indices > 3 else count(tokens, "g") % 3 == 1;
hist = selector_width(select(tokens, tokens, ==));
chosen = hist if condition else length;
words = (tokens if hist > 1 else "-") if condition else (tokens if indices > 1 else "?");
moved = aggregate(select(indices, length - 1 - indices, ==), chosen);
place = aggregate(select(tokens, tokens, ==), indices);
picked = place if condition else length;
either = (tokens if many else tokens) if condition else tokens;
"""


SHARED = """
few = count(tokens, "a") > count(tokens, "b") * count(tokens, "c");
many = count(tokens, "d") * count(tokens, "e") < count(tokens, "f") + 1;
condition = few and many if indices > 3 else count(tokens, "g") % 3 == 1;
hist = selector_width(select(tokens, tokens, ==));
made = count(tokens, "a");
shifted = (hist if condition else made) + 1;
other = (made if made > 0 else length) if many else (hist if made == 0 else 3);
added = shifted + other;
first = (shifted if made > 0 else hist) if few else (made if many else shifted * 2);
words = "x" if other == shifted else (tokens if made > 0 else "-");
"""
"""Choices that have in common what they are made of, and are read together."""


def compiled(name: str, blocks: int, length: int = 8) -> Transformer:
    program = rasp.run(COUNTS)
    return compile(
        program[name], alphabet="abcdefg", max_length=length, extra_feed_forwards=blocks,
        style="compact",
    )  # fmt: skip


def agree(model: Transformer, name: str) -> None:
    chooser, program = random.Random(name), rasp.run(COUNTS)
    for _ in range(100):
        tokens = "".join(chooser.choices("abcdefg", k=chooser.randint(1, 8)))
        assert model(tokens) == program[name](tokens), tokens


@pytest.fixture(scope="module")
def model() -> Transformer:
    return compiled("chosen", 3)


def test_a_choice_by_seven_counts(model: Transformer, tmp_path: Path) -> None:
    assert (model.layers, model.extra_feed_forwards) == (1, 2)
    assert "1 layer, +2 feed-forward blocks, 2 heads" in repr(model)
    assert sum(model.hidden_per_layer[1:]) < 20, "gates, not products"
    agree(model, "chosen")
    model.save(tmp_path)
    assert verify(tmp_path).exact
    assert load(tmp_path).extra_feed_forwards == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["added", "first", "words"])
def test_choices_that_share_what_they_are_made_of(name: str) -> None:
    program, chooser = rasp.run(SHARED), random.Random(name)
    model = compile(
        program[name], alphabet="abcdefg", max_length=6, heads="split", extra_feed_forwards=8,
        style="compact",
    )  # fmt: skip
    assert model.certificate.exact
    for _ in range(300):
        tokens = "".join(chooser.choices("abcdefg", k=chooser.randint(1, 6)))
        assert model(tokens) == program[name](tokens), tokens


@pytest.mark.parametrize("name", ["words", "moved"])
def test_choices_of_strings_and_choices_that_heads_move(name: str) -> None:
    model = compiled(name, 4)
    assert model.extra_feed_forwards
    agree(model, name)


def test_the_refusal_names_the_option() -> None:
    with pytest.raises(RaspUnsupportedError) as caught:
        compiled("chosen", 0)
    assert "extra_feed_forwards" in (caught.value.hint or "")


def test_a_second_choice_of_many_values_is_refused_with_a_reason() -> None:
    program = rasp.run("""
        hist = selector_width(select(tokens, tokens, ==));
        count_a = selector_width(select(tokens, "a", ==));
        near = (indices * 9 + hist) if count_a > 2 else (indices * 9 - hist);
        moved = aggregate(select(indices, indices - 1, ==), near);
        before = aggregate(select(indices, indices - 1, ==), count_a);
        far = (indices * 90 + moved) if before > 2 else (indices * 90 - moved);
        out = aggregate(select(indices, indices - 1, ==), far);
    """)
    with pytest.raises(RaspUnsupportedError, match="depends on one of several s-ops") as caught:
        compile(program["out"], alphabet="ab", max_length=8, style="compact", extra_feed_forwards=1)
    assert "`extra_feed_forwards=2`" in (caught.value.hint or "")


ROBUST = """
three = count(tokens, "a") * 2 > count(tokens, "b") and count(tokens, "c") % 2 == 0;
hist = selector_width(select(tokens, tokens, ==));
chosen = (hist if indices > 1 else indices) if three else length;
"""


def test_a_choice_by_several_counts_in_the_robust_style() -> None:
    handle = rasp.run(ROBUST)["chosen"]
    model = compile(handle, alphabet="abc", max_length=6, style="robust", extra_feed_forwards=4)
    assert model.extra_feed_forwards > 0
    for tokens in ("a", "abca", "abcc", "bbbaac", "cabcab", "aaabbb"):
        assert model(tokens) == handle(tokens)


def test_what_is_not_needed_is_not_spent() -> None:
    for name, tokens in (("hist", "abc"), ("product_so_far", list(range(10)))):
        model = compile(
            rasp.programs.load(name), alphabet=tokens, max_length=6, extra_feed_forwards=9,
            style="compact",
        )  # fmt: skip
        assert model.extra_feed_forwards == 0


def test_what_nobody_reads_yet_waits_for_the_next_layer() -> None:
    text = (
        COUNTS
        + """
    first = aggregate(select(indices, 0, ==), indicator(few));
    late = few and many and first == 0;
    """
    )
    model = compile(rasp.run(text)["late"], alphabet="abcdefg", max_length=6, style="compact")
    assert model.extra_feed_forwards == 0
    assert model("aabf") == rasp.run(text)["late"]("aabf")


@pytest.fixture(scope="module")
def choosing() -> Transformer:
    """A choice of so many values that it is made by gates."""
    return compiled("picked", 3)


def test_claims_about_choices_are_stored(choosing: Transformer) -> None:
    agree(choosing, "picked")
    assert choosing.claims.choices
    assert from_data(Claims, to_data(choosing.claims)) == choosing.claims


def forged(model: Transformer, claims: Claims) -> bool:
    return holds(replace(model, claims=claims), None)


def test_forged_choices_are_refused(choosing: Transformer) -> None:
    model, claims = choosing, choosing.claims
    assert forged(model, claims)
    ((node, (which, leaves)),) = claims.choices.items()
    for choice in (
        (which, leaves[::-1]),
        (which, (leaves[0], leaves[0])),
        (which, (leaves[0],)),
        (Const(0), leaves),
        (leaves[0], leaves),
    ):
        assert not forged(model, replace(claims, choices={node: choice}))
    assert not forged(model, replace(claims, choices={}))


def test_what_a_condition_does_not_change_costs_nothing() -> None:
    model = compiled("either", 1)
    assert sum(model.hidden_per_layer) == 0
    agree(model, "either")


def test_a_condition_that_matters_cannot_be_left_out() -> None:
    program = rasp.run('late = tokens if indices > 1 else "a";')
    model = compile(program["late"], alphabet="abc", max_length=4, style="compact")
    node = program["late"].node
    assert forged(model, model.claims)
    over = {**model.claims.over, node: (0,)}
    assert not forged(model, replace(model.claims, over=over, outputs=((0,),)))
