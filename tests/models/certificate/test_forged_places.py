"""Places below 0, which are the last ones to Python: what goes by two names is there once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from forging import ONE, forged, handmade, is_refused, node_of

from models import Kind, compiled, outputs_of, verdict
from rasp.language.graph import Elementwise, Tokens
from rasp.models.certificate.claims import (
    ClaimedOutput,
    Claims,
    ConjunctClaim,
    GroupClaim,
    HeadClaim,
    HeadOutputClaim,
    Meaning,
    ReaderClaim,
)


def test_an_output_is_not_moved_by_two_names() -> None:
    """Keys send twice the token, which is said to be the one output and the last one."""
    out = node_of("out = aggregate(select(indices, 0, ==), tokens);")
    head = HeadClaim("mean", (ConjunctClaim(out.selector, (), (1,)),), (HeadOutputClaim(Tokens()),),
                     ({0: ONE, -1: ONE},), ((0,),), never_empty=True)  # fmt: skip
    claims = Claims((None, None, ClaimedOutput(1, 0, 0)), {out: (2,)},
                    {out: Meaning("mean", (2,))}, ((head,),), ((), ()), ((2,),))  # fmt: skip
    arrays = {
        "tokens": [[0, 0, 0], [1, 0, 0], [2, 0, 0]], "positions": [[0, 1, 0], [0, 0, 0]],
        "layer1.head1.query_bias": [40], "layer1.head1.key": [[0, 1, 0]],
        "layer1.head1.value": [[2, 0, 0]], "layer1.head1.out": [[0], [0], [1]],
        "output0.weight": [[0, 0, 0], [0, 0, 1], [0, 0, 2]], "output0.bias": [0, -0.5, -2],
    }  # fmt: skip
    is_refused(handmade(out, claims, arrays, (0, 1, 2), (0, 1, 2)), "that it does not have")


def test_a_hidden_unit_is_not_counted_twice() -> None:
    """One unit, less one, and the same again: what it adds was taken for twice as much."""
    out = node_of('out = tokens == "a";')
    one = GroupClaim(1, (0,))
    groups = one, GroupClaim(-1, ()), one
    claims = Claims((None, None), {out: (0,)}, {}, (), (groups,), ((0,),))
    arrays = {
        "tokens": [[1, 0], [0, 0]], "positions": np.zeros((2, 2)),
        "layer0.feed_forward.inside": [[1, 0]], "layer0.feed_forward.bias": [0],
        "layer0.feed_forward.out": [[0], [1]], "output0.weight": [[0, 0], [0, 1]],
        "output0.bias": [0, -1.5],
    }  # fmt: skip
    is_refused(handmade(out, claims, arrays, (False, True)), "more hidden units")


def test_a_dimension_is_not_read_by_two_names() -> None:
    """Added up, as a label says it, a dimension is read twice."""
    out = node_of('out = tokens == "a";')
    light = Elementwise("indicator", (out,))
    claims = Claims((None, None), {light: (0,), out: (0,)}, {}, (), ((),), ((0,),),
                    readers=(ReaderClaim(light, "embedding", {0: 1.0, -1: 1.0}, 0.0),))  # fmt: skip
    arrays = {"tokens": [[1], [0]], "positions": np.zeros((2, 1)),
              "output0.weight": [[0], [1]], "output0.bias": [0, -0.5]}  # fmt: skip
    model = handmade(light, claims, arrays, (0, 1))
    found = verdict(model, outputs_of(model))
    assert found.holds, found.reason
    assert not found.readers


def test_an_output_of_a_head_has_one_name() -> None:
    model = compiled(Kind("out = aggregate(select(indices, 0, ==), tokens);"))
    claims = replace(model.claims, variables=(*model.claims.variables, ClaimedOutput(1, 0, -1)))
    found = verdict(forged(model, claims), outputs_of(model), claims=claims)
    assert "by two names" in found.reason
