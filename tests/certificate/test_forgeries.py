"""Claims and weights forged together by somebody who knows the checker: each is refused.

Each forgery leans on one rule that was once too weak. Its claims are a story that would be true if
that rule were; its weights follow the story, and the model answers wrong. So a rule that is made
weaker again lets its forgery pass, and the test of it fails.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from models import KINDS, Kind, compiled, expected_of, mistakes_in, outputs_of, verdict

from rasp.certificate import Inputs
from rasp.certificate.claims import (
    Claims,
    Conjunct,
    CountVariable,
    HeadClaim,
    HeadOutput,
    Meaning,
    NodeVariable,
    OutputVariable,
    ReaderClaim,
    Refused,
    SumVariable,
)
from rasp.certificate.program.values import Values
from rasp.certificate.weights.arrays import read_arrays
from rasp.certificate.weights.sink import Sink, check_sink_units, pass_sink
from rasp.certificate.weights.stream import Stream
from rasp.compiler import Transformer
from rasp.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Select,
    SOp,
    Tokens,
    TokensAs,
    apply_operator,
)
from rasp.graph.portable import graph_to_json

ONE = Fraction(1)


def forged(model: Transformer, claims: Claims, readout: Any = None) -> Transformer:
    """A copy of a model with other claims, whose weights can be changed."""
    other = copy.copy(model)
    other.weights = copy.deepcopy(model.weights)
    other.claims = replace(claims, readers=())
    if readout is not None:
        other.readouts = (readout,)
    return other


def with_head(claims: Claims, **changes: Any) -> Claims:
    """The same claims with another first head."""
    first, *others = claims.heads
    return replace(claims, heads=((replace(first[0], **changes), *first[1:]), *others))


def with_output(claims: Claims, **changes: Any) -> Claims:
    """The same claims with another first output of the first head."""
    return with_head(claims, outputs=(replace(claims.heads[0][0].outputs[0], **changes),))


def default_of_a_sum() -> Transformer:
    """Keys send values less a default, which a sum then counts once: these keys send nothing."""
    model = compiled(Kind("out = length;"))
    other = forged(model, with_output(model.claims, default=1))
    head, readout = other.weights.heads[0][0], other.weights.readouts[0]
    head.value[:] = head.value_bias[:] = 0
    readout.bias += readout.weight[:, 1]
    return other


def codes_of_a_sum() -> Transformer:
    """Keys send codes, and the sums that are listed are those of the values."""
    model = compiled(Kind("out = length;"))
    other = forged(model, with_output(model.claims, codes={1: Fraction(3)}))
    head = other.weights.heads[0][0]
    head.value *= 3
    head.value_bias *= 3
    return other


def a_spare_head_that_may_pick_nothing() -> Transformer:
    """A head without arrays is said never to be empty, so that the default never occurs."""
    model = compiled(Kind('out = aggregate(select(tokens, "b", ==), 1, 0);'))
    base = compiled(Kind("out = indices * 0 + 1;"))
    node = outputs_of(model)["out"]
    assert isinstance(node, Aggregate)
    head = HeadClaim("mean", (Conjunct(node.selector, (), (0,)),), (HeadOutput(node.values),),
                     ({0: ONE},), ((),), never_empty=True)  # fmt: skip
    claims = Claims(
        (None, None, OutputVariable(0, 0, 0)), {**model.claims.over, node: (2,)},
        {node: Meaning("mean", (2,))}, (), base.claims.groups, ((2,),), (head,),
    )  # fmt: skip
    other = forged(base, claims)
    other.graph = model.graph
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
        variables=(*model.claims.variables, NodeVariable(helper)),
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
    readout = other.weights.readouts[0]
    readout.weight, readout.bias = readout.weight[:3], readout.bias[:3]
    return other


def a_product_with_a_constant() -> Transformer:
    """width · mean is taken for c + Σ(value - c), which is right for a mean that is compared."""
    model = compiled(
        Kind('v = indicator(tokens == "a"); out = length * aggregate(select(0, 0, ==), v);')
    )
    (mean,) = [node for node, known in model.claims.aggregates.items() if known.rule == "product"]
    meaning = model.claims.aggregates[mean]
    place = model.claims.variables[meaning.outputs[0]]
    assert isinstance(place, OutputVariable)
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
    readout.bias += 4 * readout.weight @ (head.out[:, 0] * np.exp(-22))
    return other


def a_sum_that_weighs_the_bos() -> Transformer:
    """A BOS is written as index 0; a sum that weighs its token hides index 0 from all tables."""
    model = compiled(Kind("out = tokens;", "ab", 3, {"bos": "§"}))
    known = model.claims.variables
    some = SumVariable(Fraction(0), {("tok", 2): Fraction(5), ("tok", 0): ONE})
    claims = replace(model.claims, variables=(*known, some), outputs=((0, 1, len(known)),))
    other = forged(model, claims)
    other.weights.positions[0] = other.weights.positions[1]
    return other


def two_atoms_with_one_code() -> Transformer:
    """Over a multiple of an output, only the last of two atoms with one code is looked at."""
    model = compiled(Kind("out = aggregate(select(indices, 0, ==), tokens);", "ab", 3))
    double = SumVariable(Fraction(0), {("out", 2): Fraction(2)})
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
        variables=(*known, CountVariable(both.operands), *map(NodeVariable, both.operands)),
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
    known = (None, None, *map(NodeVariable, node.operands), CountVariable(node.operands))
    claims = replace(model.claims, variables=known, over=program.claims.over, outputs=((4,),))
    other = forged(model, claims)
    other.graph = program.graph
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
    weights = other.weights

    def wider(array: np.ndarray, axis: int) -> np.ndarray:
        return np.concatenate([array, np.zeros_like(array.take([0], axis))], axis)

    weights.tokens, weights.positions = wider(weights.tokens, 1), wider(weights.positions, 1)
    for head in (head for layer in weights.heads for head in layer):
        head.query, head.key, head.value = (
            wider(array, 1) for array in (head.query, head.key, head.value)
        )
        head.out = wider(head.out, 0)
    for block in weights.feed_forwards:
        block.inside, block.out = wider(block.inside, 1), wider(block.out, 0)
    for readout in weights.readouts:
        readout.weight = wider(readout.weight, 1)
    weights.heads[0][0].query[1, 0] = 160  # the sink scores itself as it does "a": it gets some x
    block = weights.feed_forwards[1]
    block.inside[:, 0] = -1000  # no hidden unit fires at the sink
    block.inside = np.vstack([block.inside, [-1000, 0, 0, 0, 6, 0, 0, 0, 0]])
    block.bias, block.out = np.append(block.bias, 0.0), wider(block.out, 1)
    block.out[8, -1] = 0.125
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
    readout = other.weights.readouts[0]
    row = (readout.weight != 0).any(axis=0)
    readout.weight = 2 * (codes - 3)[:, None] * row
    readout.bias = -6 * (codes - 3) - (codes - 3) ** 2
    return other


def a_spare_sum_with_a_default() -> Transformer:
    """At index 0 nothing is picked, and no sum is the default: index 0 is not looked at."""
    model = compiled(Kind("out = indices == 0;", "ab", 3))
    before = Select(Indices(), Indices(), "<")
    head = HeadClaim("sum", (Conjunct(before, (1,), (1,)),), (HeadOutput(Const(1), None, 5),),
                     (), ())  # fmt: skip
    claims = replace(
        model.claims, variables=(None, None, OutputVariable(0, 0, 0)), spare=(head,),
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
    double = SumVariable(Fraction(0), {("out", 2): Fraction(2)})
    claims = replace(
        model.claims, variables=(*model.claims.variables, double, NodeVariable(mean)),
        over={**model.claims.over, mean: (count,), text: (count + 1,)}, outputs=((count + 1,),),
    )  # fmt: skip
    atoms = [int(atom) if atom == int(atom) else atom for atom in model.readouts[0].atoms]
    texts = tuple(apply_operator("string", (atom,)) for atom in atoms)
    other = forged(model, claims, replace(model.readouts[0], atoms=texts))
    other.graph = graph_to_json({"out": text}, {}, {})
    return other


def a_mean_of_keys_that_score_far_apart() -> Transformer:
    """So far that the exponentials are beyond the largest that is looked at."""
    model = compiled(KINDS["mean"])
    other = forged(model, model.claims)
    other.weights.heads[0][0].query *= 0.5
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
    a_mean_of_keys_that_score_far_apart: "a number is too large",
}


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_a_forgery_is_refused(forge: Callable[[], Transformer]) -> None:
    model = forge()
    outputs = outputs_of(model)
    assert mistakes_in(model, expected_of(model, outputs))
    found = verdict(model, outputs)
    assert not found.holds
    assert FORGERIES[forge] in found.reason


# -- what else is said of a model -----------------------------------------------------------------


def test_a_program_that_fails_on_one_token_of_many_is_not_called_total() -> None:
    """The forged claim says that the output is a function of what is 1 for every token but one."""
    model = compiled(Kind("out = tokens / tokens;", list(range(50)), 1))
    outputs = outputs_of(model)
    known = model.claims.variables
    some = SumVariable(Fraction(0), {("tok", 2): ONE})
    claims = replace(
        model.claims, variables=(*known, some), outputs=((len(known),),),
        over={**model.claims.over, outputs["out"]: (len(known),)},
    )  # fmt: skip
    found = verdict(model, outputs, claims=claims)
    assert found.holds
    assert not found.total


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
                if isinstance(known, OutputVariable)]  # fmt: skip
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


# -- the sink -------------------------------------------------------------------------------------


def in_order(terms: np.ndarray) -> float:
    """A sum in float32, one after the other."""
    total = np.float32(0)
    for term in terms.astype(np.float32):
        total = np.float32(total + term)
    return float(total)


def test_a_hidden_unit_must_not_fire_at_the_sink_by_rounding() -> None:
    terms = np.array([2.0**25, *[-1.0] * 60, 36 - 2.0**25])
    assert terms.sum() < 0 < in_order(terms)
    sink = Sink(np.sign(terms), np.zeros(len(terms)))
    with pytest.raises(Refused, match="fires at the sink"):
        check_sink_units(sink, np.abs(terms)[None], np.zeros(1), "")
    check_sink_units(sink, np.abs(terms)[None], np.array([-2000.0]), "")


def test_what_the_sink_reads_is_rounded_too() -> None:
    """As a key, the sink reads 1 on paper, and 0 in float32: then it scores as any key does."""
    model = compiled(Kind('out = aggregate(select(indices, indices - 1, ==), tokens, "?");'))
    other = forged(model, model.claims)
    weights, more = other.weights, np.zeros(2)
    weights.tokens = np.hstack([weights.tokens, np.outer(weights.tokens[:, 0], more)])
    weights.positions = np.hstack([weights.positions, np.zeros((len(weights.positions), 2))])
    weights.tokens[-1, -2:] = 1
    for head in weights.heads[0]:
        head.query, head.key, head.value = (
            np.hstack([array, np.zeros((len(array), 2))])
            for array in (head.query, head.key, head.value)
        )
        head.out = np.vstack([head.out, np.zeros((2, head.out.shape[1]))])
    weights.readouts[0].weight = np.hstack(
        [weights.readouts[0].weight, np.zeros((len(weights.readouts[0].weight), 2))]
    )
    assert verdict(other, outputs_of(other)).holds
    key = weights.heads[0][0].key
    row = int(np.flatnonzero(key @ weights.tokens[-1])[-1])
    assert 0 < np.abs(key[row] @ weights.tokens[-1]) < 1000
    key[row, -2:] = 2.0**40, -(2.0**40)
    assert in_order(np.array([key[row, 0], *key[row, -2:]])) == 0
    assert not verdict(other, outputs_of(other)).holds


def test_a_sink_that_is_off_may_not_score_itself_highest() -> None:
    model = compiled(Kind('out = aggregate(select(indices, indices - 1, ==), tokens, "?");'))
    arrays = read_arrays(model.weights.arrays(), [1], [0, 0], 1)
    settings, outputs = model.settings, outputs_of(model)
    values = Values(
        model.claims, Inputs(settings.vocabulary, settings.max_length), [*outputs.values()]
    )
    stream = Stream(values, arrays.tokens[:-1], arrays.positions)
    head = arrays.heads[0][0]
    head.key[2, 4] = 1  # which only keys read, and nothing has written yet
    assert not head.query[:, 4].any() and not stream.size[4]
    sink = Sink(arrays.tokens[-1], np.zeros(len(stream.error)))
    pass_sink(stream, sink, [head])
    assert sink.error.max() < 1e-9
    sink.error[4] = 1e6
    pass_sink(stream, sink, [head])
    assert sink.error[4] > 1e7
