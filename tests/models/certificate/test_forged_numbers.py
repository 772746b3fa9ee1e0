"""Numbers that are not what they are taken for: each model answers wrong, and is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from forging import NOTHING, ONE, handmade, is_refused, node_of, over_tokens

from models import outputs_of, verdict
from rasp.base.atoms import Atom
from rasp.language.graph import Const, Elementwise, Indices, Select, Tokens
from rasp.models.certificate.claims import (
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
from rasp.models.compiler import Transformer


def a_mean_of_texts() -> Transformer:
    """ "1" + "2" is "12", and "2" + "1" is "21": as numbers, two sums of the same outputs would not
    be the same, so that no token is possible but 0.
    """
    out = node_of("out = 9 * tokens;")
    one, two = Const("1"), Const("2")
    head = HeadClaim("mean", (), (HeadOutputClaim(one), HeadOutputClaim(two)),
                     ({0: ONE}, {1: ONE}), ((), ()), never_empty=True)  # fmt: skip
    first, other = {SumPart(2): ONE, SumPart(3): ONE}, {SumPart(3): ONE, SumPart(2): ONE}
    nine = {SumPart(0, 1): Fraction(9)}
    variables = (
        None, None, ClaimedOutput(0, 0, 0), ClaimedOutput(0, 0, 1), ClaimedSum(NOTHING, nine),
        ClaimedSum(NOTHING, nine | first), ClaimedSum(NOTHING, other), ClaimedNode(out),
    )  # fmt: skip
    over = {out: (4, 5, 6), Elementwise("+", (one, two)): (), Elementwise("+", (two, one)): ()}
    claims = Claims(variables, over, {}, (), ((),), ((7,),), spare=(head,))
    arrays = {"tokens": np.zeros((2, 1)), "positions": np.zeros((3, 1)),
              "output0.weight": np.zeros((2, 1)), "output0.bias": [1, 0]}  # fmt: skip
    return handmade(out, claims, arrays, (0, 9), vocabulary=(0, 1))


def a_number_beside_numbers_that_cancel() -> Transformer:
    """Hidden units add 2^43 and -2^43, which is 0 to the model. Added up in float64 beside 2^-12,
    these leave nothing of it: "a" is taken for 0, and "b", which is that much less, for -2^-12.
    """
    out = node_of('out = tokens == "a";')
    claims = Claims((None, None), {out: (0,)}, {}, (), ((GroupClaim(1, ()), GroupClaim(1, ())),),
                    ((0,),))  # fmt: skip
    little, much = 2.0**-12, 2.0**43
    arrays = {
        "tokens": [[little, 0], [0, 0]], "positions": np.zeros((2, 2)),
        "layer0.feed_forward.inside": np.zeros((2, 2)), "layer0.feed_forward.bias": [1, 1],
        "layer0.feed_forward.out": [[0, 0], [much, -much]],
        "output0.weight": [[0, 0], [2.0**30, 2.0**30]], "output0.bias": [0, 2.0**29 * little],
    }  # fmt: skip
    return handmade(out, claims, arrays, (False, True))


def codes_of_many_digits() -> Transformer:
    """2^60 + 129 and 2^60 + 255 are both 2^60 + 256 to float64, by which arrays are looked at; and
    are told apart where a claimed sum is made of them, as fractions.
    """
    out = node_of("out = aggregate(select(indices, 0, ==), tokens);")
    much = Fraction(2**60)
    near: dict[Atom, int] = {"a": 128, "b": 129, "c": 255}
    codes: dict[Atom, Fraction] = {"d": much}
    for token, number in near.items():
        codes[token] = much + number
    head = HeadClaim(
        "mean", (ConjunctClaim(out.selector, (), (1,)),), (HeadOutputClaim(Tokens(), codes, "d"),),
        ({0: ONE},), ((0,),), never_empty=True,
    )  # fmt: skip
    less = ClaimedSum(-much, {SumPart(2): ONE})
    claims = Claims((None, None, ClaimedOutput(1, 0, 0), less), {out: (2,)},
                    {out: Meaning("mean", (2,))}, ((head,),), ((), ()), ((3,),))  # fmt: skip
    arrays = {
        "tokens": [[0, 0, 0], [256, 0, 0], [256, 0, 0]], "positions": [[0, 1, 0], [0, 0, 0]],
        "layer1.head1.query_bias": [40], "layer1.head1.key": [[0, 1, 0]],
        "layer1.head1.value": [[1, 0, 0]], "layer1.head1.out": [[0], [0], [1]],
        "output0.weight": [[0, 0, 2 * number] for number in near.values()],
        "output0.bias": [-number * number for number in near.values()],
    }  # fmt: skip
    return handmade(out, claims, arrays, tuple(near), vocabulary=tuple(near))


def a_code_that_comes_and_goes() -> Transformer:
    """A 49th of a code is added 49 times, and the code is taken off again: of a code of 49 · 2^55,
    a 49th in float64 leaves -196, which is what the read-out is made for. Really, it is 0.
    """
    out = node_of('out = tokens == "a";')
    much, step = Fraction(49 * 2**55), 49 * 256
    first = ConjunctClaim(Select(Indices(), Const(0), "=="), (), (1,))
    head = HeadClaim(
        "mean", (first,), (HeadOutputClaim(Tokens(), {"a": much, "b": much + step}, "a"),),
        ({0: Fraction(1, 49)}, {0: ONE}), ((0,), (0,)), never_empty=True,
    )  # fmt: skip
    claims = Claims((None, None, ClaimedOutput(1, 0, 0)), {out: (0,)}, {}, ((head,),), ((), ()),
                    ((0,),))  # fmt: skip
    arrays = {
        "tokens": [[0, 0, 0, 300], [1, 0, 0, 0]], "positions": [[0, 1, 0, 0], [0, 0, 0, 0]],
        "layer1.head1.query_bias": [40], "layer1.head1.key": [[0, 1, 0, 0]],
        "layer1.head1.value": [[256, 0, 0, 0], [step, 0, 0, 0]],
        "layer1.head1.value_bias": [0, 0], "layer1.head1.out": [[0, 0], [0, 0], [49, -1], [0, 0]],
        "output0.weight": [[0, 0, 0, 0], [0, 0, 1, 1]], "output0.bias": [0, 50],
    }  # fmt: skip
    return handmade(out, claims, arrays, (False, True))


def a_sum_of_a_third() -> Transformer:
    """A claimed sum of 1/3 and something below the last bit that float64 has of a third: "b" is one
    such bit more there, and "a" has none, while the read-out takes both for more.
    """
    out = node_of('out = tokens != "a";')
    third, bit = Fraction(1, 3), 2.0**-54
    some, more = 0.15625 * bit, 0.171875 * bit
    claimed = ClaimedSum(third, {SumPart(0, 0): Fraction(some), SumPart(0, 1): Fraction(more),
                                 SumPart(0, 2): ONE})  # fmt: skip
    claims = Claims((None, None, claimed), {out: (0,)}, {}, (), ((),), ((2,),))
    middle = some / 2
    arrays = {
        "tokens": [[some], [more], [1]], "positions": np.zeros((2, 1)),
        "output0.weight": [[0], [2.0**52]], "output0.bias": [0, -middle * 2.0**52],
    }  # fmt: skip
    return handmade(out, claims, arrays, (False, True), vocabulary="abc")


def a_number_beside_the_first() -> Transformer:
    """What a token adds is counted from what the first one adds: "b" adds 2^-60, which is as good
    as nothing beside 1 in float64, and which the read-out takes for True.
    """
    out = node_of('out = tokens == "a";')
    claims = Claims((None, None), {out: (0,)}, {}, (), ((),), ((0,),))
    arrays = {"tokens": [[1], [2.0**-60]], "positions": np.zeros((2, 1)),
              "output0.weight": [[0], [2.0**61]], "output0.bias": [0, -1]}  # fmt: skip
    return handmade(out, claims, arrays, (False, True))


def keys_beside_the_first(
    first: float, key: Sequence[Sequence[float]], query: Sequence[float]
) -> Transformer:
    """A mean of 1 and 2 alike, but that 1 scores higher; on 0, which is the first token and has a
    key of its own, the program has no value.
    """
    out = node_of("out = aggregate(select(1 / tokens, 0, >), indicator(tokens == 1));")
    head = HeadClaim(
        "mean", (ConjunctClaim(out.selector, (), (0,)),), (HeadOutputClaim(out.values),),
        ({0: ONE},), ((0,),), never_empty=True,
    )  # fmt: skip
    over = {**over_tokens(out.values, out.selector.keys), out: (2,)}
    claims = Claims((None, None, ClaimedOutput(1, 0, 0)), over, {out: Meaning("mean", (2,))},
                    ((head,),), ((), ()), ((2,),))  # fmt: skip
    arrays = {
        "tokens": [[first, 0, 0], [1, 1, 0], [0, 0, 0]], "positions": np.zeros((2, 3)),
        "layer1.head1.query": np.zeros((len(query), 3)), "layer1.head1.query_bias": query,
        "layer1.head1.key": key, "layer1.head1.key_bias": np.zeros(len(query)),
        "layer1.head1.value": [[0, 1, 0]], "layer1.head1.out": [[0], [0], [1]],
        "output0.weight": [[0, 0, 0], [0, 0, 1], [0, 0, 2]], "output0.bias": [0, -0.25, -1],
    }  # fmt: skip
    return handmade(out, claims, arrays, (NOTHING, Fraction(1, 2), ONE), vocabulary=(0, 1, 2))


def a_key_beside_the_first() -> Transformer:
    """Keys are counted from the first one, too: beside 2^80, 1 is as good as nothing."""
    return keys_beside_the_first(2.0**80, [[1, 0, 0]], [100])


def a_score_beside_the_first() -> Transformer:
    """The keys are whole numbers of float64, but what they score is not: beside 327 · 2^48, 327 is
    320 there, and 320 is what another column takes away.
    """
    return keys_beside_the_first(2.0**48, [[1, 0, 0], [0, -1, 0]], [327, 320])


FORGERIES: dict[Callable[[], Transformer], str] = {
    a_mean_of_texts: "a sum of strings",
    a_number_beside_numbers_that_cancel: "no margin is left",
    codes_of_many_digits: "no margin is left",
    a_code_that_comes_and_goes: "no margin is left",
    a_sum_of_a_third: "no margin is left",
    a_number_beside_the_first: "no margin is left",
    a_key_beside_the_first: "too large to check",
    a_score_beside_the_first: "too large to check",
}


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_a_forgery_is_refused(forge: Callable[[], Transformer]) -> None:
    is_refused(forge(), FORGERIES[forge])


def test_functions_of_two_s_ops_that_cancel_are_not_taken_for_nothing() -> None:
    """What 1 and -1 in turn are, by index, is a sum of functions of (i + 1) // 2 and i // 2, which
    grow with the index: beside these, the 2^-43 of one index is nothing to float64.
    """
    length, little = 2000, 43
    last = length // 2 - 1
    out = node_of(f"""more = (indices + 1) // 2; less = indices // 2;
                      out = (more == less) and (more != {last});""")
    is_even, is_other = out.operands
    more, less = is_even.operands
    over = {more: (1,), more.operands[0]: (1,), less: (1,), is_even: (2, 3), is_other: (2,),
            out: (2, 3)}  # fmt: skip
    claims = Claims((None, None, ClaimedNode(more), ClaimedNode(less)), over, {}, (), ((),),
                    ((2, 3),))  # fmt: skip
    positions = np.zeros((length, 2))
    positions[:, 0] = 1 - 2 * (np.arange(length) % 2)
    positions[2 * last - 1], positions[2 * last] = 0, (0, 2.0**-little)
    arrays = {"tokens": np.zeros((1, 2)), "positions": positions, "output0.bias": [0, -1],
              "output0.weight": [[0, 0], [2.0 ** (little + 1)] * 2]}  # fmt: skip
    model = handmade(out, claims, arrays, (False, True), vocabulary="a")
    answers = model.answers(np.zeros((1, length), int))["out"][0]
    assert answers[2 * last]  # the program says False
    assert "no margin is left" in verdict(model, outputs_of(model)).reason
