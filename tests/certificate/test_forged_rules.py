"""Models written by hand, with claims that no rule of the checker may believe: each is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from models import (
    AB,
    Arrays,
    Kind,
    all_inputs,
    compiled,
    expected_of,
    mistakes_in,
    outputs_of,
    verdict,
)
from test_forgeries import ONE, forged, with_head
from test_forgeries import in_order as added_in_order

import rasp
from rasp.atoms import Atom
from rasp.certificate import Inputs, check
from rasp.certificate import Readout as CheckedReadout
from rasp.certificate.claims import (
    Claims,
    Conjunct,
    GroupClaim,
    HeadClaim,
    HeadOutput,
    Meaning,
    NodeVariable,
    OutputVariable,
    ReaderClaim,
    SumVariable,
)
from rasp.certificate.program.values import Values
from rasp.certificate.weights.arrays import HeadArrays
from rasp.certificate.weights.scores import Scorer
from rasp.certificate.weights.stream import Stream
from rasp.compiler import Transformer
from rasp.compiler.emitting.weights import FeedForwardWeights, HeadWeights, ReadoutWeights, Weights
from rasp.compiler.model.describe import Description
from rasp.compiler.model.transformer import Readout, attend, feed_forward
from rasp.compiler.settings import Settings
from rasp.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Node,
    Select,
    SelectorOr,
    SOp,
    Tokens,
    in_order,
)
from rasp.graph.portable import graph_to_json

NOTHING = Fraction(0)
MEANS = sorted({Fraction(some, whole) for whole in (1, 2, 3) for some in range(whole + 1)})
IS_A = 'out = tokens == "a";'


def node_of(text: str, name: str = "out") -> Any:
    return rasp.run(text)[name].node


def handmade(
    out: Node, claims: Claims, arrays: Mapping[str, Any], atoms: Sequence[Atom],
    vocabulary: Sequence[Atom] = AB, where: SOp | None = None,
) -> Transformer:  # fmt: skip
    """A model of such arrays; those of a head that are left out are 0."""
    found = {name: np.array(array, float) for name, array in arrays.items()}
    length, size = found["positions"].shape
    heads = [[_head(found, f"layer{layer}.head{number}.", size)
              for number in range(1, len(some) + 1)]
             for layer, some in enumerate(claims.heads, 1)]  # fmt: skip
    blocks = []
    for layer in range(len(heads) + 1):
        names = [f"layer{layer}.feed_forward.{part}" for part in ("inside", "bias", "out")]
        empty = np.zeros((0, size)), np.zeros(0), np.zeros((size, 0))
        parts = (found.get(name, none) for name, none in zip(names, empty, strict=True))
        blocks.append(FeedForwardWeights(*parts))
    readout = ReadoutWeights(found["output0.weight"], found["output0.bias"])
    weights = Weights(found["tokens"], found["positions"], heads, blocks, [readout])
    settings = Settings(tuple(vocabulary), length, where=where, where_name="promise")
    return Transformer(
        settings, weights, (Readout("out", tuple(atoms), (), True),),
        len(weights.tokens) > len(vocabulary), Description((), (), ()), claims,
        graph_to_json({"out": out}, {}), None,
    )  # fmt: skip


def _head(found: Arrays, name: str, size: int) -> HeadWeights:
    parts = {part: np.zeros((1, size)) for part in ("query", "key", "value")}
    parts |= {f"{part}_bias": np.zeros(1) for part in parts}
    parts |= {key.removeprefix(name): array for key, array in found.items() if name in key}
    return HeadWeights(**parts)


def over_tokens(*nodes: SOp) -> dict[Node, tuple[int, ...]]:
    """Everything that is made of tokens alone, as a function of the token."""
    return {node: (0,) for node in in_order(nodes) if isinstance(node, Elementwise)}


# -- claims about what there is -------------------------------------------------------------------


def another_first_variable() -> Transformer:
    """The first variable is the token, and said to be the index: so the one is the other."""
    base = compiled(Kind("out = tokens;", [0, 1, 2], 3))
    claims = Claims((NodeVariable(Indices()), None), {}, {}, (), ((),), ((0,),))
    other = forged(base, claims)
    other.graph = graph_to_json({"out": Indices()}, {})
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
    head = HeadClaim("share", (), (HeadOutput(Const(0)),), ({0: ONE},), ((),), never_empty=True,
                     weight=Fraction(1000), outweighs=True)  # fmt: skip
    claims = Claims((None, None, OutputVariable(1, 0, 0)), {out: (0,)}, {}, ((head,),),
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
    head = HeadClaim("sum", (), (HeadOutput(out, None, False, 0),), ({0: ONE},), ((0,),))
    claims = Claims((None, None, OutputVariable(1, 0, 0)), {out: (0,)}, {}, ((head,),),
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
    output = HeadOutput(Tokens(), {"a": NOTHING, "b": ONE})
    head = HeadClaim("mean", (), (output,), ({0: ONE},), ((0,),), never_empty=True)
    claims = Claims((None, None, OutputVariable(1, 0, 0)), {out: (0,)}, {}, ((head,),),
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
    other = forged(model, with_head(model.claims, conjuncts=(Conjunct(wider, (), (0,)),)))
    other.weights.tokens[1] = other.weights.tokens[0]
    return other


def a_text_that_is_not_everywhere() -> Transformer:
    """1 or 1.0 is one number at all positions, and two texts: not every key is equal to a query."""
    one = node_of("out = aggregate(select(tokens, tokens, ==), 1);")
    text, is_a = Elementwise("string", (one,)), node_of('out = indicator(tokens == "a");')
    out = Aggregate(Select(text, text, "=="), is_a, 0)
    head = HeadClaim("mean", (), (HeadOutput(is_a),), ({0: ONE},), ((0,),), never_empty=True)
    spare = HeadClaim("mean", (Conjunct(one.selector, (0,), (0,)),), (HeadOutput(one.values),),
                      ({0: ONE},), ((),), never_empty=True)  # fmt: skip
    claims = Claims(
        (None, None, OutputVariable(1, 0, 0), OutputVariable(0, 0, 0)),
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
    head = HeadClaim("sum", (), (HeadOutput(one.values), HeadOutput(other.values)),
                     ({0: ONE}, {1: ONE}), ((0,), (0,)))  # fmt: skip
    claims = Claims(
        (None, None, OutputVariable(1, 0, 0), OutputVariable(1, 0, 1), NodeVariable(ratio)),
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
    some = SumVariable(NOTHING, {("tok", 1): ONE})
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
    head = HeadClaim("mean", (Conjunct(out.selector, (0,), (0,)),), (HeadOutput(out.values),),
                     ({0: ONE},), ((0,),), never_empty=True)  # fmt: skip
    claims = Claims(
        (None, None, OutputVariable(1, 0, 0)), {out: (2,), **over_tokens(out.values)},
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
    """Hidden units write 10^60 where nothing reads it: 0 times infinity is no number."""
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
    errors_of_queries_times_errors_of_keys: "a number is too large",
    a_number_that_is_infinite: "a number is too large",
    a_number_that_vanishes: "no margin is left",
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


def test_a_choice_is_not_read_where_it_leaves_something_open() -> None:
    """A row that reads whether the token is "a", everywhere, and is said to read `out`."""
    out = node_of('out = (tokens == "a") if (indices == 0) else False;')
    first, is_a, no = out.operands
    which = Elementwise("if", (first, Const(0), Const(1)))
    claims = Claims(
        (None, None, NodeVariable(out), NodeVariable(which)),
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
        "mean", (Conjunct(out.selector, (0,), (0,)),), (HeadOutput(Tokens(), is_block=True),),
        ({0: ONE},), ((0, 1),), never_empty=True,
    )  # fmt: skip
    claims = Claims((None, None, OutputVariable(1, 0, 0)), {out: (2,)},
                    {out: Meaning("mean", (2,))}, ((head,),), ((), ()), ((2,),))  # fmt: skip
    arrays = {
        "tokens": [[1, 0, 0], [-1, 0, 0]], "positions": [[0, 0.2, 0], [0, -0.2, 0]],
        "layer1.head1.query": [[100, 0, 0]], "layer1.head1.key": [[1, 0, 0]],
        "layer1.head1.value": [[1, 1, 0]], "layer1.head1.out": [[0], [0], [1]],
        "output0.weight": [[0, 0, -1], [0, 0, 1]], "output0.bias": [0, 0],
    }  # fmt: skip
    return handmade(out, claims, arrays, (Fraction(-1), Fraction(1)), (1, -1))


@pytest.mark.parametrize("make", [a_sum_of_many, picks_that_send_different_numbers])
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
    bias = model.weights.readouts[0].bias = model.weights.readouts[0].bias.astype(np.float32)
    terms = (rows * embedded[1]).astype(np.float32)
    scores = terms.sum(axis=1, dtype=np.float64) + bias
    assert scores[0] - scores[1] > 0.005
    added = [added_in_order(np.append(row[::-1], number))
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
    total = added_in_order(np.append(terms, [-number + moved * (1 - 1e-7)]))
    assert total > 0
    inputs = Inputs(AB, 1)
    readouts = [CheckedReadout("out", (False, True), (), True)]
    found = check(model.weights.arrays(), {"out": out}, inputs, readouts, claims, radius)
    assert not found.holds
    assert check(model.weights.arrays(), {"out": out}, inputs, readouts, claims, radius / 2).holds


def test_the_score_of_a_sink_that_is_off_is_rounded() -> None:
    """4097 · 4095 is a number of float32; where the sink holds a little more, it is rounded."""
    out = node_of(IS_A)
    head = HeadClaim("mean", (), (HeadOutput(Const(0)),), ({0: ONE},), ((),), never_empty=True)
    claims = Claims((None, None, OutputVariable(1, 0, 0)), {out: (0,)}, {}, ((head,),),
                    ((), ()), ((0,),))  # fmt: skip
    values = Values(claims, Inputs(AB, 1), [out])
    stream = Stream(values, np.zeros((2, 1)), np.zeros((1, 1)))
    none = np.zeros((1, 1))
    arrays = HeadArrays(none, np.array([4097.0]), none, np.zeros(1), none, np.zeros(1), none)
    held, off = 4095.0, 2.0**-9
    scores = Scorer(stream, head, arrays).scores(np.array([held]), np.array([off]))
    wrong = float(np.float32(4097) * np.float32(held + off)) - 4097 * held
    assert 4097 * off < wrong <= scores.sink_error
