"""Decoding gives what evaluating from scratch gives, to the last atom and the last word."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from random_generations import GrowingTokens, disagreement, transcript

import rasp.teaching.gallery
from rasp.base.atoms import Atom
from rasp.base.errors import RaspError
from rasp.base.limits import DEFAULT_LIMITS, Limits
from rasp.insight.generation.decoding.plan import DecodingPlan, settled_nodes
from rasp.insight.generation.decoding.tables import Memo
from rasp.insight.generation.decoding.together import Decoder
from rasp.insight.generation.growing import Question, decoder_of, next_values
from rasp.language.embedding.namespace import run
from rasp.language.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Select,
    SOp,
    Tokens,
    in_order,
)
from rasp.teaching.gallery.gallery_check import random_inputs


def node_of(text: str) -> SOp:
    node = run(f"next = {text};")["next"].node
    assert isinstance(node, SOp)
    return node


def values_together(decoder: Decoder, inputs: Sequence[tuple[Atom, ...]]) -> list[Atom | None]:
    """The next value of each input; None where it is in doubt."""
    rows = [GrowingTokens(tokens) for tokens in inputs]
    found = decoder.together(rows).values(rows, -1)
    return [found.get(row) for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1, 241, 20))
def test_random_programs_agree_step_by_step(first: int) -> None:
    found = [disagreement(seed) for seed in range(first, first + 20)]
    assert not any(found), next(filter(None, found))


@pytest.mark.parametrize("first", range(0, len(rasp.programs.names()), 40))
def test_the_gallery_agrees_step_by_step(first: int) -> None:
    for name in rasp.programs.names()[first : first + 40 : 4]:
        node = rasp.programs.load(name).node
        if not isinstance(node, SOp):
            continue
        inputs = [
            tuple(given) for given in random_inputs(rasp.programs.entry(name), count=3, longest=9)
        ]
        question = Question(node)
        decoder = decoder_of(question)
        assert decoder is not None
        decoded = transcript(question, inputs, decoder)
        assert decoded == transcript(question, inputs), name


def test_a_batch_that_is_too_large_is_cut_into_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rasp.insight.generation.decoding.together.MOST_CELLS", 40)
    question = Question(node_of("tokens if has_prev(tokens) else length"))
    inputs = [("a", "b", "a"), ("a",), ("c", "c", "a", "b"), ("x", "y")]
    decoder = decoder_of(question)
    assert decoder is not None
    decoded = transcript(question, inputs, decoder)
    assert decoded == transcript(question, inputs)


def test_an_input_over_the_longest_is_left_to_the_other_evaluators(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rasp.insight.generation.decoding.rows.LONGEST", 4)
    question = Question(node_of("length"))
    decoder = decoder_of(question)
    assert decoder is not None
    inputs = [("a", "b", "c")]
    assert transcript(question, inputs, decoder) == [[(int, length) for length in range(3, 8)]]


def test_inputs_are_left_to_the_others_where_cells_of_pairs_would_cost_more() -> None:
    everywhere = node_of("aggregate(select(indices, length - 1 - indices, ==), tokens)")
    causal = node_of(
        "aggregate(select(tokens, tokens, ==) and select(indices, indices, <=), indices)"
    )
    assert 100 < DecodingPlan(everywhere).longest < 1000
    assert DecodingPlan(causal).longest > 4000
    decoder = Decoder(everywhere, DEFAULT_LIMITS)
    assert values_together(decoder, [("a",) * 1001]) == [None]


def test_inputs_that_outgrow_a_budget_fail_as_they_do_from_scratch() -> None:
    for limits in (Limits(input_length=5), Limits(string_length=2)):
        question = Question(node_of("length * 50"), limits=limits)
        inputs = [("a", "b", "c"), ("x",)]
        decoder = decoder_of(question)
        assert decoder is not None
        decoded = transcript(question, inputs, decoder)
        assert decoded == transcript(question, inputs)
        assert any(told[-1][0] == "limit" for told in decoded)


def test_a_program_that_makes_long_strings_is_left_to_the_plain_evaluator() -> None:
    for text in ("tokens + tokens", 'tokens == "a" * 2000', 'tokens + "b" * 999'):
        question = Question(node_of(text))
        inputs = [("a", "b"), ("a" * 300,), ("c" * 1001,)]
        decoder = decoder_of(question)
        if decoder is not None:
            decoded = transcript(question, inputs, decoder)
            assert decoded == transcript(question, inputs)


def test_what_was_learnt_is_forgotten_where_it_has_become_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decoder = Decoder(node_of("tokens + tokens"), DEFAULT_LIMITS)
    values_together(decoder, [("a", "b")])
    first = decoder.machine
    decoder.together([])
    assert decoder.machine is first
    monkeypatch.setattr("rasp.insight.generation.decoding.together.MOST_LEARNT", 2)
    assert values_together(decoder, [("c", "d")]) == ["dd"]
    assert decoder.machine is not first


def test_a_step_keeps_to_the_time_it_has() -> None:
    question = Question(node_of("tokens + tokens"), limits=Limits(seconds=1e-9))
    decoder = decoder_of(question)
    assert decoder is not None
    rows = [GrowingTokens(("a",)), GrowingTokens(("b",))]
    errors = next_values(rows, question, decoder.together(rows))
    assert [error.kind for error in errors if isinstance(error, RaspError)] == ["limit"] * 2
    assert errors[0] is not errors[1]


def test_a_value_inside_a_table_that_is_a_string_here_and_a_number_there_is_noticed() -> None:
    mixed = Elementwise("if", (Elementwise("==", (Tokens(), Const("a"))), Const("x"), Const(1)))
    decoder = Decoder(Elementwise("==", (mixed, Const(1))), DEFAULT_LIMITS)
    inputs = [("b", "b"), ("a", "b"), ("a", "a")]
    assert values_together(decoder, inputs) == [True, None, False]
    assert mixed in decoder.machine.plan.separate


def test_a_causal_program_is_computed_at_the_newest_position_only() -> None:
    earlier = Select(Indices(), Indices(), "<")
    last_seen = Aggregate(earlier, Elementwise("==", (Tokens(), Const("a"))))
    length = Aggregate(Select(Const(1), Const(1), "=="), Indices())
    assert last_seen in DecodingPlan(last_seen).growing
    assert length not in DecodingPlan(length).growing


@pytest.mark.parametrize(
    ("keys", "queries", "op", "expected"),
    [
        ("indices", "indices", "<=", True),
        ("indices", "indices", ">=", False),
        ("indices + 1", "indices", "==", True),
        ("indices", "indices + 1", "==", False),
        ("indices", "indices + 1", "<", True),
        ("indices", "indices + 1", "<=", False),
        ("1 + indices", "indices - 2", "<=", True),
        ("indices", "0", "==", True),
        ("indices", "1", "==", False),
        ("tokens", "tokens", "==", False),
        ("indices", "indices", ">) and select(indices, indices, <", True),
    ],
)
def test_what_a_selector_that_looks_back_gives_is_settled(
    keys: str, queries: str, op: str, expected: bool
) -> None:
    selector = run(f"s = select({keys}, {queries}, {op});")["s"].node
    mean = Aggregate(selector, Indices())
    assert (mean in settled_nodes(in_order([mean]))) is expected


def test_a_memo_computes_each_key_once_whichever_way_it_looks() -> None:
    import numpy as np

    asked: list[int] = []
    memo = Memo(lambda key: asked.append(key) or key + 1)  # type: ignore[func-returns-value]
    for keys in ([3, 1], list(range(20)), list(range(30))):
        assert memo.look_up(np.array([keys])).tolist() == [[key + 1 for key in keys]]
    assert sorted(asked) == list(range(30))


def test_a_program_that_holds_more_than_a_table_has_room_for_is_left_to_the_others() -> None:
    every = ", ".join(f"tokens == '{letter}'" for letter in "abcdefghijklmnopqrstuvw")
    question = Question(node_of(f"[{every}][indices % 23]"))
    inputs = [tuple("abcdefghijklmnopqrstuvwxyz")]
    decoder = decoder_of(question)
    assert decoder is not None and values_together(decoder, inputs) == [None]
    decoded = transcript(question, inputs, decoder)
    assert decoded == transcript(question, inputs)
