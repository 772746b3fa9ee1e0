"""Precisions of a certificate: stated where they are proved, and no answer is wrong in them."""

from __future__ import annotations

import json
from functools import cache
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pytest
from conditions import answers
from conditions import rounded as rounded_by_bits

import rasp
import rasp.teaching.gallery
from rasp.base.atoms import to_python
from rasp.models.certificate import PRECISIONS, Precision
from rasp.models.compiler import Transformer, verify

STATED = {
    "hist": ("abcd", 4, "TF32"),
    "reverse": ("abcd", 8, "TF32"),
    "tomita4": ("01", 8, "TF32"),
    "align_right": ("ab ", 6, "TF32"),
    "backward_fill": ("ab_", 10, "bfloat16"),
    "capitalise_words": ("ab ", 10, "bfloat16"),
    "first_largest": ([1, 2, 3], 5, "bfloat16"),
}
"""The last precision that is proved of each: alphabet, length, precision."""
WRONG = {"inversions": ([0, 1, 2], 10)}
"""Some answer of this is wrong in bfloat16."""


@cache
def compiled(name: str) -> tuple[Transformer, rasp.Handle]:
    alphabet, length, *_ = (STATED | WRONG)[name]
    handle = rasp.programs.load(name)
    return rasp.compile({name: handle}, alphabet=alphabet, max_length=length), handle


def precisions(name: str) -> tuple[str, ...]:
    certificate = compiled(name)[0].certificate
    assert certificate is not None and certificate.robust is not None
    return certificate.robust.precisions


def inputs_of(name: str, count: int) -> list[list[object]]:
    alphabet, length, *_ = (STATED | WRONG)[name]
    chooser = Random(name)
    return [chooser.choices(list(alphabet), k=chooser.choice([length, length - 1, 3]))
            for _ in range(count)]  # fmt: skip


def wrong(name: str, condition: str, count: int = 80) -> list[list[object]]:
    model, handle = compiled(name)
    found = []
    for tokens in inputs_of(name, count):
        ids = model.token_ids(tokens)[None]
        [rows] = answers(model, ids, condition, np.random.default_rng(3)).values()
        if list(map(to_python, rows[0])) != handle(tokens):
            found.append(tokens)
    return found


@pytest.mark.parametrize("name", STATED)
def test_a_precision_is_stated_and_no_answer_is_wrong_in_it(name: str) -> None:
    assert precisions(name)[-1] == STATED[name][2]
    for precision in precisions(name)[1:]:
        assert not wrong(name, precision)


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_in_a_precision_does_not_state_it(name: str) -> None:
    assert wrong(name, "bfloat16", 200)
    assert "bfloat16" not in precisions(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["backward_fill", "capitalise_words", "first_largest"])
def test_torch_in_bfloat16_answers_as_certified(name: str) -> None:
    torch = pytest.importorskip("torch")
    from rasp.models.export import decoded, input_ids, to_torch

    model, handle = compiled(name)
    module = to_torch(model).to(torch.bfloat16)
    for tokens in inputs_of(name, 20):
        logits = module(torch.tensor(input_ids(model, tokens))[None])[0]
        assert decoded(model, logits.detach().float().numpy())[name] == handle(tokens)


def test_verify_compares_the_precisions(tmp_path: Path) -> None:
    compiled("hist")[0].save(tmp_path)
    assert verify(tmp_path).exact
    data = json.loads((tmp_path / "model.json").read_text())
    data["certificate"]["robust"]["precisions"].append("bfloat16")
    (tmp_path / "model.json").write_text(json.dumps(data))
    assert "certificate" in verify(tmp_path).refused


@pytest.mark.parametrize("bits", [8, 11])
def test_numbers_are_rounded_as_the_machine_does(bits: int) -> None:
    rng = np.random.default_rng(bits)
    numbers = (rng.normal(size=2000) * 10.0 ** rng.integers(-6, 6, 2000)).astype(np.float32)
    assert np.array_equal(Precision(bits).rounded(numbers.astype(float)),
                          rounded_by_bits(numbers, bits).astype(float))  # fmt: skip


@pytest.mark.parametrize("name", ["TF32", "bfloat16"])
def test_what_lies_between_two_ends_is_rounded_between_them(name: str) -> None:
    rng = np.random.default_rng(2)
    value = np.round(rng.normal(size=500), 2)
    off = 10.0 ** rng.uniform(-7, -1, 500)
    for precision, other in product(PRECISIONS[name], repeat=2):
        middle, around = precision.ends(value, off)
        for share in (-1.0, -0.5, 0.0, 0.3, 1.0):
            moved = other.rounded(value + share * off)
            assert (np.abs(moved - middle) <= around + 1e-15).all()
    if name == "bfloat16":  # near 1 it is 1 again
        assert precision.ends(np.array([0.0, 1.0]), 1e-5)[1].max() <= 2e-5
