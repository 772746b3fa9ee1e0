"""Claims about programs that no rule of the checker may believe, whatever the arrays are."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from forging import NOTHING, ONE, handmade, is_refused, node_of

import rasp
from models import Kind, compiled, expected_of, mistakes_in, outputs_of, verdict
from rasp.language.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Select,
    SelectorOr,
    SOp,
    Tokens,
    in_order,
)
from rasp.models.certificate.claims import (
    INDEX,
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

PICKS = {
    "strings": """x = aggregate(select(indices, 0, ==), tokens);
                  y = aggregate(select(indices, 1, ==), tokens, "c");""",
    "defaults": """x = aggregate(select(indices, 2, ==), indices, "c");
                   y = aggregate(select(indices, 2, ==), indices, "d");""",
}


@pytest.mark.parametrize("names", PICKS)
def test_strings_do_not_add_up(names: str) -> None:
    """`x + y` of numbers is `y + x`, whatever they are; of strings it is not."""
    out = node_of(PICKS[names] + " out = (x + y == y + x);")
    picks = [node for node in in_order([out]) if isinstance(node, Aggregate)]
    heads = tuple(
        HeadClaim("mean", (ConjunctClaim(node.selector, (), (1,)),),
                  (HeadOutputClaim(node.values, None, node.default),), ({0: ONE},), ((),))
        for node in picks
    )  # fmt: skip
    over = {node: () for node in in_order([out]) if isinstance(node, Elementwise)}
    claims = Claims(
        (None, None, ClaimedOutput(0, 0, 0), ClaimedOutput(0, 1, 0)),
        {**over, **{node: (place,) for place, node in enumerate(picks, 2)}},
        {node: Meaning("mean", (place,)) for place, node in enumerate(picks, 2)},
        (), ((),), ((),), spare=heads,
    )  # fmt: skip
    arrays = {"tokens": np.zeros((2, 1)), "positions": np.zeros((3, 1)),
              "output0.weight": np.zeros((2, 1)), "output0.bias": [0, 1]}  # fmt: skip
    model = handmade(out, claims, arrays, (False, True))
    assert mistakes_in(model, expected_of(model, outputs_of(model)))
    assert not verdict(model, outputs_of(model)).holds


def test_a_bos_is_the_last_token() -> None:
    """It is known by its place: of another one, nothing that is said would be true."""
    model = compiled(Kind("out = tokens;", "ab", 3, {"bos": "§"}))
    model.settings = replace(model.settings, bos="a")
    assert "the BOS is not the last token" in verdict(model, outputs_of(model)).reason
    model.settings = replace(model.settings, bos=None, vocabulary=("a", "b", "a"))
    assert "every token once" in verdict(model, outputs_of(model)).reason


def test_a_program_that_makes_a_number_too_large_is_not_called_total() -> None:
    """A product of numbers has no value where it is over the limit, and 10^900 is a number."""
    squares = "".join("x = x * x; " for _ in range(3))
    model = compiled(Kind(f"x = tokens; {squares} out = x > 5;", [1, 10**900], 2))
    found = verdict(model, outputs_of(model))
    assert found.holds
    assert not found.total


@pytest.mark.parametrize(("bits", "doublings"), [(3000, 0), (100, 60)])
def test_a_mean_of_many_fractions_is_not_called_total(bits: int, doublings: int) -> None:
    """Eight fractions of 900 digits are fine, and their mean has 7,000. It is asked for nothing
    but 0 times itself; or so often that nobody can look at every part of the program twice.
    """
    parts = [f"1/{2**bits + 2 * place + 1} if indices == {place} else " for place in range(8)]
    out = node_of(f"""x = {"".join(parts)} 0; s = select(indices, indices, <=);
                      y = (indices + 1) * aggregate(s, x); {"y = y + y; " * doublings}
                      out = 0 * y;""")
    (mean,) = [node for node in in_order([out]) if isinstance(node, Aggregate)]
    head = HeadClaim(
        "sum",
        (ConjunctClaim(mean.selector, (1,), (1,)),),
        (HeadOutputClaim(mean.values),),
        ({0: ONE},),
        ((1,),),
        never_empty=True,
    )
    inside = dict.fromkeys(in_order([mean.values]), (1,))
    around = {node: (2,) for node in in_order([out]) if node not in inside}
    for node in around:
        if isinstance(node, Elementwise) and mean not in in_order([node]):
            around[node] = (1,)
    claims = Claims((None, None, ClaimedOutput(0, 0, 0)), {**inside, **around, out: ()},
                    {mean: Meaning("product", (2,))}, (), ((),), ((),), spare=(head,))  # fmt: skip
    arrays = {"tokens": np.zeros((2, 1)), "positions": np.zeros((8, 1)),
              "output0.weight": np.zeros((2, 1)), "output0.bias": [1, 0]}  # fmt: skip
    model = handmade(out, claims, arrays, (Fraction(0), Fraction(1)))
    found = verdict(model, outputs_of(model))
    assert found.holds, found.reason
    assert not found.total


def test_no_index_is_left_out() -> None:
    """A sum with a part -1 is always 0, and 1 at the last index: so that is never looked at."""
    out = node_of("f = 1 / tokens; out = indices == 1 and f > 0;")
    at_one, is_above = out.operands
    (inverse, _) = is_above.operands
    claims = Claims(
        (None, None, ClaimedSum(NOTHING, {SumPart(INDEX, -1): ONE}), ClaimedNode(inverse)),
        {out: (1, 2, 3), at_one: (1,), is_above: (3,), inverse: (0,)}, {}, (), ((),),
        ((1, 2, 3),),
    )  # fmt: skip
    arrays = {"tokens": np.zeros((2, 1)), "positions": np.zeros((2, 1)),
              "output0.weight": np.zeros((2, 1)), "output0.bias": [1, 0]}  # fmt: skip
    model = handmade(out, claims, arrays, (False, True), (0, 1))
    assert mistakes_in(model, expected_of(model, outputs_of(model)))
    assert not verdict(model, outputs_of(model)).holds


SHARED = """s = select(tokens, "a", ==); first = select(indices, 0, ==);
            light = indicator(indices == 0); later = indicator(indices > 0);
            x = aggregate(s and first, light); y = aggregate(s or first, light);
            none = x == 0 and y == 1;
            some = aggregate(first or s, light);
            lost = aggregate(select(none, True, ==) or first, light);
            promise = 1 / some + 1 / lost >= 3;"""


def test_a_promise_does_not_say_that_its_own_shares_are_shares() -> None:
    """Where nothing is picked, two heads give no shares, and `none` is true, which keeps the
    promise. The forged claims read the promise as if something were picked always; then it says
    that this is so.
    """
    nodes = {name: known.node for name, known in rasp.run(SHARED).items() if hasattr(known, "node")}
    none, where, light = nodes["none"], nodes["promise"], nodes["light"]
    picks, is_none = nodes["s"], Select(none, Const(True), "==")
    shares = [
        HeadClaim("share", (ConjunctClaim(picks, (), (0,)),), (HeadOutputClaim(light),),
                  ({0: ONE},), ((1,),), never_empty=True, weight=Fraction(2), outweighs=outweighs)
        for outweighs in (False, True)
    ]  # fmt: skip
    sums = [
        HeadClaim("sum", (ConjunctClaim(selector, (), keys),), (HeadOutputClaim(nodes["later"]),),
                  ({0: ONE},), ((1,),))
        for selector, keys in ((picks, (0,)), (is_none, (4,)))
    ]  # fmt: skip
    both, counts = ({SumPart(2): ONE, SumPart(3): ONE}, {SumPart(5): ONE, SumPart(6): ONE})
    variables = (None, None, ClaimedOutput(0, 0, 0), ClaimedOutput(0, 1, 0),
                 ClaimedSum(NOTHING, both), ClaimedOutput(0, 2, 0), ClaimedOutput(0, 3, 0),
                 ClaimedSum(2 * ONE, counts))  # fmt: skip
    over = dict.fromkeys(in_order([light, nodes["later"]]), (1,))
    over |= {node: (4,) for node in in_order([none]) if node not in over}
    over |= {where: (7,), where.operands[0]: (7,)}
    for place, name in ((5, "some"), (6, "lost")):
        share = nodes[name]
        over |= {share: (place,), Elementwise("/", (Const(1), share)): (place,)}
    meanings = {nodes["x"]: Meaning("shares", (2, 3)), nodes["y"]: Meaning("shares", (2, 3), ONE),
                nodes["some"]: Meaning("count", (5,), ONE),
                nodes["lost"]: Meaning("count", (6,), ONE)}  # fmt: skip
    claims = Claims(variables, over, meanings, (), ((),), ((4,),), spare=(*shares, *sums))
    arrays = {"tokens": np.zeros((2, 1)), "positions": np.zeros((3, 1)),
              "output0.weight": np.zeros((2, 1)), "output0.bias": [1, 0]}  # fmt: skip
    model = handmade(none, claims, arrays, (False, True), where=where)
    is_refused(model, "may pick nothing")


LIGHT = """first = select(indices, 0, ==); light = indicator(indices == 0);
           v = (1 if tokens == "a" else 2) if indices == 0 else 0; n = aggregate(first, v);
           some = aggregate(select(tokens, "a", ==) or first, light);
           promise = (tokens == "b" or indices > 0) and 1 / some == 2;
           every = aggregate(full_s, light); out = 1 / every + 0 * n;"""


def test_a_promise_is_read_without_what_only_the_promise_makes_true() -> None:
    """`n` is 2 where the promise is kept, and may be 1 elsewhere. Without the promise, the forged
    claims take it for 1, so that a head that looks everywhere seems to count what the promise does.
    """
    names = rasp.run(LIGHT)
    out, where, some, every, n = (
        names[name].node for name in ("out", "promise", "some", "every", "n")
    )
    later = node_of("out = indicator(indices > 0);")
    picks = SelectorOr(Select(Tokens(), Const("a"), "=="), Select(n, Const(1), "!="))
    head = HeadClaim("sum", (ConjunctClaim(picks, (), (0,)),), (HeadOutputClaim(later),),
                     ({0: ONE},), ((1,),))  # fmt: skip

    def over(node: SOp) -> tuple[int, ...]:
        inside = {*in_order([node])}
        if {some, every} & inside:
            return (0, 1, 2) if node is where else (2,)
        ground = [place for place, each in enumerate((Tokens(), Indices())) if each in inside]
        return () if n in inside else tuple(ground)

    nodes = [node for node in in_order([out, where, later]) if isinstance(node, SOp)]
    meanings = {n: Meaning("pick", (), ONE), some: Meaning("count", (2,), ONE),
                every: Meaning("count", (2,), ONE)}  # fmt: skip
    claims = Claims((None, None, ClaimedOutput(0, 0, 0)), {node: over(node) for node in nodes},
                    meanings, (), ((),), ((2,),), spare=(head,))  # fmt: skip
    arrays = {"tokens": np.zeros((2, 1)), "positions": np.zeros((4, 1)),
              "output0.weight": np.zeros((2, 1)), "output0.bias": [1, 0]}  # fmt: skip
    model = handmade(out, claims, arrays, (Fraction(2), Fraction(3)), where=where)
    is_refused(model, "")
