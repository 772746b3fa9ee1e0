"""Heads that are not quite what is said of them: each model answers wrong, and is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from forging import ONE, added_up, handmade, is_refused, node_of, over_tokens
from test_forged_statements import largest_gradient

from models import Kind, compiled, expected_of, mistakes_in, outputs_of, verdict
from rasp.language.graph import Aggregate, Const, Elementwise, Select, Tokens
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


def one_value_and_several_counts() -> Transformer:
    """All keys that are picked hold 1, but send their places in the vocabulary, 1 and 2, of which
    one weighs three times as much: 1.25, where only 1, 1.5 and 2 are looked at.
    """
    value = node_of('out = indicator(tokens != "a");')
    mean = Aggregate(Select(value, value, "=="), value, 0)
    out = Elementwise(">", (mean, Const(0)))
    same = ConjunctClaim(mean.selector, (0,), (0,))
    head = HeadClaim("mean", (same,), (HeadOutputClaim(value, carrier=0),), ({0: ONE},), ((0,),),
                     never_empty=True)  # fmt: skip
    claims = Claims(
        (None, None, ClaimedOutput(1, 0, 0)), {out: (2,), **over_tokens(value)},
        {mean: Meaning("positive", (2,))}, ((head,),), ((), (GroupClaim(3, (2,)),)), ((2,),),
    )  # fmt: skip
    arrays = {
        "tokens": [[0, 0, 0, 0, 0], [1, 1, 0, 0, np.log(3)], [1, 2, 0, 0, 0]],
        "positions": np.zeros((2, 5)), "layer1.head1.query": [[80, 0, 0, 0, 0], [0] * 5],
        "layer1.head1.query_bias": [-40, 1],
        "layer1.head1.key": [[1, 0, 0, 0, 0], [0, 0, 0, 0, 1]], "layer1.head1.key_bias": [0, 0],
        "layer1.head1.value": [[0, 1, 0, 0, 0]], "layer1.head1.out": [[0], [0], [1], [0], [0]],
        "layer1.feed_forward.inside": [[0, 0, 1, 0, 0]] * 3,
        "layer1.feed_forward.bias": [-1.1, -1.25, -1.4],
        "layer1.feed_forward.out": [[0] * 3, [0] * 3, [0] * 3, [20, -40, 20], [0] * 3],
        "output0.weight": [[0] * 5, [0, 0, 2, -3, 0]], "output0.bias": [0, -0.5],
    }  # fmt: skip
    return handmade(out, claims, arrays, (False, True), ("a", "b", "c"))


def a_later_key_in_place_of_a_sink() -> Transformer:
    """There is a "b" somewhere, which stands in for a sink: the first position does not see it."""
    text = """promise = count(tokens, "b") >= 1;
              out = aggregate(select(tokens, "b", ==) and select(indices, 0, ==), indices == 0,
                              False);"""
    model = compiled(Kind(text, "ab", 3, {"causal": True}))
    claims = replace(model.claims, readers=())
    arrays = {
        "tokens": [[0, 0, 0], [1, 0, 0]], "positions": [[0, 1, 0], [0, 0, 0], [0, 0, 0]],
        "layer1.head1.query": np.zeros((2, 3)), "layer1.head1.query_bias": [100, 50],
        "layer1.head1.key": [[1, 0, 0], [0, 1, 0]], "layer1.head1.key_bias": [0, 0],
        "layer1.head1.value": [[0, 1, 0]], "layer1.head1.out": [[0], [0], [1]],
        "output0.weight": [[0, 0, 0], [0, 0, 1]], "output0.bias": [0, -0.5],
    }  # fmt: skip
    settings = replace(model.settings, sink=False)
    other = handmade(outputs_of(model)["out"], claims, arrays, (False, True), where=settings.where)
    other.settings = settings
    return other


def a_light_position_that_is_all_there_is() -> Transformer:
    """Position 0 weighs e^-20 of a match: where it alone matches, others weigh more, with e^-18."""
    out = node_of('out = tokens == "a";')
    first = node_of("out = indicator(indices == 0);")
    same = ConjunctClaim(Select(Tokens(), Tokens(), "=="), (0,), (0,))
    head = HeadClaim("share", (same,), (HeadOutputClaim(first),), ({0: ONE},), ((1,),),
                     never_empty=True, weight=Fraction(float(np.exp(-20))))  # fmt: skip
    claims = Claims(
        (None, None, ClaimedOutput(1, 0, 0)), {out: (0,), first: (1,), first.operands[0]: (1,)},
        {}, ((head,),), ((), (GroupClaim(3, (2,)),)), ((0, 2),),
    )  # fmt: skip
    arrays = {
        "tokens": [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0]], "positions": [[0, 0, 1, 0, 0], [0] * 5],
        "layer1.head1.query": [[18, 0, 0, 0, 0], [0, 18, 0, 0, 0], [0] * 5],
        "layer1.head1.query_bias": [0, 0, 1],
        "layer1.head1.key": [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, -20, 0, 0]],
        "layer1.head1.key_bias": [0, 0, 0], "layer1.head1.value": [[0, 0, 1, 0, 0]],
        "layer1.head1.out": [[0], [0], [0], [1], [0]],
        "layer1.feed_forward.inside": [[0, 0, 0, 1, 0]] * 3,
        "layer1.feed_forward.bias": [-0.02, -0.12, -0.22],
        "layer1.feed_forward.out": [*[[0] * 3] * 4, [20, -40, 20]],
        "output0.weight": [[0] * 5, [2, 0, 0, 0, -3]], "output0.bias": [0, -1],
    }  # fmt: skip
    return handmade(out, claims, arrays, (False, True))


def a_sink_that_sees_keys() -> Transformer:
    """The sink asks for 100 of each key, and for 40 of itself; but 100 beside 2^60, which the index
    takes away again, is 0 to float64. The second head sends what the sink got of the first.
    """
    out, far = node_of('out = tokens == "a";'), 2.0**60
    nothing = ConjunctClaim(Select(Const(0), Const(1), "=="), (), ())
    first = HeadClaim(
        "mean", (), (HeadOutputClaim(Const(1)),), ({0: ONE},), ((),), never_empty=True
    )
    second = HeadClaim(
        "mean", (nothing,), (HeadOutputClaim(Const(0), None, 0),), ({0: ONE},), ((),)
    )
    claims = Claims((None, None, ClaimedOutput(1, 0, 0), ClaimedOutput(2, 0, 0)), {out: (0,)},
                    {}, ((first,), (second,)), ((), (), ()), ((0,),))  # fmt: skip
    arrays = {
        "tokens": [[1, far, 1, 0, 0, 0], [0, far, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0]],
        "positions": [[0, -far, 0, 0, 0, 0]] * 2,
        "layer1.head1.query": [[0, 0, 0, 1, 0, 0], [0] * 6], "layer1.head1.query_bias": [0, -40],
        "layer1.head1.key": [[0, 1, 100, 80, 0, 0], [0, 0, 0, 1, 0, 0]],
        "layer1.head1.key_bias": [0, 0], "layer1.head1.value": [[0, 0, 1, 0, 0, 0]],
        "layer1.head1.out": np.eye(6)[:, [4]], "layer2.head1.query_bias": [40],
        "layer2.head1.key": [[0, 0, 0, 1, 0, 0]], "layer2.head1.value": [[0, 0, -1, 0, 1, 0]],
        "layer2.head1.out": np.eye(6)[:, [5]],
        "output0.weight": [[0] * 6, [10, 0, 0, 0, 0, -20]], "output0.bias": [0, -5],
    }  # fmt: skip
    return handmade(out, claims, arrays, (False, True))


FORGERIES = {
    one_value_and_several_counts: "no margin is left",
    a_later_key_in_place_of_a_sink: "a head needs a sink, and there is none",
    a_light_position_that_is_all_there_is: "no margin is left",
    a_sink_that_sees_keys: "no margin is left",
}


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_a_forgery_is_refused(forge: Callable[[], Transformer]) -> None:
    is_refused(forge(), FORGERIES[forge])


def a_sum_that_doubles(powers: int = 23) -> list[tuple[float, float]]:
    """Numbers 1 + t and whole ones. Before each power of two, adding 1 and a little more than half
    of the last bit makes a whole last bit, which is half of one beyond: the little doubles.
    """
    found, total = [(1.0, 0.0)], 1
    for power in range(1, powers + 1):
        between = 2**power - 1 - total
        found += [(0.0, float(between)), (1.0, 0.0)] if between else [(1.0, 0.0)]
        total = 2**power
    apart = [(0.0, 0.0)] * 15  # so that a processor that adds in turns adds these in this order
    return [pair for one in found for pair in (one, *apart)]


def test_a_sink_that_is_off_in_the_last_bit_may_be_off_by_one() -> None:
    model = compiled(Kind("out = length;", "ab", 2))
    known = model.claims
    first = HeadClaim(
        "mean", (), (HeadOutputClaim(Const(1)),), ({0: ONE},), ((),), never_empty=True
    )
    variables = (None, None, ClaimedOutput(2, 0, 0), ClaimedOutput(1, 0, 0))
    claims = replace(known, variables=variables, heads=((first,), *known.heads),
                     groups=((), (), ()), readers=())  # fmt: skip
    summed, down, away = a_sum_that_doubles(), 22.0, 16.9
    key = np.zeros((len(summed) + 1, 4))
    key[:-1, 1], key[:-1, 0] = np.array(summed).T
    key[-1, 2] = np.array(summed).sum() - down
    arrays = {
        "tokens": [[0, -1, 1, 0], [0, -1, 1, 0], [1, 1, 0, 0]], "positions": np.zeros((2, 4)),
        "layer1.head1.query": [[away + 40, 0, 0, 0]], "layer1.head1.query_bias": [-40],
        "layer1.head1.key": [[1, 0, 0, 0]], "layer1.head1.value": [[0, 0, 1, 0]],
        "layer1.head1.out": [[0], [1], [0], [0]],
        "layer2.head1.query": np.zeros(key.shape), "layer2.head1.query_bias": np.ones(len(key)),
        "layer2.head1.key": key, "layer2.head1.key_bias": np.zeros(len(key)),
        "layer2.head1.value": [[0, 0, 1, 0]], "layer2.head1.out": [[0], [0], [0], [np.exp(down)]],
        "output0.weight": [[0, 0, 0, 0], [0, 0, 0, 1]], "output0.bias": [0, -1.5],
    }  # fmt: skip
    other = handmade(outputs_of(model)["out"], claims, arrays, (1, 2))
    total = np.float32(0)
    for sure, whole in summed:
        total = np.float32(total + np.float32(sure * (1 + 2.0**-23) + whole))
    assert total == np.array(summed).sum() + 1
    assert not verdict(other, outputs_of(other)).holds
    other.weights.heads[1][0].key[:-1] = 0  # the same without such sums
    other.weights.heads[1][0].key[0, 0] = np.array(summed).sum()
    assert not mistakes_in(other, expected_of(other, outputs_of(other)))
    assert verdict(other, outputs_of(other)).holds


def a_sink_that_asks_for_much() -> Transformer:
    """Next to nothing of the sink's attention is for others, but that changes fast with them."""
    out = node_of('out = tokens == "a";')
    nothing = ConjunctClaim(Select(Const(0), Const(1), "=="), (), ())
    first = HeadClaim(
        "mean", (), (HeadOutputClaim(Const(1)),), ({0: ONE},), ((),), never_empty=True
    )
    second = HeadClaim(
        "mean", (nothing,), (HeadOutputClaim(Const(0), None, 0),), ({0: ONE},), ((),)
    )
    claims = Claims((None, None, ClaimedOutput(1, 0, 0), ClaimedOutput(2, 0, 0)), {out: (0,)},
                    {}, ((first,), (second,)), ((), (), ()), ((0,),))  # fmt: skip
    arrays = {
        "tokens": [[1, 1, 0, -1, 0], [0, 1, 0, -1, 0], [0, 0, 1000, 0, 0]],
        "positions": np.zeros((2, 5)), "layer1.head1.query": [[0, 0, 10, 0, 0], [0] * 5],
        "layer1.head1.query_bias": [0, -40],
        "layer1.head1.key": [[0, 1, 1.0043e-3, 0, 0], [0, 0, 1e-3, 0, 0]],
        "layer1.head1.key_bias": [0, 0], "layer1.head1.value": [[0, 1, 0, 0, 0]],
        "layer1.head1.out": [[0], [0], [0], [1], [0]], "layer2.head1.query_bias": [40],
        "layer2.head1.key": [[0, 0, 1e-3, 0, 0]], "layer2.head1.value": [[0, 0, 0, 1, 0]],
        "layer2.head1.out": [[0], [0], [0], [0], [1]],
        "output0.weight": [[0] * 5, [10, 0, 0, 0, 1]], "output0.bias": [0, -5],
    }  # fmt: skip
    return handmade(out, claims, arrays, (False, True))


def test_the_sink_has_a_gradient_too() -> None:
    model = a_sink_that_asks_for_much()
    found = verdict(model, outputs_of(model))
    assert found.holds, found.reason
    assert largest_gradient(model) <= found.gradient


def keys_that_hidden_units_move() -> Transformer:
    """Keys are off by the index, and so are scores: by half of what picks score above all else.

    They are off in a hundred columns, of which every pair of tokens reads a quarter. Some of these
    numbers are rounded up beside the largest of them, or down beside that and what is picked.
    """
    out, count, far = node_of("out = aggregate(select(tokens, tokens, ==), tokens);"), 100, 2.0**28
    head = HeadClaim(
        "mean", (ConjunctClaim(out.selector, (0,), (0,)),), (HeadOutputClaim(out.values),),
        ({0: ONE},), ((0,),), never_empty=True,
    )  # fmt: skip
    claims = Claims((None, None, ClaimedOutput(1, 0, 0)), {out: (2,)}, {out: Meaning("mean", (2,))},
                    ((head,),), ((GroupClaim(1, (1,), ()),), ()), ((2,),))  # fmt: skip
    moved = np.full(count, 8 + 2.0**-8)
    moved[0] = far / 2 + 15500 - moved.sum()
    key = np.zeros((4 + count, 7))
    key[:4, :4], key[4:, 5] = (far + 32000) * np.eye(4), moved
    key[4 + np.arange(count), np.arange(count) % 4] = 2.0**-10
    query = np.eye(4 + count, 7)
    query[4:] = np.eye(7)[0]
    arrays = {
        "tokens": np.eye(4, 7), "positions": [[0, 0, 0, 0, 0, -1, 0], [0, 0, 0, 0, 1, -1, 0]],
        "layer0.feed_forward.inside": np.eye(7)[[4]], "layer0.feed_forward.bias": [0],
        "layer0.feed_forward.out": 2 * np.eye(7)[:, [5]],
        "layer1.head1.query": query, "layer1.head1.query_bias": np.zeros(len(key)),
        "layer1.head1.key": key, "layer1.head1.key_bias": np.zeros(len(key)),
        "layer1.head1.value": [[1, 2, 3, 4, 0, 0, 0]], "layer1.head1.out": np.eye(7)[:, [6]],
        "output0.weight": [[0] * 6 + [2 * token] for token in (1, 2, 3, 4)],
        "output0.bias": [-token * token for token in (1, 2, 3, 4)],
    }  # fmt: skip
    tokens = (1, 2, 3, 4)
    return handmade(out, claims, arrays, tuple(map(Fraction, tokens)), tokens)


def test_scores_that_are_off_are_rounded_as_what_they_are() -> None:
    """The query 1 at index 0, with itself and with the key 2 at index 1, which must not win."""
    model = keys_that_hidden_units_move()
    head = model.weights.heads[0][0]
    asked = head.query[:, 0]
    itself, other = head.key[:, 0] - head.key[:, 5], head.key[:, 1] + head.key[:, 5]
    assert asked @ itself > asked @ other + 900
    assert added_up(asked * itself) < added_up(asked * other)
    found = verdict(model, outputs_of(model))
    assert not found.holds, found.blocks
