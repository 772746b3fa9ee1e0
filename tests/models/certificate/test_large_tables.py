"""Small files that speak of large tables: refused before there is room for these."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from forging import ONE, handmade, node_of

from models import outputs_of, verdict
from rasp.language.graph import Elementwise, Indices, Node, in_order
from rasp.models.certificate.claims import (
    ClaimedOutput,
    Claims,
    ConjunctClaim,
    GroupClaim,
    HeadClaim,
    HeadOutputClaim,
    Meaning,
)
from rasp.models.compiler import Transformer

IS_0 = "out = tokens == 0;"


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).integers(1, 1000, shape).astype(float)


def many_atoms() -> Transformer:
    """20,000 tokens, each of which may have any of 5,000 answers."""
    out, count = node_of(IS_0), 5000
    claims = Claims((None, None), {out: (0,)}, {}, (), ((),), ((0,),))
    arrays = {"tokens": numbers(20_000, 2), "positions": np.zeros((1, 2)),
              "output0.weight": numbers(count, 2), "output0.bias": np.zeros(count)}  # fmt: skip
    return handmade(out, claims, arrays, [False, True, *range(2, count)], range(20_000))


def many_units() -> Transformer:
    """Units of which each reads something else of 3,000 tokens; said to be the same always."""
    out, count = node_of(IS_0), 50_000
    claims = Claims((None, None), {out: (0,)}, {}, (), ((GroupClaim(count, ()),),), ((0,),))
    arrays = {
        "tokens": numbers(3000, 2), "positions": np.zeros((1, 2)),
        "layer0.feed_forward.inside": numbers(count, 2) ** 2,
        "layer0.feed_forward.bias": np.ones(count),
        "layer0.feed_forward.out": np.ones((2, count)), "output0.weight": numbers(2, 2),
        "output0.bias": np.zeros(2),
    }  # fmt: skip
    return handmade(out, claims, arrays, (False, True), range(3000))


def many_scores() -> Transformer:
    """A head with 200 columns, for queries that are 500 tokens at 500 indices."""
    out = node_of("out = aggregate(select(0, (tokens + indices) % 2, ==), indices, 0);")
    head = HeadClaim("mean", (ConjunctClaim(out.selector, (0, 1), ()),),
                     (HeadOutputClaim(Indices(), None, 0),), ({0: ONE},), ((1,),))  # fmt: skip
    over: dict[Node, tuple[int, ...]] = {out: (2,)}
    over |= {node: (0, 1) for node in in_order([out]) if isinstance(node, Elementwise)}
    claims = Claims((None, None, ClaimedOutput(1, 0, 0)), over, {out: Meaning("mean", (2,))},
                    ((head,),), ((), ()), ((2,),))  # fmt: skip
    arrays = {
        "tokens": numbers(501, 4), "positions": numbers(500, 4),
        "layer1.head1.query": numbers(200, 4), "layer1.head1.query_bias": np.zeros(200),
        "layer1.head1.key": numbers(200, 4), "layer1.head1.key_bias": np.zeros(200),
        "layer1.head1.value": numbers(1, 4), "layer1.head1.out": numbers(4, 1),
        "output0.weight": numbers(2, 4), "output0.bias": np.zeros(2),
    }  # fmt: skip
    return handmade(out, claims, arrays, (0, 1), range(500))


@pytest.mark.parametrize("make", [many_atoms, many_units, many_scores])
def test_a_large_table_is_refused(make: Callable[[], Transformer]) -> None:
    model = make()
    assert "a table is too large to check" in verdict(model, outputs_of(model)).reason
