"""Forged claims about choices, kinds, keys in place of a sink, and precisions: none is believed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from forging import forged, handmade, is_refused

import rasp
from models import Kind, compiled, outputs_of, verdict
from rasp.language.graph import Aggregate, Const, Elementwise
from rasp.models.certificate import Inputs, Readout, check
from rasp.models.certificate.claims import (
    INDEX,
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
    SumPart,
)
from rasp.models.certificate.weights.precision import PRECISIONS

ONE = Fraction(1)
AB = Inputs(("a", "b"), 3)


def test_what_a_case_of_a_choice_leaves_open_can_be_anything() -> None:
    """The model says `tokens == "a"` everywhere, and claims that only the last token matters."""
    model = compiled(Kind('out = (tokens == "a") if (indices == 0) else False;', "ab", 3))
    outputs = outputs_of(model)
    out = outputs["out"]
    assert isinstance(out, Elementwise)
    first, is_a, no = out.operands
    which = Elementwise("if", (first, Const(0), Const(1)))
    claims = Claims(
        (None, None, ClaimedNode(out), ClaimedNode(which), ClaimedNode(is_a)),
        {out: (3, 0), which: (1,), is_a: (0,), first: (1,)}, {}, (),
        ((GroupClaim(1, (0,), (4,)),),), ((2,),), choices={out: (which, (is_a, no))},
    )  # fmt: skip
    assert model.readouts[0].atoms == (False, True)
    arrays = {
        "tokens": np.array([[1.0, 0.0], [0.0, 0.0]]), "positions": np.zeros((3, 2)),
        "layer0.feed_forward.inside": np.array([[1.0, 0.0]]),
        "layer0.feed_forward.bias": np.zeros(1),
        "layer0.feed_forward.out": np.array([[0.0], [1.0]]),
        "output0.weight": np.array([[0.0, -1.0], [0.0, 1.0]]),
        "output0.bias": np.array([0.5, -0.5]),
    }  # fmt: skip
    assert not verdict(forged(model, claims), outputs, arrays, claims).holds


def test_what_a_case_leaves_open_is_not_the_last_token() -> None:
    """At index 0, a sum tells the token, which is left open itself: it was taken for "b", and the
    model, which says `tokens == "a"` there, for one that says False.
    """
    names = rasp.run('is_a = tokens == "a"; is_b = tokens == "b"; first = indices == 0;')
    is_a, is_b, first = (names[name].node for name in ("is_a", "is_b", "first"))
    no, yes = Elementwise("and", (is_a, Const(False))), Elementwise("or", (is_b, Const(True)))
    out, which = (Elementwise("if", (first, *pair)) for pair in ((no, yes), (Const(0), Const(1))))
    token = ClaimedSum(Fraction(0), {SumPart(TOKEN, 0): ONE})
    claims = Claims(
        (None, None, ClaimedNode(out), ClaimedNode(which), token, ClaimedNode(is_a)),
        {out: (3, 4, 0), which: (1,), first: (1,), is_a: (4,), no: (4,), yes: (0,), is_b: (0,)},
        {}, (), ((GroupClaim(1, (0,), (5,)),),), ((2,),), choices={out: (which, (no, yes))},
    )  # fmt: skip
    arrays = {
        "tokens": [[1, 0, 0], [0, 0, 0]], "positions": [[0, 0, 0], [0, 0, 1]],
        "layer0.feed_forward.inside": [[1, 0, 0]], "layer0.feed_forward.bias": [0],
        "layer0.feed_forward.out": [[0], [1], [0]],
        "output0.weight": [[0, 0, 0], [0, 1, 10]], "output0.bias": [0, -0.5],
    }  # fmt: skip
    is_refused(handmade(out, claims, arrays, (False, True)), "no margin")


def pair_of_kinds() -> tuple[Elementwise, Aggregate, HeadClaim]:
    """`"x" * leaf`, where a leaf is the int 1 or the float 1.0, and a head that makes it."""
    out = rasp.run('out = "x" * aggregate(select(tokens, tokens, ==), 1);')["out"].node
    assert isinstance(out, Elementwise)
    leaf = out.operands[1]
    assert isinstance(leaf, Aggregate)
    conjunct = ConjunctClaim(leaf.selector, (0,), (0,))
    head = HeadClaim("mean", (conjunct,), (HeadOutputClaim(leaf.values),), ({0: ONE},), ((),),
                     never_empty=True)  # fmt: skip
    return out, leaf, head


def test_an_operator_that_fails_for_one_kind_is_not_total() -> None:
    out, leaf, head = pair_of_kinds()
    claims = Claims((None, None, ClaimedOutput(0, 0, 0)), {out: (), leaf: ()},
                    {leaf: Meaning("mean", (2,))}, (), ((),), ((),), spare=(head,))  # fmt: skip
    arrays = {"tokens": np.zeros((2, 1)), "positions": np.zeros((3, 1)),
              "output0.weight": np.zeros((2, 1)), "output0.bias": np.array([1.0, 0.0])}  # fmt: skip
    found = check(arrays, {"out": out}, AB, [Readout("out", ("x", "xx"), (), True)], claims)
    assert not found.total


def test_a_choice_keeps_the_kinds_of_its_leaves() -> None:
    """The model always says "xx", which is wrong where the leaf is an int."""
    _, leaf, head = pair_of_kinds()
    first = rasp.run("out = indices == 0;")["out"].node
    choice = Elementwise("if", (first, leaf, Const(2)))
    which = Elementwise("if", (first, Const(0), Const(1)))
    out = Elementwise("*", (Const("x"), choice))
    claims = Claims(
        (None, None, ClaimedNode(choice), ClaimedNode(which), ClaimedOutput(0, 0, 0)),
        {out: (2,), choice: (3,), which: (1,), first: (1,), leaf: ()},
        {leaf: Meaning("mean", (4,))}, (), ((),), ((2,),), spare=(head,),
        choices={choice: (which, (leaf, choice.operands[2]))},
    )  # fmt: skip
    arrays = {"tokens": np.zeros((2, 1)), "positions": np.array([[1.0], [0.0], [0.0]]),
              "output0.weight": np.zeros((2, 1)), "output0.bias": np.array([0.0, 1.0])}  # fmt: skip
    readout = Readout("out", ("x", "xx"), (), True)
    assert not check(arrays, {"out": out}, AB, [readout], claims).holds


def test_keys_cannot_take_the_place_of_a_sink() -> None:
    """All keys that are no "a" hold the default, but nothing says how far below they score."""
    text = """out = aggregate(select(tokens, "a", ==) and select(indices, indices, <=),
                              tokens == "a", False);"""
    model = compiled(Kind(text, "ab", 4))
    arrays = dict(model.weights.arrays())
    assert verdict(model, outputs_of(model), arrays).holds
    arrays["tokens"] = arrays["tokens"][:-1]
    assert "needs a sink" in verdict(model, outputs_of(model), arrays).reason


def test_what_is_written_twice_is_rounded_twice() -> None:
    """A head adds half a last bit of bfloat16 to a number that was rounded up already."""
    out = rasp.run('out = tokens == "a";')["out"].node
    bit = 2.0**-7
    (precision,) = PRECISIONS["bfloat16"]
    more, half = (float(precision.rounded(np.array(part * bit))) for part in (0.6, 0.5))
    head = HeadClaim("mean", (), (HeadOutputClaim(Const(0)),), ({0: ONE},), ((),), never_empty=True)
    claims = Claims((None, None, ClaimedOutput(1, 0, 0)), {out: (0,)}, {}, ((head,),),
                    ((GroupClaim(2, ()),), (GroupClaim(1, ()),)), ((0,),))  # fmt: skip
    nothing = {f"layer1.head1.{part}": np.zeros((1, 3)) for part in ("query", "key", "value")}
    biases = {f"layer1.head1.{part}_bias": np.zeros(1) for part in ("query", "key")}
    arrays = nothing | biases | {
        "layer1.head1.value_bias": np.array([half]),
        "layer1.head1.out": np.array([[0.0], [1.0], [0.0]]),
        "tokens": np.array([[1.0, 0, 0], [0, 0, 0]]), "positions": np.zeros((2, 3)),
        "layer0.feed_forward.inside": np.zeros((2, 3)),
        "layer0.feed_forward.bias": np.array([1.0, 1.0]),
        "layer0.feed_forward.out": np.array([[0, 0], [1.0, more], [0, 0]]),
        "layer1.feed_forward.inside": np.array([[0, 1.0, 0]]),
        "layer1.feed_forward.bias": np.array([-(1 + bit)]),
        "layer1.feed_forward.out": np.array([[0], [0], [256.0]]),
        "output0.weight": np.array([[-1.0, 0, -1.0], [1.0, 0, 1.0]]),
        "output0.bias": np.array([0.5, -0.5]),
    }  # fmt: skip
    readout = Readout("out", (False, True), (), True)
    inputs = Inputs(("a", "b"), 2)
    found = check(arrays, {"out": out}, inputs, [readout], claims, precision=precision)
    assert not found.holds


def test_tf32_may_round_and_may_cut_off() -> None:
    """A weight just below 1 is 1 where it is rounded, and not where its first bits are read."""
    out = rasp.run('out = tokens == "a";')["out"].node
    claims = Claims((None, None), {out: (0,)}, {}, (), ((),), ((0,),))
    below, nearly = 1 - 2.0**-13, 1 - 2.0**-12
    arrays = {
        "tokens": np.array([[1.0], [0]]), "positions": np.zeros((2, 1)),
        "output0.weight": np.array([[0.0], [below]]), "output0.bias": np.array([nearly, 0]),
    }  # fmt: skip
    readout, inputs = Readout("out", (False, True), (), True), Inputs(("a", "b"), 2)
    found = [check(arrays, {"out": out}, inputs, [readout], claims, precision=each).holds
             for each in PRECISIONS["TF32"]]  # fmt: skip
    assert not all(found)
    assert check(arrays, {"out": out}, inputs, [readout], claims).holds


def test_sums_that_are_nearly_the_same_do_not_tell_the_index() -> None:
    """Multiples of 2^48 of two sums come to the token, on paper. In float64 they come to 0.984 at
    index 1, and the model is said to tell that from 1.
    """
    out = rasp.run('out = tokens == "b" and indices == 0;')["out"].node
    assert isinstance(out, Elementwise)
    parts = {SumPart(TOKEN, 1): Fraction(1, 3), SumPart(INDEX, 1): Fraction(1, 7)}
    nearly = parts | {SumPart(TOKEN, 1): Fraction(1, 3) + Fraction(1, 2**48)}
    sums = [ClaimedSum(Fraction(0), known) for known in (parts, nearly)]
    over = {out: (0, 1), out.operands[0]: (0,), out.operands[1]: (1,)}
    claims = Claims((None, None, *sums), over, {}, (), ((),), ((2, 3),))
    arrays = {"tokens": [[0], [1]], "positions": [[0], [0]], "output0.weight": [[0], [1]],
              "output0.bias": [0, -0.993]}  # fmt: skip
    is_refused(handmade(out, claims, arrays, (False, True)), "no margin")


def test_hidden_units_that_read_several_numbers_look_at_what_is_said() -> None:
    """Two units read the token in two ways, and are said to look at the index, too."""
    out = rasp.run('out = tokens == "a";')["out"].node
    arrays = {
        "tokens": [[1, 0, 0], [0, 1, 0]], "positions": np.zeros((2, 3)),
        "layer0.feed_forward.inside": [[1, 0, 0], [0, 1, 0]], "layer0.feed_forward.bias": [0, 0],
        "layer0.feed_forward.out": [[0, 0], [0, 0], [1, -1]],
        "output0.weight": [[0, 0, 0], [0, 0, 1]], "output0.bias": [0, 0],
    }  # fmt: skip
    for inputs, fine in (((0,), True), ((0, 1), False)):
        claims = Claims((None, None), {out: (0,)}, {}, (), ((GroupClaim(2, inputs),),), ((0,),))
        model = handmade(out, claims, arrays, (False, True))
        assert verdict(model, outputs_of(model)).holds == fine
