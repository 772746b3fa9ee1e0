"""Models written by hand, with claims that no rule of the checker may believe: each is refused."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from forging import NOTHING, ONE, forged, handmade, is_refused, node_of, over_tokens, with_head

from models import (
    AB,
    Kind,
    compiled,
)
from rasp.language.graph import Aggregate, Const, Elementwise, Indices, Select, SelectorOr, Tokens
from rasp.models.certificate import Readout
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
    SumPart,
)
from rasp.models.compiler import Transformer
from rasp.models.compiler.model.describe import Words

MEANS = sorted({Fraction(some, whole) for whole in (1, 2, 3) for some in range(whole + 1)})
IS_A = 'out = tokens == "a";'


# -- claims about what there is -------------------------------------------------------------------


def another_first_variable() -> Transformer:
    """The first variable is the token, and said to be the index: so the one is the other."""
    base = compiled(Kind("out = tokens;", [0, 1, 2], 3))
    claims = Claims((ClaimedNode(Indices()), None), {}, {}, (), ((),), ((0,),))
    other = forged(base, claims)
    other.words = Words({"out": Indices()}, {}, {})
    return other


def an_output_that_counts_twice() -> Transformer:
    """A sum is compared with what its outputs take once, and then taken for twice as much."""
    text = """out = 1 / aggregate(select(tokens, tokens, ==) or select(indices, 0, ==),
                                  indicator(indices == 0));"""
    model = compiled(Kind(text, "abc", 4))
    ((node, meaning),) = model.claims.aggregates.items()
    twice = {node: Meaning("count", meaning.outputs * 2, meaning.constant)}
    known = model.readouts[0]
    atoms = tuple(2 * Fraction(atom) - 1 for atom in known.atoms)
    claims = Claims(**vars(model.claims) | {"aggregates": twice})
    return forged(model, claims, Readout("out", atoms, (), True))


def a_share_of_nothing() -> Transformer:
    """A head that gives shares is said to give one of 0: so nothing has to send the 1."""
    out = node_of(IS_A)
    head = HeadClaim(
        "share",
        (),
        (HeadOutputClaim(Const(0)),),
        ({0: ONE},),
        ((),),
        never_empty=True,
        weight=Fraction(1000),
        outweighs=True,
    )
    claims = Claims((None, None, ClaimedOutput(1, 0, 0)), {out: (0,)}, {}, ((head,),),
                    ((), ()), ((0, 2),))  # fmt: skip
    arrays = {
        "tokens": [[1, 0], [0, 0]], "positions": np.zeros((2, 2)),
        "layer1.head1.out": [[0], [1]], "output0.weight": [[0, 0], [1, 1]],
        "output0.bias": [0, -1.5],
    }  # fmt: skip
    return handmade(out, claims, arrays, (False, True))


def a_sum_of_counts() -> Transformer:
    """A count is moved, of which there is one on paper, and a head that adds them all up."""
    out = node_of(IS_A)
    head = HeadClaim("sum", (), (HeadOutputClaim(out, None, False, 0),), ({0: ONE},), ((0,),))
    claims = Claims((None, None, ClaimedOutput(1, 0, 0)), {out: (0,)}, {}, ((head,),),
                    ((), ()), ((0, 2),))  # fmt: skip
    arrays = {
        "tokens": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]], "positions": np.zeros((7, 4)),
        "layer1.head1.query_bias": [22], "layer1.head1.key": [[0, 0, 0, 1]],
        "layer1.head1.value": [[0, 1, 0, 0]],
        "layer1.head1.out": [[0], [0], [np.exp(22)], [0]],
        "output0.weight": [[0, 0, 0, 0], [2, 0, -0.4, 0]], "output0.bias": [0, -0.5],
    }  # fmt: skip
    return handmade(out, claims, arrays, (False, True))


def a_mean_of_strings() -> Transformer:
    """Strings have no mean, and a program that averages them fails: this one never does so."""
    out = node_of(IS_A)
    output = HeadOutputClaim(Tokens(), {"a": NOTHING, "b": ONE})
    head = HeadClaim("mean", (), (output,), ({0: ONE},), ((0,),), never_empty=True)
    claims = Claims((None, None, ClaimedOutput(1, 0, 0)), {out: (0,)}, {}, ((head,),),
                    ((), (GroupClaim(3, (2,)),)), ((0, 2),))  # fmt: skip
    arrays = {
        "tokens": [[1, 0, 0], [0, 0, 0]], "positions": np.zeros((3, 3)),
        "layer1.head1.value": [[-1, 0, 0]], "layer1.head1.value_bias": [1],
        "layer1.head1.out": [[0], [1], [0]], "layer1.feed_forward.inside": [[0, 1, 0]] * 3,
        "layer1.feed_forward.bias": [-0.1, -0.5, -0.9],
        "layer1.feed_forward.out": [[0, 0, 0], [0, 0, 0], [10, -20, 10]],
        "output0.weight": [[0, 0, 0], [2, 0, -10]], "output0.bias": [0, -1],
    }  # fmt: skip
    return handmade(out, claims, arrays, (False, True))


def a_number_below_a_string() -> Transformer:
    """`0 < "x"` picks nothing where selectors are compared, and everything where scores are."""
    model = compiled(Kind('out = aggregate(select(tokens, "a", ==), indicator(indices == 0), 5);'))
    mine = model.claims.heads[0][0].conjuncts[0].selector
    wider = SelectorOr(mine, Select(Const(0), Const("x"), "<"))
    other = forged(model, with_head(model.claims, conjuncts=(ConjunctClaim(wider, (), (0,)),)))
    other.weights.tokens[1] = other.weights.tokens[0]
    return other


def a_text_that_is_not_everywhere() -> Transformer:
    """1 or 1.0 is one number at all positions, and two texts: not every key is equal to a query."""
    one = node_of("out = aggregate(select(tokens, tokens, ==), 1);")
    text, is_a = Elementwise("string", (one,)), node_of('out = indicator(tokens == "a");')
    out = Aggregate(Select(text, text, "=="), is_a, 0)
    head = HeadClaim("mean", (), (HeadOutputClaim(is_a),), ({0: ONE},), ((0,),), never_empty=True)
    spare = HeadClaim(
        "mean",
        (ConjunctClaim(one.selector, (0,), (0,)),),
        (HeadOutputClaim(one.values),),
        ({0: ONE},),
        ((),),
        never_empty=True,
    )
    claims = Claims(
        (None, None, ClaimedOutput(1, 0, 0), ClaimedOutput(0, 0, 0)),
        {out: (2,), one: (3,), text: (3,), **over_tokens(is_a)},
        {out: Meaning("mean", (2,)), one: Meaning("mean", (3,))}, ((head,),), ((), ()), ((2,),),
        spare=(spare,),
    )  # fmt: skip
    arrays = {
        "tokens": [[1, 0], [0, 0]], "positions": np.zeros((3, 2)), "layer1.head1.value": [[1, 0]],
        "layer1.head1.out": [[0], [1]], "output0.weight": [[0, 2 * mean] for mean in MEANS],
        "output0.bias": [-mean * mean for mean in MEANS],
    }  # fmt: skip
    return handmade(out, claims, arrays, MEANS)


def a_ratio_that_fails() -> Transformer:
    """A quotient of the forger's own fails where there is no "b": such inputs are not looked at."""
    mean = 'aggregate(select(0, 0, ==), indicator(tokens == "{}"))'
    out = node_of(f"out = {mean.format('a')} > {mean.format('b')};")
    one, other = out.operands
    ratio = Elementwise("/", (one, other))
    head = HeadClaim("sum", (), (HeadOutputClaim(one.values), HeadOutputClaim(other.values)),
                     ({0: ONE}, {1: ONE}), ((0,), (0,)))  # fmt: skip
    claims = Claims(
        (None, None, ClaimedOutput(1, 0, 0), ClaimedOutput(1, 0, 1), ClaimedNode(ratio)),
        {**over_tokens(one.values, other.values), out: (2, 3), ratio: (2, 3)},
        {one: Meaning("ratio", (2,)), other: Meaning("ratio", (3,))}, ((head,),),
        ((), (GroupClaim(1, (3,)),)), ((2, 3, 4),),
    )  # fmt: skip
    arrays = {
        "tokens": [[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1]],
        "positions": np.zeros((3, 6)), "layer1.head1.query_bias": [22],
        "layer1.head1.key": [[0, 0, 0, 0, 0, 1]],
        "layer1.head1.value": [[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]],
        "layer1.head1.value_bias": [0, 0],
        "layer1.head1.out": np.exp(22) * np.eye(6)[:, 2:4],
        "layer1.feed_forward.inside": [[0, 0, 0, -1, 0, -9]], "layer1.feed_forward.bias": [0.5],
        "layer1.feed_forward.out": [[0], [0], [0], [0], [1], [0]],
        "output0.weight": [[0] * 6, [0, 0, 1, -1, -20, 0]], "output0.bias": [0, -0.5],
    }  # fmt: skip
    return handmade(out, claims, arrays, (False, True))


# -- promises -------------------------------------------------------------------------------------


def a_promise_about_tokens() -> Transformer:
    """Without the token 0, the table of a token's values begins with that of 1."""
    out, where = node_of("out = tokens + 0;"), node_of("out = tokens != 0;")
    some = ClaimedSum(NOTHING, {SumPart(TOKEN, 1): ONE})
    claims = Claims((None, None, some), {out: (2,), where: (0,)}, {}, (), ((),), ((2,),))
    arrays = {
        "tokens": [[0], [1], [0]], "positions": np.zeros((3, 1)),
        "output0.weight": [[0], [1]], "output0.bias": [0, -0.5],
    }  # fmt: skip
    return handmade(out, claims, arrays, (1, 2), (0, 1, 2), where)


def a_token_that_a_promise_hides() -> Transformer:
    """Without the token "a", the rows of "a" and "b" are looked at as if of "b" and "c"."""
    where = node_of('out = tokens != "a";')
    claims = Claims((None, None), over_tokens(where), {}, (), ((),), ((0,),))
    arrays = {
        "tokens": [[0], [1], [0]], "positions": np.zeros((3, 1)),
        "output0.weight": [[0], [1]], "output0.bias": [0, -0.5],
    }  # fmt: skip
    return handmade(Tokens(), claims, arrays, ("b", "c"), "abc", where)


def a_promise_that_is_two() -> Transformer:
    """For `and`, 2 is as good as True: the promise holds for every token, not for "a" alone."""
    where = node_of('out = (True if tokens == "a" else 2) and tokens != "c";')
    claims = Claims((None, None), over_tokens(where), {}, (), ((),), ((0,),))
    arrays = {"tokens": np.zeros((2, 1)), "positions": np.zeros((3, 1)),
              "output0.weight": np.zeros((2, 1)), "output0.bias": [1, 0]}  # fmt: skip
    return handmade(Tokens(), claims, arrays, ("a", "b"), AB, where)


# -- errors ---------------------------------------------------------------------------------------


def errors_of_queries_times_errors_of_keys() -> Transformer:
    """What hidden units write is ±1 by the index, and said to be 0 up to an error: so are queries
    and keys, and their product.
    """
    out = node_of('out = aggregate(select(tokens, "z", !=), indicator(tokens == "a"));')
    assert isinstance(out, Aggregate)
    head = HeadClaim(
        "mean",
        (ConjunctClaim(out.selector, (0,), (0,)),),
        (HeadOutputClaim(out.values),),
        ({0: ONE},),
        ((0,),),
        never_empty=True,
    )
    claims = Claims(
        (None, None, ClaimedOutput(1, 0, 0)), {out: (2,), **over_tokens(out.values)},
        {out: Meaning("mean", (2,))}, ((head,),), ((GroupClaim(1, (0, 1), (0,)),), ()), ((2,),),
    )  # fmt: skip
    arrays = {
        "tokens": [[1, 0, 0, 0, 0], [0, 0, 0, 0, 0]],
        "positions": [[0, -1, -1, 0, 0], [0, -1, -1, 0, 1], [0, -1, -1, 0, 0]],
        "layer0.feed_forward.inside": [[2.0**-9, 0, 0, 0, 1]],
        "layer0.feed_forward.bias": [-(2.0**-9)],
        "layer0.feed_forward.out": [[0], [2], [2], [0], [0]],
        "layer1.head1.query": [[0, 50, 0, 0, 0]], "layer1.head1.key": [[0, 0, 1, 0, 0]],
        "layer1.head1.value": [[1, 0, 0, 0, 0]],
        "layer1.head1.out": [[0], [0], [0], [1], [0]],
        "output0.weight": [[0, 0, 0, 2 * mean, 0] for mean in MEANS],
        "output0.bias": [-mean * mean for mean in MEANS],
    }  # fmt: skip
    return handmade(out, claims, arrays, MEANS)


def a_number_that_is_infinite() -> Transformer:
    """Hidden units write 10^60 where nothing reads it: 0 times infinity is not a number."""
    out = node_of(IS_A)
    claims = Claims((None, None), {out: (0,)}, {}, (), ((GroupClaim(1, ()),),), ((0,),))
    arrays = {
        "tokens": [[1, 0, 1], [0, 0, 1]], "positions": np.zeros((2, 3)),
        "layer0.feed_forward.inside": [[0, 0, 1e30]], "layer0.feed_forward.bias": [0],
        "layer0.feed_forward.out": [[0], [1e30], [0]],
        "output0.weight": [[0, 0, 0], [1, 0, 0]], "output0.bias": [0, -0.5],
    }  # fmt: skip
    return handmade(out, claims, arrays, (False, True))


def a_number_that_vanishes() -> Transformer:
    """10^-30 times 10^-20 is 0 in float32, however large what it is multiplied with next."""
    out = node_of(IS_A)
    claims = Claims((None, None), {out: (0,)}, {}, (), ((GroupClaim(1, (0,)),),), ((0,),))
    arrays = {
        "tokens": [[1e-30, 0], [0, 0]], "positions": np.zeros((2, 2)),
        "layer0.feed_forward.inside": [[1e-20, 0]], "layer0.feed_forward.bias": [0],
        "layer0.feed_forward.out": [[0], [1e36]],
        "output0.weight": [[0, 0], [0, 1e14]], "output0.bias": [0, -0.5],
    }  # fmt: skip
    return handmade(out, claims, arrays, (False, True))


FORGERIES: dict[Callable[[], Transformer], str] = {
    another_first_variable: "the first two variables, and no others",
    an_output_that_counts_twice: "an output of a head is counted twice",
    a_share_of_nothing: "a share is not of position 0 alone",
    a_sum_of_counts: "a sum adds numbers",
    a_mean_of_strings: "a head averages what has no mean",
    a_number_below_a_string: "no margin is left",
    a_text_that_is_not_everywhere: "a head's selector is not that of the aggregate",
    a_ratio_that_fails: "a helper of the compiler fails",
    a_promise_about_tokens: "no margin is left",
    a_token_that_a_promise_hides: "no margin is left",
    a_promise_that_is_two: "no margin is left",
    errors_of_queries_times_errors_of_keys: "a number, or its rounding error, is too large",
    a_number_that_is_infinite: "a number, or its rounding error, is too large",
    a_number_that_vanishes: "no margin is left",
}


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_a_forgery_is_refused(forge: Callable[[], Transformer]) -> None:
    is_refused(forge(), FORGERIES[forge])
