"""Models answer right where exp and division are off by up to 2^-21, in any order of adding."""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from perturbed import MOST, perturbed_answers, perturbed_wrong
from test_random_programs import random_program

sys.path.insert(0, str(Path(__file__).parents[3] / "bench"))

from compile_gallery import vocabulary_of

import rasp
import rasp.teaching.gallery
from rasp.base.errors import RaspUnsupportedError
from rasp.models.compiler import Transformer, compile
from rasp.teaching.gallery.gallery_inputs import BOS

THRICE = "out = histf(histf(histf(tokens)));"
TWICE = """hist = histf(tokens);
first = not has_prev(tokens);
out = selector_width(select(hist, hist, ==) and select(first, True, ==));"""


def compiled(text: str, vocabulary: object, length: int) -> tuple[Transformer, rasp.Handle]:
    handle = rasp.run(text)["out"]
    return compile(
        {"out": handle}, vocabulary=vocabulary, max_length=length, style="compact"
    ), handle


@pytest.mark.slow
def test_counts_of_counts_are_right_on_every_input() -> None:
    model, handle = compiled(THRICE, "abcd", 7)
    ids = np.array(list(product(range(4), repeat=7)))
    rng = np.random.default_rng(0)
    for some in np.array_split(rng.permutation(ids)[:2048], 8):
        assert perturbed_wrong(model, [handle.node], some, rng) == []


@pytest.mark.slow
@pytest.mark.parametrize(("text", "vocabulary", "length", "count"), [
    (THRICE, "abcd", 20, 200),
    (TWICE, "abcd", 60, 40),
    (TWICE, "ab", 100, 8),
    ("out = length / (indices + 1);", "ab", 12, 100),
    ("out = length / (indices + 1);", "ab", 49, 40),
    ('out = count(tokens, "a") * count(tokens, "b");', "abc", 250, 4),
    ('out = aggregate(full_s, indicator(tokens == "a")) > 0.37;', "ab", 150, 20),
])  # fmt: skip
def test_what_broke_when_exp_was_off_by_one_bit(
    text: str, vocabulary: str, length: int, count: int
) -> None:
    model, handle = compiled(text, vocabulary, length)
    rng = np.random.default_rng(0)
    ids = rng.integers(0, len(vocabulary), (count, length))
    assert perturbed_wrong(model, [handle.node], ids, rng) == []


def test_what_float32_cannot_hold_is_refused() -> None:
    with pytest.raises(RaspUnsupportedError, match="cannot be compiled exactly"):
        compiled("out = aggregate(select(indices, indices, <=), tokens_int ^ 9);", "017", 30)


def test_the_machine_is_off_by_as_much_as_it_says() -> None:
    model, _ = compiled("out = histf(tokens);", "ab", 9)
    ids = np.zeros((200, 9), int)
    keep: dict[str, np.ndarray] = {}
    perturbed_answers(model, ids, np.random.default_rng(0), keep)
    (weights,) = keep.values()
    off = np.abs(weights[:, 1:, 1:].astype(float) * np.exp(22) - 1)
    assert MOST < off.max() < 4 * MOST


@pytest.mark.parametrize("name", ["dyck2", "dense_rank", "run_length_encoding", "majority"])
def test_programs_of_the_gallery_are_right(name: str) -> None:
    entry, handle = rasp.programs.entry(name), rasp.programs.load(name)
    bos = BOS if BOS in entry.inputs.before else None
    vocabulary = vocabulary_of(entry, 9)
    model = compile({"out": handle}, vocabulary=vocabulary, max_length=9, bos=bos, style="compact")
    rng = np.random.default_rng(0)
    ids = rng.integers(0, len(vocabulary), (60, 9))
    if bos is not None:
        ids[:, 0] = len(vocabulary)
    assert perturbed_wrong(model, [handle.node], ids, rng) == []


@pytest.mark.slow
@pytest.mark.parametrize("start", [0, 25, 50])
def test_random_programs_are_right(start: int) -> None:
    rng, ran = np.random.default_rng(start), 0
    for seed in range(start, start + 25):
        outputs, vocabulary, options = random_program(seed)
        try:
            model = compile(outputs, vocabulary=vocabulary, **options, style="compact")
        except RaspUnsupportedError:
            continue
        length, size = model.settings.max_length, len(vocabulary)
        ids = rng.integers(0, size, (40, length))
        if model.settings.bos is not None:
            ids[:, 0] = size
        assert perturbed_wrong(model, list(outputs.values()), ids, rng) == []
        ran += 1
    assert ran >= 8
