"""What else is said of a model (readers, labels, gradients, noise): claims that are not true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from forging import ONE, added_up, forged, handmade, node_of

from models import (
    AB,
    Kind,
    all_inputs,
    compiled,
    outputs_of,
    verdict,
)
from rasp.language.graph import Aggregate, Const, Elementwise, Indices, Select, Tokens
from rasp.models.certificate import Inputs, check
from rasp.models.certificate import Readout as CheckedReadout
from rasp.models.certificate.claims import (
    TOKEN,
    ClaimedNode,
    ClaimedOutput,
    ClaimedSum,
    Claims,
    ConjunctClaim,
    GroupClaim,
    HeadClaim,
    HeadOutputClaim,
    Meaning,
    ReaderClaim,
    SumPart,
)
from rasp.models.certificate.weights.precision import PRECISIONS
from rasp.models.compiler import Transformer
from rasp.models.compiler.model.certificate import proved
from rasp.models.compiler.model.forward import attend, feed_forward

IS_A = 'out = tokens == "a";'


def test_a_program_that_fails_on_one_token_of_many_is_not_called_total() -> None:
    """The forged claim says that the output is a function of what is 1 for every token but one."""
    model = compiled(Kind("out = tokens / tokens;", list(range(50)), 1))
    outputs = outputs_of(model)
    known = model.claims.variables
    some = ClaimedSum(Fraction(0), {SumPart(TOKEN, 2): ONE})
    claims = replace(
        model.claims, variables=(*known, some), outputs=((len(known),),),
        over={**model.claims.over, outputs["out"]: (len(known),)},
    )  # fmt: skip
    found = verdict(model, outputs, claims=claims)
    assert found.holds
    assert not found.total


def test_a_quotient_is_not_told_by_what_is_made_of_it() -> None:
    """Where that has no value, nobody would look at the quotient, and see that it fails."""
    model = compiled(Kind("out = 1 / tokens + 1;", [0, 1, 2], 2))
    outputs = outputs_of(model)
    (quotient, _) = outputs["out"].needs
    known = model.claims.variables
    claims = replace(
        model.claims, variables=(*known, ClaimedNode(outputs["out"])),  # type: ignore[arg-type]
        over={**model.claims.over, quotient: (0, len(known)), outputs["out"]: (0,)},
    )  # fmt: skip
    assert "by itself" in verdict(model, outputs, claims=claims).reason


READ = Kind(
    'also = (tokens == "a"); x = aggregate(select(tokens, "a", ==), indices, 0); '
    "out = aggregate(select(x, indices, <), indicator(also), 5);", "ab", 3,
)  # fmt: skip


@pytest.mark.parametrize("weight", [0.0, 1.0, -1.0, float("inf"), float("nan")])
def test_a_dimension_that_varies_does_not_read_every_bool(weight: float) -> None:
    """What a reader is off by must not be measured by how uncertain the reading is."""
    model = compiled(READ)
    outputs = outputs_of(model)
    assert verdict(model, outputs).readers == frozenset(range(len(model.claims.readers)))
    (dim, *_) = [dim for dim in range(model.d_model)
                 if set(model.weights.positions[:, dim]) == {0, 1}]  # fmt: skip
    for constant in (0.0, 0.5):
        reader = ReaderClaim(outputs["also"], "embedding", {dim: weight}, constant)  # type: ignore[arg-type]
        found = verdict(model, outputs, claims=replace(model.claims, readers=(reader,)))
        assert not found.readers


def test_a_string_is_not_read_as_a_number() -> None:
    model = compiled(Kind("out = aggregate(select(indices, 0, ==), tokens);"))
    outputs = outputs_of(model)
    reader = ReaderClaim(outputs["out"], "embedding", {0: 1.0}, 0.0)  # type: ignore[arg-type]
    found = verdict(model, outputs, claims=replace(model.claims, readers=(reader,)))
    assert found.holds
    assert not found.readers


def test_numbers_that_floats_do_not_tell_apart_are_not_read() -> None:
    """2^60 and 2^60 + 1 are one float: so nothing that is read is next to the one or the other."""
    tokens = (2**60, 2**60 + 1)
    claims = Claims((None, None), {}, {}, (), ((),), ((0,),),
                    readers=(ReaderClaim(Tokens(), "embedding", {0: 1.0}, 2.0**60),))  # fmt: skip
    arrays = {"tokens": [[0, -1], [0, 1]], "positions": np.zeros((2, 2)),
              "output0.weight": [[0, -1], [0, 1]], "output0.bias": [0, 0]}  # fmt: skip
    model = handmade(Tokens(), claims, arrays, tokens, vocabulary=tokens)
    found = verdict(model, outputs_of(model))
    assert found.holds, found.reason
    assert not found.readers


def test_an_s_op_is_read_after_a_block_that_there_is() -> None:
    model = compiled(READ)
    (reader, *_) = model.claims.readers
    for block in ("layer9.attention", "layer0.feed_forward", "the end"):
        claims = replace(model.claims, readers=(replace(reader, after=block),))
        assert not verdict(model, outputs_of(model), claims=claims).readers


def test_claims_are_about_the_program_alone() -> None:
    """Labels and circuit are made of them: an aggregate of the forger's own would be shown."""
    model = compiled(Kind("out = aggregate(select(indices, 0, ==), tokens);"))
    outputs = outputs_of(model)
    (place,) = [place for place, known in enumerate(model.claims.variables)
                if isinstance(known, ClaimedOutput)]  # fmt: skip
    lie = Aggregate(Select(Tokens(), Const("b"), "!="), Indices(), 7)
    later = Elementwise("+", (Indices(), Const(1)))
    for claims in (
        replace(model.claims,
                aggregates={lie: Meaning("mean", (place,)), **model.claims.aggregates}),
        replace(model.claims, readers=(ReaderClaim(later, "embedding", {1: 1.0}, 0.0),)),
    ):  # fmt: skip
        found = verdict(model, outputs, claims=claims)
        assert "an s-op that the program does not have" in found.reason


def test_what_picks_nothing_is_made_by_no_head() -> None:
    model = compiled(
        Kind('out = aggregate(select(indices, 0, ==), tokens); '
             'also = aggregate(select(tokens, "c", ==), indices, 7);')
    )  # fmt: skip
    outputs = outputs_of(model)
    never = outputs["also"]
    assert isinstance(never, Aggregate)
    assert model.claims.aggregates[never].rule == "never"
    known = {**model.claims.aggregates, never: Meaning("never", (2,))}
    found = verdict(model, outputs, claims=replace(model.claims, aggregates=known))
    assert "picks nothing" in found.reason


def test_hidden_units_look_at_what_is_said() -> None:
    """Labels of hidden units are made of their inputs: one that makes no difference is a lie."""
    model = compiled(Kind("out = histf(histf(tokens));", "abc", 4))
    for layer, groups in enumerate(model.claims.groups):
        for number, group in enumerate(groups):
            if 0 in group.inputs:
                continue
            changed = [list(some) for some in model.claims.groups]
            changed[layer][number] = replace(group, inputs=(*group.inputs, 0))
            claims = replace(model.claims, groups=tuple(map(tuple, changed)))
            found = verdict(model, outputs_of(model), claims=claims)
            assert "look at more than they do" in found.reason
            return
    raise AssertionError("no hidden units to lie about")


def test_a_choice_is_not_read_where_it_leaves_something_open() -> None:
    """A row that reads whether the token is "a", everywhere, and is said to read `out`."""
    out = node_of('out = (tokens == "a") if (indices == 0) else False;')
    first, is_a, no = out.operands
    which = Elementwise("if", (first, Const(0), Const(1)))
    claims = Claims(
        (None, None, ClaimedNode(out), ClaimedNode(which)),
        {out: (3, 0), which: (1,), first: (1,), is_a: (0,)}, {}, (),
        ((GroupClaim(1, (0, 1), (2,)),),), ((0, 1),), choices={out: (which, (is_a, no))},
        readers=(ReaderClaim(out, "embedding", {0: 1.0}, 0.0),
                 ReaderClaim(out, "layer0.feed_forward", {2: 1.0}, 0.0)),
    )  # fmt: skip
    arrays = {
        "tokens": [[1, 0, 0], [0, 0, 0]], "positions": [[0, 1, 0], [0, 0, 0], [0, 0, 0]],
        "layer0.feed_forward.inside": [[1, 1, 0]], "layer0.feed_forward.bias": [-1],
        "layer0.feed_forward.out": [[0], [0], [1]],
        "output0.weight": [[0, 0, -1], [0, 0, 1]], "output0.bias": [0.5, -0.5],
    }  # fmt: skip
    model = handmade(out, claims, arrays, (False, True))
    found = verdict(model, outputs_of(model))
    assert found.holds, found.reason
    assert found.readers == {1}
    group = GroupClaim(1, (0, 1, 3), (2,))  # which leaf it is follows from the index
    found = verdict(model, outputs_of(model), claims=replace(claims, groups=((group,),)))
    assert found.holds, found.reason


def test_hidden_units_look_at_what_is_said_also_if_another_function_is_claimed() -> None:
    out = node_of(IS_A)
    claims = Claims((None, None), {out: (0,)}, {}, (), ((GroupClaim(1, (0, 1), (0,)),),), ((0,),))
    arrays = {
        "tokens": [[1, 0], [0, 0]], "positions": np.zeros((2, 2)),
        "layer0.feed_forward.inside": [[1, 0]], "layer0.feed_forward.bias": [0],
        "layer0.feed_forward.out": [[0], [1]], "output0.weight": [[0, 0], [0, 1]],
        "output0.bias": [0, -0.5],
    }  # fmt: skip
    model = handmade(out, claims, arrays, (False, True))
    assert "look at more than they do" in verdict(model, outputs_of(model)).reason


def largest_gradient(model: Transformer) -> float:
    """The longest gradient of any score by the embedded input, measured on every input."""
    readout, longest = model.weights.readouts[0], 0.0

    def scores(x: np.ndarray) -> np.ndarray:  # (position, dimension) -> (position, atom)
        for layer, block in enumerate(model.weights.feed_forwards):
            for head in model.weights.heads[layer - 1] if layer else []:
                x = x + attend(x[None], head, None, np.float64)[1][0]
            x = x + feed_forward(x, block, np.float64)
        return np.asarray(x[model.uses_sink :] @ readout.weight.T + readout.bias)

    for tokens in all_inputs(model):
        x = model.embedded(model.token_ids(list(tokens))[None], np.float64)[0]
        steps = 1e-6 * np.eye(x.size).reshape(-1, *x.shape)
        slopes = np.array([(scores(x + step) - scores(x - step)) / 2e-6 for step in steps])
        longest = max(longest, float(np.linalg.norm(slopes, axis=0).max()))
    return longest


def a_sum_of_many() -> Transformer:
    """Each of four keys has a gradient; the sink is so far away that scores have next to none."""
    text = 'out = length * aggregate(select(0, 0, ==), indicator(tokens == "a"));'
    model = compiled(Kind(text))
    far = 2.0**60
    other = forged(model, model.claims)
    weights = other.weights
    (sink,) = np.flatnonzero(weights.tokens[-1])
    weights.tokens[-1] *= far
    for head in weights.heads[0]:
        for array in (head.query, head.key, head.value):
            array[:, sink] /= far
    return other


def picks_that_send_different_numbers() -> Transformer:
    """All that is picked holds one value, and sends a number that the index moves, too."""
    out = node_of("out = aggregate(select(tokens, tokens, ==), tokens);")
    head = HeadClaim(
        "mean",
        (ConjunctClaim(out.selector, (0,), (0,)),),
        (HeadOutputClaim(Tokens(), is_block=True),),
        ({0: ONE},),
        ((0, 1),),
        never_empty=True,
    )
    claims = Claims((None, None, ClaimedOutput(1, 0, 0)), {out: (2,)},
                    {out: Meaning("mean", (2,))}, ((head,),), ((), ()), ((2,),))  # fmt: skip
    arrays = {
        "tokens": [[1, 0, 0], [-1, 0, 0]], "positions": [[0, 0.2, 0], [0, -0.2, 0]],
        "layer1.head1.query": [[100, 0, 0]], "layer1.head1.key": [[1, 0, 0]],
        "layer1.head1.value": [[1, 1, 0]], "layer1.head1.out": [[0], [0], [1]],
        "output0.weight": [[0, 0, -1], [0, 0, 1]], "output0.bias": [0, 0],
    }  # fmt: skip
    return handmade(out, claims, arrays, (Fraction(-1), Fraction(1)), (1, -1))


def a_unit_that_reads_what_is_empty() -> Transformer:
    """The second dimension holds 0 on every input; but whoever moves it moves the unit, by 1000."""
    out = node_of(IS_A)
    claims = Claims((None, None), {out: (0,)}, {}, (), ((GroupClaim(1, (0,)),),), ((0,),))
    arrays = {
        "tokens": [[1, 0, 0], [0, 0, 0]], "positions": np.zeros((2, 3)),
        "layer0.feed_forward.inside": [[1, 1000, 0]], "layer0.feed_forward.bias": [1],
        "layer0.feed_forward.out": [[0], [0], [1]],
        "output0.weight": [[0, 0, 0], [0, 0, 1]], "output0.bias": [0, -1.5],
    }  # fmt: skip
    return handmade(out, claims, arrays, (False, True))


@pytest.mark.parametrize(
    "make", [a_sum_of_many, picks_that_send_different_numbers, a_unit_that_reads_what_is_empty]
)
def test_no_gradient_is_larger_than_is_said(make: Callable[[], Transformer]) -> None:
    model = make()
    found = verdict(model, outputs_of(model))
    assert found.holds, found.reason
    assert largest_gradient(model) <= found.gradient


def test_what_rows_of_a_read_out_read_besides_is_rounded_too() -> None:
    """All rows are multiples of one, but for many dimensions that hold 1, nearly: float32 adds
    these up to more than they are.
    """
    out, more = node_of(IS_A), 1500
    one = 1 + 2.0**-14 + 2.0**-20
    rows = np.zeros((2, more + 1))
    rows[:, 0], rows[1, 1:] = (-1000, 1000), 1
    embedded = np.full((2, more + 1), one)
    embedded[:, 0] = 2, -2
    claims = Claims((None, None), {out: (0,)}, {}, (), ((),), ((0,),))
    arrays = {"tokens": embedded, "positions": np.zeros((1, more + 1)), "output0.weight": rows,
              "output0.bias": [0, 4000 - 0.01 - more * one]}  # fmt: skip
    model = handmade(out, claims, arrays, (False, True))
    bias = model.weights.readouts[0].bias.astype(np.float32)
    terms = (rows * embedded[1]).astype(np.float32)
    scores = terms.sum(axis=1, dtype=np.float64) + bias
    assert scores[0] - scores[1] > 0.005
    added = [added_up(np.append(row[::-1], number))
             for row, number in zip(terms, bias, strict=True)]  # fmt: skip
    assert added[0] < added[1]
    assert not verdict(model, outputs_of(model)).holds


def test_noise_is_added_up_in_float32_too() -> None:
    """Noise in a thousand dimensions that hold 0 comes to just less than what there is to read, on
    paper; in float32, half of the sums on the way are rounded up.
    """
    out, more, radius = node_of(IS_A), 1000, 0.002
    each = (16777 + 0.51) * 2.0**-24
    number = (more * each + 4e-6) / (1 - radius / np.sqrt(more + 1))
    moved = radius * number / np.sqrt(more + 1)
    rows = np.full((2, more + 1), each / moved)
    rows[:, 0] = 1
    rows[0] *= -1
    claims = Claims((None, None), {out: (0,)}, {}, (), ((),), ((0,),))
    embedded = np.zeros((2, more + 1))
    embedded[:, 0] = number, -number
    arrays = {"tokens": embedded, "positions": np.zeros((1, more + 1)), "output0.weight": rows,
              "output0.bias": [0, 0]}  # fmt: skip
    model = handmade(out, claims, arrays, (False, True))
    terms = np.full(more, np.float32(rows[1, 1]) * np.float32(moved * (1 - 1e-7)))
    assert terms.astype(np.float64).sum() < number - moved
    total = added_up(np.append(terms, [-number + moved * (1 - 1e-7)]))
    assert total > 0
    inputs = Inputs(AB, 1)
    readouts = [CheckedReadout("out", (False, True), (), True)]
    found = check(model.weights.arrays(), {"out": out}, inputs, readouts, claims, radius)
    assert not found.holds
    assert check(model.weights.arrays(), {"out": out}, inputs, readouts, claims, radius / 2).holds


def heads_that_round_up(count: int = 20) -> Transformer:
    """Each head adds a little more than half of the last bit that 1 has in bfloat16, at index 0."""
    out, little = node_of('out = tokens == "b";'), 2.0**-8 + 2.0**-15
    head = HeadClaim("mean", (), (HeadOutputClaim(Const(0)),), ({0: ONE},), ((),), never_empty=True)
    outputs = tuple(ClaimedOutput(1, number, 0) for number in range(count))
    claims = Claims((None, None, *outputs), {out: (0,)}, {}, ((head,) * count,), ((), ()), ((0,),))
    arrays: dict[str, Any] = {
        "tokens": [[1, 0], [1.25, 0]], "positions": [[0, little], [0, -little]],
        "output0.weight": [[0, 0], [16, 0]], "output0.bias": [0, -18],
    }  # fmt: skip
    for name in (f"layer1.head{number}" for number in range(1, count + 1)):
        arrays |= {f"{name}.value": [[0, 1]], f"{name}.out": [[1], [0]]}
    return handmade(out, claims, arrays, (False, True))


def test_the_stream_is_rounded_after_every_head() -> None:
    """Where results are stored in bfloat16, 1 becomes 1.156, and not 1.079."""
    model = heads_that_round_up()
    total, bits = 1.0, PRECISIONS["bfloat16"][0]
    for _ in model.weights.heads[0]:
        total = float(bits.rounded(np.array(total + model.weights.positions[0, 1])))
    assert total * 16 > 18
    assert verdict(model, outputs_of(model)).holds
    assert not proved(model, precision="bfloat16").holds
    assert proved(heads_that_round_up(5), precision="bfloat16").holds
