"""Claims and weights forged together by somebody who knows the checker: each is refused.

Each forgery leans on one rule that was once too weak. Its claims are a story that would be true if
that rule were; its weights follow the story, and the model answers wrong. So a rule that is made
weaker again lets its forgery pass, and the test of it fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from forging import ONE, forged, is_refused, with_head, with_output

from models import (
    KINDS,
    Kind,
    compiled,
    outputs_of,
)
from rasp.language.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Select,
    SOp,
    TokensAs,
    apply_operator,
)
from rasp.models.certificate import FeedForwardWeights, ReadoutWeights
from rasp.models.certificate.claims import (
    TOKEN,
    ClaimedCount,
    ClaimedNode,
    ClaimedOutput,
    ClaimedSum,
    Claims,
    ConjunctClaim,
    HeadClaim,
    HeadOutputClaim,
    Meaning,
    SumPart,
)
from rasp.models.compiler import Transformer
from rasp.models.compiler.model.describe import Words


def default_of_a_sum() -> Transformer:
    """Keys send values less a default, which a sum then counts once: these keys send nothing."""
    model = compiled(Kind("out = length;"))
    other = forged(model, with_output(model.claims, default=1))
    head, readout = other.weights.heads[0][0], other.weights.readouts[0]
    head.value[:] = head.value_bias[:] = 0
    readout.bias[:] += readout.weight[:, 1]
    return other


def codes_of_a_sum() -> Transformer:
    """Keys send codes, and the sums that are listed are those of the values."""
    model = compiled(Kind("out = length;"))
    other = forged(model, with_output(model.claims, codes={1: Fraction(3)}))
    head = other.weights.heads[0][0]
    head.value[:] *= 3
    head.value_bias[:] *= 3
    return other


def a_spare_head_that_may_pick_nothing() -> Transformer:
    """A head without arrays is said never to be empty, so that the default never occurs."""
    model = compiled(Kind('out = aggregate(select(tokens, "b", ==), 1, 0);'))
    base = compiled(Kind("out = indices * 0 + 1;"))
    node = outputs_of(model)["out"]
    assert isinstance(node, Aggregate)
    head = HeadClaim(
        "mean",
        (ConjunctClaim(node.selector, (), (0,)),),
        (HeadOutputClaim(node.values),),
        ({0: ONE},),
        ((),),
        never_empty=True,
    )
    claims = Claims(
        (None, None, ClaimedOutput(0, 0, 0)), {**model.claims.over, node: (2,)},
        {node: Meaning("mean", (2,))}, (), base.claims.groups, ((2,),), (head,),
    )  # fmt: skip
    other = forged(base, claims)
    other.words = model.words
    return other


def codes_that_are_no_line() -> Transformer:
    """A mean of codes is taken for the code of the mean: 1/2 reads as 0 or 1."""
    kind = Kind('out = aggregate(select(indices, indices, <=), indicator(tokens == "a"));', "ab", 2)
    model = compiled(kind)
    codes = {0: Fraction(0), Fraction(1, 2): Fraction(7), 1: ONE}
    other = forged(model, with_output(model.claims, codes=codes))
    readout = other.weights.readouts[0]
    readout.weight[:, -1] = -1, 1, 0
    readout.bias[:] = 0.25, -4.25, -0.25
    return other


def a_helper_that_fails() -> Transformer:
    """An s-op of the forger's own fails on some tokens, whose states are then left out."""
    model = compiled(Kind("out = tokens;", "ab12", 3))
    helper = TokensAs("int")
    claims = replace(
        model.claims,
        variables=(*model.claims.variables, ClaimedNode(helper)),
        over={**model.claims.over, helper: (0,)},
        outputs=((0, len(model.claims.variables)),),
    )
    other = forged(model, claims)
    other.weights.tokens[1] = other.weights.tokens[0]
    return other


def a_family_of_means() -> Transformer:
    """Heads that average say that they share out keys, so that two means add up to one."""
    mean = 'aggregate(select(indices, indices, {}), indicator(tokens == "a"))'
    model = compiled(Kind(f"out = 2*{mean.format('<=')} + 2*{mean.format('>=')};", "ab", 2))
    one, two = model.claims.heads[0]
    mixed = Elementwise("*", (one.outputs[0].values, Const(Fraction(2))))
    family = ((1, 0), (1, 1))
    claims = replace(
        model.claims, over={**model.claims.over, mixed: (0,)},
        heads=((replace(one, family=family), replace(two, family=family)),),
    )  # fmt: skip
    known = model.readouts[0]
    other = forged(model, claims, replace(known, atoms=known.atoms[:3], codes=known.codes[:3]))
    (readout,) = other.weights.readouts
    other.weights.readouts[0] = ReadoutWeights(readout.weight[:3], readout.bias[:3])
    return other


def a_product_with_a_constant() -> Transformer:
    """width · mean is taken for c + Σ(value - c), which is right for a mean that is compared."""
    model = compiled(
        Kind('v = indicator(tokens == "a"); out = length * aggregate(select(0, 0, ==), v);')
    )
    (mean,) = [node for node, known in model.claims.aggregates.items() if known.rule == "product"]
    meaning = model.claims.aggregates[mean]
    place = model.claims.variables[meaning.outputs[0]]
    assert isinstance(place, ClaimedOutput)
    less = Elementwise("-", (mean.values, Const(1)))
    outputs = tuple(replace(output, values=less) if number == place.output else output
                    for number, output in enumerate(model.claims.heads[0][0].outputs))  # fmt: skip
    claims = replace(
        with_head(model.claims, outputs=outputs), over={**model.claims.over, less: (0,)},
        aggregates={**model.claims.aggregates, mean: replace(meaning, constant=ONE)},
    )  # fmt: skip
    known = replace(model.readouts[0], atoms=(-3, -2, -1, 0, 1))
    other = forged(model, claims, known)
    head, readout = other.weights.heads[0][0], other.weights.readouts[0]
    head.value[0, 0] += 1
    head.value_bias[0] -= 1
    readout.bias[:] += 4 * readout.weight @ (head.out[:, 0] * np.exp(-22))
    return other


def a_sum_that_weighs_the_bos() -> Transformer:
    """A BOS is written as index 0; a sum that weighs its token hides index 0 from all tables."""
    model = compiled(Kind("out = tokens;", "ab", 3, {"bos": "§"}))
    known = model.claims.variables
    some = ClaimedSum(Fraction(0), {SumPart(TOKEN, 2): Fraction(5), SumPart(TOKEN, 0): ONE})
    claims = replace(model.claims, variables=(*known, some), outputs=((0, 1, len(known)),))
    other = forged(model, claims)
    other.weights.positions[0] = other.weights.positions[1]
    return other


def two_atoms_with_one_code() -> Transformer:
    """Over a multiple of an output, only the last of two atoms with one code is looked at."""
    model = compiled(Kind("out = aggregate(select(indices, 0, ==), tokens);", "ab", 3))
    double = ClaimedSum(Fraction(0), {SumPart(2): Fraction(2)})
    claims = with_output(model.claims, codes={"a": Fraction(0), "b": Fraction(0)})
    claims = replace(
        claims, variables=(*claims.variables, double), outputs=((len(claims.variables),),)
    )
    other = forged(model, claims)
    head = other.weights.heads[0][0]
    head.value[:] = head.value_bias[:] = 0
    other.weights.readouts[0].bias[:] = 0, 5
    return other


def a_carrier_that_is_not_read() -> Transformer:
    """A count is said to be moved, and where it cannot be read, the values are looked at instead;
    the read-out says True above 1, which a count of two would be.
    """
    model = compiled(
        Kind('c = (tokens == "a") and (indices == 0); '
             "out = aggregate(select(indices, 0, ==), c);", "ab", 3)
    )  # fmt: skip
    (both,) = [node for node in model.claims.over
               if isinstance(node, Elementwise) and node.op == "and"]  # fmt: skip
    known = model.claims.variables
    output = replace(model.claims.heads[0][0].outputs[0], codes=None, carrier=len(known))
    claims = replace(
        with_head(model.claims, outputs=(output,), values=((0, 1),)),
        variables=(*known, ClaimedCount(both.operands), *map(ClaimedNode, both.operands)),
        over={**model.claims.over, both: (0, 1)},
    )
    other = forged(model, claims)
    other.weights.readouts[0].bias[:] = 1.5, -1.5
    return other


def a_count_of_what_is_no_bool() -> Transformer:
    """2 counts as a condition that holds for `and`, and not for a count of what is True."""
    program = compiled(
        Kind('x = 2 * indicator(tokens == "a"); y = indices == 0; out = x and y;', "ab", 3)
    )
    model = compiled(Kind("out = indices == 0;", "ab", 3))
    node = outputs_of(program)["out"]
    assert isinstance(node, Elementwise)
    known = (None, None, *map(ClaimedNode, node.operands), ClaimedCount(node.operands))
    claims = replace(model.claims, variables=known, over=program.claims.over, outputs=((4,),))
    other = forged(model, claims)
    other.words = program.words
    other.weights.tokens[0, 0] = 0.01  # so that x is read at all
    other.weights.readouts[0].bias[:] = 0, -0.5
    return other


def a_polluted_sink() -> Transformer:
    """The sink attends to keys in layer 1, so that its own key in layer 2 is another one."""
    model = compiled(
        Kind('x = aggregate(select(tokens, "a", ==), indices, 0); '
             'out = aggregate(select(x, indices, <), indicator(tokens == "a"), 5);', "ab", 3)
    )  # fmt: skip
    groups = model.claims.groups
    claims = replace(model.claims, groups=(groups[0], (replace(groups[1][0], units=5),), groups[2]))
    other = forged(model, claims)

    def wider(array: np.ndarray, axis: int) -> np.ndarray:
        return np.concatenate([array, np.zeros_like(array.take([0], axis))], axis)

    other.weights = weights = other.weights.changed(
        lambda name, array: array if array.ndim == 1 else wider(array, 0 if name == "out" else 1)
    )
    weights.heads[0][0].query[1, 0] = 32  # the sink scores itself as it does "a": it gets some x
    block = weights.feed_forwards[1]
    block.inside[:, 0] = -1000  # no hidden unit fires at the sink
    inside = np.vstack([block.inside, [-1000, 0, 0, 0, 6, 0, 0, 0, 0]])
    out = wider(block.out, 1)
    out[8, -1] = 0.125
    weights.feed_forwards[1] = FeedForwardWeights(inside, np.append(block.bias, 0.0), out)
    key = weights.heads[1][0].key  # 0.75 x - 0.75 x at every position, 0.75 x at the sink
    key[3, 4], key[3, 8] = -24.0, 32.0
    return other


def a_condition_that_outweighs_what_is_best() -> Transformer:
    """Of two tokens that match, one scores as much more as an index further on: arrays alone."""
    model = compiled(
        Kind('out = aggregate(select_best(select(tokens, "a", !=), score(indices, 1)), '
             "indices, -1);", "abc", 3)
    )  # fmt: skip
    other = forged(model, model.claims)
    other.weights.tokens[2, 2] = 1.375
    return other


def a_family_of_a_sum_and_a_mean() -> Transformer:
    """A mean is added to a sum over other keys as if it were one: no fraction is looked at."""
    model = compiled(
        Kind("out = selector_width(select(tokens, tokens, ==)) "
             "+ aggregate(select(tokens, tokens, !=), indices, 0);", "ab", 3)
    )  # fmt: skip
    claims, family = model.claims, ((1, 0), (1, 1))
    summed, mean = claims.heads[0]
    mixed = Elementwise("+", (summed.outputs[0].values, summed.outputs[1].values))
    claims = replace(
        claims, over={**claims.over, mixed: (1,)},
        heads=((replace(summed, family=family), replace(mean, family=family)),),
    )  # fmt: skip
    codes = np.arange(7.0)
    known = replace(model.readouts[0], atoms=tuple(Fraction(code) for code in codes))
    other = forged(model, claims, known)
    row = (other.weights.readouts[0].weight != 0).any(axis=0)
    other.weights.readouts[0] = ReadoutWeights(
        2 * (codes - 3)[:, None] * row, -6 * (codes - 3) - (codes - 3) ** 2
    )
    return other


def a_spare_sum_with_a_default() -> Transformer:
    """At index 0 nothing is picked, and no sum is the default: index 0 is not looked at."""
    model = compiled(Kind("out = indices == 0;", "ab", 3))
    before = Select(Indices(), Indices(), "<")
    head = HeadClaim(
        "sum", (ConjunctClaim(before, (1,), (1,)),), (HeadOutputClaim(Const(1), None, 5),), (), ()
    )
    claims = replace(
        model.claims, variables=(None, None, ClaimedOutput(0, 0, 0)), spare=(head,),
        outputs=((1, 2),),
    )  # fmt: skip
    other = forged(model, claims)
    other.weights.readouts[0].bias[:] = 5, -5
    return other


def a_kind_that_is_forgotten() -> Transformer:
    """As a text, 2 is not 2.0: over a multiple of a mean, it is not certain which of them it is."""
    model = compiled(Kind("out = aggregate(select(indices, indices, <=), indices) + 1;", "ab", 3))
    mean = outputs_of(model)["out"]
    assert isinstance(mean, SOp)
    text, count = Elementwise("string", (mean,)), len(model.claims.variables)
    double = ClaimedSum(Fraction(0), {SumPart(2): Fraction(2)})
    claims = replace(
        model.claims, variables=(*model.claims.variables, double, ClaimedNode(mean)),
        over={**model.claims.over, mean: (count,), text: (count + 1,)}, outputs=((count + 1,),),
    )  # fmt: skip
    atoms = [int(atom) if atom == int(atom) else atom for atom in model.readouts[0].atoms]
    texts = tuple(apply_operator("string", (atom,)) for atom in atoms)
    other = forged(model, claims, replace(model.readouts[0], atoms=texts))
    other.words = Words({"out": text}, {}, {})
    return other


def a_mean_of_keys_that_score_far_apart() -> Transformer:
    """So far that the exponentials are beyond the largest that is looked at."""
    model = compiled(KINDS["mean"])
    other = forged(model, model.claims)
    other.weights.heads[0][0].query[:] *= 2.5
    return other


FORGERIES: dict[Callable[[], Transformer], str] = {
    default_of_a_sum: "a sum adds numbers, and is 0 where nothing is picked",
    codes_of_a_sum: "a sum adds numbers, and is 0 where nothing is picked",
    a_spare_head_that_may_pick_nothing: "a head may pick nothing",
    codes_that_are_no_line: "a mean of codes is not the code of the mean",
    a_helper_that_fails: "a helper of the compiler fails",
    a_family_of_means: "the program may answer 3, which is not among the atoms",
    a_product_with_a_constant: "an s-op is not a weighted sum",
    a_sum_that_weighs_the_bos: "no margin is left",
    two_atoms_with_one_code: "two atoms have one code",
    a_carrier_that_is_not_read: "a variable is not a number",
    a_polluted_sink: "no margin is left",
    a_count_of_what_is_no_bool: "what is counted is not a condition",
    a_condition_that_outweighs_what_is_best: "no margin is left",
    a_family_of_a_sum_and_a_mean: "the program may answer Fraction(1, 3)",
    a_spare_sum_with_a_default: "a sum adds numbers, and is 0 where nothing is picked",
    a_kind_that_is_forgotten: "an int is told from an equal float",
    a_mean_of_keys_that_score_far_apart: "a number, or its rounding error, is too large",
}


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_a_forgery_is_refused(forge: Callable[[], Transformer]) -> None:
    is_refused(forge(), FORGERIES[forge])
