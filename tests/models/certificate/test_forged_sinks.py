"""What the sink holds and reads, in claims and weights that make too little of it."""

from __future__ import annotations

import numpy as np
import pytest
from forging import ONE, added_up, forged, node_of

from models import (
    AB,
    Kind,
    compiled,
    outputs_of,
    verdict,
)
from rasp.language.graph import Const
from rasp.models.certificate import Inputs
from rasp.models.certificate.claims import (
    ClaimedOutput,
    Claims,
    HeadClaim,
    HeadOutputClaim,
    Refused,
)
from rasp.models.certificate.program.values import ProvedValues
from rasp.models.certificate.weights.arrays import HeadWeights, read_weights
from rasp.models.certificate.weights.scores import HeadScores
from rasp.models.certificate.weights.sink import Sink, check_sink_units, gets_of_others, pass_sink
from rasp.models.certificate.weights.stream import Stream

IS_A = 'out = tokens == "a";'


def test_a_hidden_unit_must_not_fire_at_the_sink_by_rounding() -> None:
    terms = np.array([2.0**25, *[-1.0] * 60, 36 - 2.0**25])
    assert terms.sum() < 0 < added_up(terms)
    sink = Sink(np.sign(terms), np.zeros(len(terms)))
    with pytest.raises(Refused, match="fires at the sink"):
        check_sink_units(sink, np.abs(terms)[None], np.zeros(1), "")
    check_sink_units(sink, np.abs(terms)[None], np.array([-2000.0]), "")


def test_what_the_sink_reads_is_rounded_too() -> None:
    """As a key, the sink reads 1 on paper, and 0 in float32: then it scores as any key does."""
    model = compiled(Kind('out = aggregate(select(indices, indices - 1, ==), tokens, "?");'))
    other = forged(model, model.claims)

    def wider(name: str, array: np.ndarray) -> np.ndarray:
        if array.ndim == 1:
            return array
        return np.pad(array, ((0, 2), (0, 0)) if name == "out" else ((0, 0), (0, 2)))

    other.weights = weights = other.weights.changed(wider)
    weights.tokens[-1, -2:] = 1
    assert verdict(other, outputs_of(other)).holds
    key = weights.heads[0][0].key
    row = int(np.flatnonzero(key @ weights.tokens[-1])[-1])
    assert 0 < np.abs(key[row] @ weights.tokens[-1]) < 1000
    key[row, -2:] = 2.0**40, -(2.0**40)
    assert added_up(np.array([key[row, 0], *key[row, -2:]])) == 0
    assert not verdict(other, outputs_of(other)).holds


def test_a_sink_that_is_off_may_not_score_itself_highest() -> None:
    model = compiled(Kind('out = aggregate(select(indices, indices - 1, ==), tokens, "?");'))
    weights = read_weights(model.weights.arrays(), [1], 1)
    settings, outputs = model.settings, outputs_of(model)
    values = ProvedValues(
        model.claims, Inputs(settings.vocabulary, settings.max_length), [*outputs.values()]
    )
    stream = Stream(values, weights.tokens[:-1], weights.positions)
    head = weights.heads[0][0]
    head.key[2, 4] = 1  # which only keys read, and nothing has written yet
    assert not head.query[:, 4].any() and not stream.size[4]
    sink = Sink(weights.tokens[-1], np.zeros(len(stream.error)))
    pass_sink(stream, sink, [head])
    assert sink.error.max() < 1e-9
    sink.error[4] = 1e6
    pass_sink(stream, sink, [head])
    assert sink.error[4] > 1e7


def test_the_score_of_a_sink_that_is_off_is_rounded() -> None:
    """4097 · 4095 is a number of float32; where the sink holds a little more, it is rounded."""
    out = node_of(IS_A)
    head = HeadClaim("mean", (), (HeadOutputClaim(Const(0)),), ({0: ONE},), ((),), never_empty=True)
    claims = Claims((None, None, ClaimedOutput(1, 0, 0)), {out: (0,)}, {}, ((head,),),
                    ((), ()), ((0,),))  # fmt: skip
    values = ProvedValues(claims, Inputs(AB, 1), [out])
    stream = Stream(values, np.zeros((2, 1)), np.zeros((1, 1)))
    none = np.zeros((1, 1))
    arrays = HeadWeights(none, np.array([4097.0]), none, np.zeros(1), none, np.zeros(1), none)
    held, off = 4095.0, 2.0**-9
    scores = HeadScores(stream, head, arrays).scores(np.array([held]), np.array([off]))
    wrong = float(np.float32(4097) * np.float32(held + off)) - 4097 * held
    assert 4097 * off < wrong <= scores.sink_error


def test_what_a_sink_that_is_off_asks_for_is_rounded() -> None:
    """The sink asks 0 or 1 in many columns, in which keys send what comes to nearly as much as its
    own score; in float32, more.
    """
    out, count, own = node_of(IS_A), 40, 2.0**25 + 1000
    values = ProvedValues(Claims((None, None), {out: (0,)}, {}, (), ((),), ((0,),)),
                          Inputs(AB, 1), [out])  # fmt: skip
    stream = Stream(values, np.array([[0, 0, 1.0], [0, 0, 1]]), np.zeros((1, 3)))
    sink = Sink(np.array([1.0, 0, 0]), np.array([0, 1.0, 0]))
    sent = np.full(count, 2 + 2.0**-10)
    sent[0] = own - 60 - sent[1:].sum()
    query, key = np.zeros((2, count + 1, 3))
    query[0, 0], query[1:, 1], key[0, 0], key[1:, 2] = own, 1, 1, sent
    none = np.zeros(count + 1)
    head = HeadWeights(query, none, key, none, np.eye(3)[[2]], np.zeros(1), np.zeros((3, 1)))
    assert sent.sum() < own - 50
    assert added_up(sent) > own
    assert gets_of_others(stream, sink, head) >= 0.5


def test_what_a_sink_gets_of_others_is_rounded() -> None:
    """Of each of 256 keys, it gets a little more than half of the last bit of 1, its own value."""
    out, length, above = node_of(IS_A), 256, 30.0
    values = ProvedValues(Claims((None, None), {out: (0,)}, {}, (), ((),), ((0,),)),
                          Inputs(AB, length), [out])  # fmt: skip
    stream = Stream(values, np.array([[0, 1.0, 0], [0, 1, 0]]), np.zeros((length, 3)))
    sink = Sink(np.array([1.0, 0, 0]), np.zeros(3))
    little, none = 1.02 * 2.0**-24, np.zeros(1)
    value = np.array([[1, little * np.exp(above), 0]])
    head = HeadWeights(np.array([[above, 0, 0]]), none, np.array([[1.0, 0, 0]]), none, value, none,
                       np.eye(3)[:, [2]])  # fmt: skip
    pass_sink(stream, sink, [head])
    assert sink.row[2] + sink.error[2] >= added_up(np.array([1.0, *[little] * length]))
