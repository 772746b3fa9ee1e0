"""Claims that are true only if they are believed: each rests on itself, and is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
import pytest
from forging import NOTHING, ONE, handmade, is_refused, node_of, over_tokens

import rasp
from rasp.base.atoms import Atom
from rasp.language.graph import Aggregate, Const, Elementwise, Node, Select, SOp
from rasp.models.certificate.claims import (
    ClaimedNode,
    ClaimedOutput,
    ClaimedSum,
    ClaimedVariable,
    Claims,
    ConjunctClaim,
    HeadClaim,
    HeadOutputClaim,
    Meaning,
    SumPart,
)
from rasp.models.compiler import Transformer

OUTPUT = ClaimedOutput(0, 0, 0)
NUMBERS = (Fraction(0), Fraction(1))
LIGHT = "light = indicator(indices == 0);"
SOME = """some = aggregate(select(tokens, "b", ==), 1, 0);
          sure = tokens == tokens;"""


def nodes_of(text: str, *names: str) -> list[SOp]:
    program = rasp.run(text)
    return [program[name].node for name in names]


def answers_one(
    out: SOp, variables: tuple[ClaimedVariable, ...], over: Mapping[Node, tuple[int, ...]],
    meanings: Mapping[SOp, Meaning], heads: tuple[HeadClaim, ...],
    answers: tuple[Atom, Atom] = NUMBERS,
) -> Transformer:  # fmt: skip
    """A model that gives the second answer on every input, said to be a function of an output."""
    aggregates = {node: meaning for node, meaning in meanings.items()
                  if isinstance(node, Aggregate)}  # fmt: skip
    claims = Claims((None, None, *variables), over, aggregates, (), ((),), ((2,),), spare=heads)
    arrays = {"tokens": np.zeros((2, 1)), "positions": np.zeros((3, 1)),
              "output0.weight": np.zeros((2, 1)), "output0.bias": [0, 1]}  # fmt: skip
    return handmade(out, claims, arrays, answers)


def ones(selector: Select, mode: str = "mean") -> HeadClaim:
    """A head that averages ones, always picking some; or adds up ones."""
    return HeadClaim(mode, (ConjunctClaim(selector, (), ()),), (HeadOutputClaim(Const(1)),),
                     ({0: ONE},), ((),), never_empty=mode == "mean")  # fmt: skip


def a_value_that_is_nowhere() -> Transformer:
    """`never` is said to have no value on any input, by a head whose selector looks at `never`.
    So no case is left in which that selector, or any other that looks at `never`, could be wrong.
    """
    out, never, some, sure, light = nodes_of(
        LIGHT + SOME + """never = aggregate(select(indices, 0, ==), light);
                          out = some if sure else never;""",
        "out", "never", "some", "sure", "light",
    )  # fmt: skip
    picks = Select(never, Const(0), "==")
    over = {light: (1,), light.needs[0]: (1,), never: (3,), some: (2,), sure: (0,), out: (2,)}
    meanings = {never: Meaning("count", (3,), Fraction(-9)), some: Meaning("mean", (2,))}
    return answers_one(out, (OUTPUT, ClaimedOutput(0, 1, 0)), over, meanings,
                       (ones(picks), ones(picks, "sum")))  # fmt: skip


def values_that_are_nowhere() -> Transformer:
    """`mean` is said to be 1, as if no value were above that: of `mean`'s values, less 1, there are
    said to be none, since they are a function of what fails where `mean` is 1.
    """
    out, mean, fails, some, sure = nodes_of(
        SOME + """mean = aggregate(full_s, 2 if tokens == "a" else 1);
                  fails = 1 / indicator(mean > 1);
                  out = some if sure else fails + aggregate(select(tokens, indices, ==), 1);""",
        "out", "mean", "fails", "some", "sure",
    )  # fmt: skip
    assert isinstance(mean, Aggregate)
    less, number = Elementwise("-", (mean.values, Const(1))), Elementwise("+", (Const(1),) * 2)
    is_above = fails.needs[1].needs[0]
    over = {**over_tokens(mean.values), less: (3,), number: (3,), is_above: (), fails: (),
            fails.needs[1]: (), some: (2,), sure: (0,), out: (2,)}  # fmt: skip
    meanings = {mean: Meaning("ratio", (), ONE), some: Meaning("mean", (2,))}
    return answers_one(out, (OUTPUT, ClaimedNode(fails)), over, meanings,
                       (ones(Select(number, Const(0), "==")),))  # fmt: skip


def a_sum_that_is_nowhere() -> Transformer:
    """`share` is 1 over a sum of two outputs, which is said to be 0 since what they add up, taken
    together, is said to be a function of `never`; and `never` is what looks at `share`.
    """
    out, never, some, sure, share, light = nodes_of(
        LIGHT + SOME + """share = aggregate(full_s, light);
                          never = aggregate(select(indices, 0, ==), light);
                          out = some if sure else never + share;""",
        "out", "never", "some", "sure", "share", "light",
    )  # fmt: skip
    one, other = (node_of(f"out = indicator({text});")
                  for text in ('tokens == "a"', 'not (tokens == "a")'))  # fmt: skip
    picks = Select(share, Const(0), "==")
    all_of = HeadClaim("sum", (), (HeadOutputClaim(one), HeadOutputClaim(other)),
                       ({0: ONE}, {1: ONE}), ((0,), (0,)))  # fmt: skip
    variables = (OUTPUT, ClaimedOutput(0, 1, 0), ClaimedOutput(0, 2, 0), ClaimedOutput(0, 2, 1),
                 ClaimedSum(NOTHING, {SumPart(4): ONE, SumPart(5): ONE}),
                 ClaimedNode(never))  # fmt: skip
    over: dict[Node, tuple[int, ...]] = {
        light: (1,), light.needs[0]: (1,), never: (3,), some: (2,), sure: (0,), out: (2,),
        share: (6,), Elementwise("+", (one, other)): (7,),
    }  # fmt: skip
    over |= over_tokens(one, other)
    meanings = {never: Meaning("count", (3,), Fraction(-9)), some: Meaning("mean", (2,)),
                share: Meaning("count", (4, 5))}  # fmt: skip
    return answers_one(out, variables, over, meanings,
                       (ones(picks), ones(picks, "sum"), all_of))  # fmt: skip


def a_mean_that_fails_nowhere() -> Transformer:
    """Several bools are never averaged, since `lone` would fail: `lone` is only asked for where
    there are not several, which `few` tells; and `few` is known since several are never averaged.
    """
    out, lone, few, count, first = nodes_of(
        """picks = select(tokens, "a", ==); first = indices == 0;
           count = aggregate(picks, indicator(first));
           few = (count == 0) or (count == 1);
           lone = aggregate(picks and select(True, few, ==), first, False);
           out = few or lone;""",
        "out", "lone", "few", "count", "first",
    )  # fmt: skip
    assert isinstance(count, Aggregate)
    head = HeadClaim(
        "mean", (ConjunctClaim(count.selector, (), (0,)),),
        (HeadOutputClaim(first, None, False), HeadOutputClaim(count.values, None, 0)),
        ({0: ONE}, {1: ONE}), ((1,), (1,)),
    )  # fmt: skip
    over = {count: (3,), lone: (2,), first: (1,), count.values: (1,), few: (2, 3), out: (2, 3),
            **dict.fromkeys(few.needs, (3,))}  # fmt: skip
    meanings = {lone: Meaning("mean", (2,)), count: Meaning("mean", (3,))}
    return answers_one(out, (OUTPUT, ClaimedOutput(0, 0, 1)), over, meanings, (head,),
                       (False, True))  # fmt: skip


FORGERIES: tuple[Callable[[], Transformer], ...] = (
    a_value_that_is_nowhere,
    values_that_are_nowhere,
    a_sum_that_is_nowhere,
    a_mean_that_fails_nowhere,
)


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_a_claim_that_rests_on_itself_is_refused(forge: Callable[[], Transformer]) -> None:
    is_refused(forge(), "claims tell of something by itself")
