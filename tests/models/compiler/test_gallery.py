"""The gallery as weights: what compiles agrees with both evaluators, what does not says why.

The whole of it: `python bench/compile.py --gallery`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from gallery_refusals import REFUSED

sys.path.insert(0, str(Path(__file__).parents[3] / "bench"))

from compile_gallery import outcome

import rasp.teaching.gallery

COMPILED = ["reverse", "hist_bos", "double_hist_bos", "dyck1", "shuffle_dyck", "dense_rank",
            "majority", "unique_sorted", "run_length_encoding", "is_anagram",
            "longest_run_token", "equal_abc", "is_number", "common_prefix_length",
            "reverse_each_word", "reverse_prefix", "permutation_sign", "luhn", "rotate_by_first",
            "mirror_first_half", "jaccard", "token_frequency", "long_addition_pure"]  # fmt: skip
"""Some that have been refused at one time or another."""
QUICKLY_REFUSED = [
    "decimal_value", "smallest_period", "suffix_ranks",
    pytest.param("binary_to_decimal", marks=pytest.mark.slow),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPILED)
def test_a_program_compiles_at_its_own_vocabulary(name: str) -> None:
    found = outcome(rasp.programs.entry(name), 20)
    assert found.kind == "compiled", found
    pairs = zip(found.heads_per_layer, found.predicted, strict=True)
    assert all(heads <= predicted for heads, predicted in pairs)


@pytest.mark.parametrize("name", QUICKLY_REFUSED)
def test_a_refusal_says_why_and_what_to_change(name: str) -> None:
    found = outcome(rasp.programs.entry(name), 20)
    assert found.kind == "refused"
    part, _ = REFUSED[name]
    assert part in found.detail
    assert "[None]" not in found.detail


def test_sums_that_move_together_are_taken_apart() -> None:
    found = outcome(rasp.programs.entry("distance_to_x"), 6)
    assert found.kind == "compiled", found


def test_what_is_listed_as_refused_is_in_the_gallery() -> None:
    assert set(REFUSED) <= set(rasp.programs.names())
