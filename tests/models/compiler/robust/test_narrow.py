"""Blocks in fewer dimensions than states: what is read of them stays what it was."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import rasp
from rasp.models.compiler.emitting.rows import Row
from rasp.models.compiler.robust.codings import BlockCode, coded, nearest_rows


@pytest.mark.parametrize(
    ("read", "is_told", "dims"),
    [
        ([[0, 1, 2, 3, 4, 5]], False, 1),  # a number
        ([[0, 0, 1, 1, 0, 0]], False, 1),  # a flag
        ([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], False, 4),  # all states
        ([[1, 0, 0, 0, 0], [0, 1, 0, 0, 0]], False, 3),  # three classes, one of them hot
        ([[0.0] * 27], True, 5),  # what a read-out alone tells apart: bits
        ([[0, 1, 2, 3, 4, 5, 6, 7]], True, 4),  # a number, and bits beside it
    ],
)
def test_a_code_says_all_that_is_read(
    read: list[list[float]], is_told: bool, dims: int
) -> None:  # fmt: skip
    rows, states = np.array(read, float), list(range(len(read[0])))
    found = coded(rows, is_told)
    codes, is_hot = (np.eye(len(states)), True) if found is None else found
    assert codes.shape == (len(states), dims)
    coding = BlockCode(codes, list(range(100, 100 + dims)), is_hot)
    for numbers in rows:
        row = coding.recoded(Row(dict(zip(states, numbers, strict=True)), 0.5), states)
        for state, wanted in enumerate(numbers):
            held = dict(zip(coding.dims, codes[state], strict=True))
            told = row.constant + sum(weight * held[dim] for dim, weight in row.weights.items())
            assert told == pytest.approx(wanted + 0.5)
    if is_told:
        weights, constants = nearest_rows(codes)
        scores = codes @ weights.T + constants
        lead = scores.diagonal()[:, None] - scores + 9.0 * np.eye(len(states))
        assert lead.min() >= 1 - 1e-9


def test_a_block_that_does_not_hold_something_says_so() -> None:
    coding = BlockCode(np.array([[0.0], [1.0], [1.0]]), [7], False)
    with pytest.raises(LookupError):
        coding.recoded(Row({0: 1.0, 1: 2.0, 2: 3.0}), [0, 1, 2])


@pytest.mark.parametrize(
    "text",
    [
        'out = aggregate(select(indices, indices - 1, ==), tokens, "-");',  # ==, by bits
        "out = selector_width(select(tokens, tokens, ==)) > 2;",
        'out = aggregate(select_best(select(tokens, "a", ==), score(indices, 1)), indices, -1);',
        "out = 1 if tokens == 'a' else 2 if indices > 2 else 3;".replace("'", '"'),
    ],
)
def test_a_narrow_model_is_certified_and_right_on_every_input(text: str) -> None:
    handle = rasp.run(text)["out"]
    model = rasp.compile(handle, alphabet="abcde", max_length=5, style="robust")
    assert model.certificate is not None and model.certificate.trust == "proved"
    assert model.d_model < 5 + 5 + len(model.readouts[0].atoms) + 4
    for length in (1, 2, 3, 4):
        for tokens in map("".join, product("abcde", repeat=length)):
            assert model(tokens) == handle(tokens), tokens


@pytest.mark.parametrize("text", ["(indices + tokens[0]) % length", "(tokens[0] + tokens[1]) % 7"])
def test_a_sum_of_blocks_is_one_number(text: str) -> None:
    handle = rasp.run(f"out = {text};")["out"]
    model = rasp.compile(handle, alphabet="0..20", max_length=4, style="robust")
    for tokens in ([3, 5, 20, 0], [20, 20], [0, 1, 2]):
        assert model(tokens) == handle(tokens)
    assert sum(model.hidden_per_layer) < 21 * 21
