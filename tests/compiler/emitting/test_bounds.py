"""What certificates are made of: checks that notice, reasons in words, sets and lines."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rasp
from rasp.certificate.program.reach import Row, joint_sums
from rasp.compiler import Transformer, compile
from rasp.compiler.analysis.linear import Linear, index_is
from rasp.compiler.analysis.subset_sums import (
    MOST_BITS,
    MOST_MEANS,
    TooMany,
    means,
    subset_sums,
    sums,
)
from rasp.compiler.analysis.variables import SumVariable, line_through
from rasp.compiler.compact import build
from rasp.compiler.emitting.emitter import Emitter
from rasp.compiler.planning.piecewise import base_point
from rasp.compiler.planning.plan import make_plan
from rasp.compiler.settings import read_settings
from rasp.graph import Program


def compiled(text: str = "out = length;", length: int = 4) -> Transformer:
    return compile(rasp.run(text)["out"], vocabulary="ab", max_length=length, style="compact")


def test_a_certificate_says_why_it_does_not_hold() -> None:
    certificate = compiled().certificate
    assert certificate is not None
    assert certificate.reason == "every block holds"
    wrong = replace(certificate, wrong=2, first_wrong='"ab"')
    assert not wrong.exact
    assert wrong.statement == (
        f'not certified: 2 of {certificate.runs} random inputs went wrong, first "ab"'
    )
    assert replace(wrong, refused="a claim does not hold").reason == "a claim does not hold"
    vain = replace(certificate, runs=0, failing='"a": division by zero')
    assert vain.reason.startswith("the program fails on every input that was tried")


@pytest.mark.parametrize(
    "text",
    [
        "out = length;",
        "out = aggregate(select(tokens, tokens, <), indices);",
        "out = selector_width(select(tokens, tokens, <));",
        "out = aggregate(select(tokens, tokens, ==), indices) + length;",
    ],
)
def test_a_sink_that_is_out_of_place_is_noticed(text: str) -> None:
    nodes = {"out": rasp.run(text)["out"].node}
    plan = make_plan(
        nodes, read_settings("abc", 5, None, False, True, "paper", "compact"), Program()
    )
    assert build(plan, Program())[1].exact
    for place, head in enumerate(plan.heads[0]):
        higher = replace(head, sink=head.sink + Linear(Fraction(10**6)))
        heads = [*plan.heads[0][:place], higher, *plan.heads[0][place + 1 :]]
        assert not build(replace(plan, heads=[heads, *plan.heads[1:]]), Program())[1].exact


def test_products_that_are_not_those_of_the_comparisons_are_noticed() -> None:
    text = "out = aggregate(select(tokens, tokens, >) and select(indices, indices, <), indices);"
    program = rasp.run(text)["out"]
    settings = read_settings("abc", 4, None, False, True, "paper", "compact")
    plan = make_plan({"out": program.node}, settings, Program())
    ((head,),) = plan.heads
    noticed = 0
    for place, (query, key) in enumerate(head.products):
        changed = list(head.products)
        changed[place] = (query.plus(1000), key)
        other = replace(plan, heads=[[replace(head, products=changed)]])
        model, _, verdict = build(other, Program())
        noticed += not verdict.holds
        for tokens in product("abc", repeat=4):
            assert not verdict.holds or model(tokens) == program(tokens)
    assert noticed >= len(head.products) - 1


THIRDS = """s = select(indices, indices - 1, ==);
x = aggregate(s, tokens); y = aggregate(s, indices); z = aggregate(s, tokens^2 % 7);
a = (x + y + tokens^3 % 5) % 3; b = (x - 2 * y + tokens^2 % 3) % 3;
c = (x + K * z + tokens * (tokens + 1) % 11) % 3; d = (K * y + K * z + 2^tokens % 13) % 3;"""


@pytest.mark.parametrize("factor", [1, 1000])
def test_what_a_head_adds_is_what_its_dimensions_hold(factor: int) -> None:
    """Here a dimension takes a third of what the head moves: no small binary fraction."""
    names = rasp.run(THIRDS.replace("K", str(factor)))
    nodes = {name: names[name].node for name in "abcd"}
    plan = make_plan(
        nodes, read_settings(list(range(6)), 4, None, False, True, "paper", "compact"), Program()
    )
    emitter = Emitter(plan)
    ((head,),) = plan.heads
    outputs = head.head.outputs
    moved = np.array([[float(each.get(output, 0)) for output in outputs] for each in head.basis])
    added = emitter.head(head).out @ moved
    wanted = np.array([emitter.column(output) for output in outputs]).T
    assert np.allclose(added, wanted, rtol=1e-12, atol=1e-9)


def test_sets_that_grow_too_large_are_given_up() -> None:
    for grown, most in (
        (lambda: sums([Fraction(1), Fraction(1000), Fraction(10**6)], 90), MOST_BITS),
        (lambda: means([Fraction(0), Fraction(1), Fraction(100)], 100), MOST_MEANS),
        (lambda: subset_sums([Fraction(1 << place) for place in range(17)]), MOST_MEANS),
        (lambda: subset_sums([Fraction(30_000_000)]), MOST_BITS),
    ):
        with pytest.raises(TooMany) as caught:
            grown()
        assert caught.value.size > most


@given(
    st.lists(st.tuples(*[st.integers(-3, 3).map(Fraction)] * 2), min_size=1, max_size=3),
    st.integers(1, 4),
)
def test_rows_add_up_as_all_choices_of_them_do(rows: list[Row], most: int) -> None:
    choices = [
        each for count in range(1, most + 1) for each in combinations_with_replacement(rows, count)
    ]
    added = {each: tuple(map(sum, zip(*each, strict=True))) for each in choices}
    assert joint_sums(rows, most) == sorted({(Fraction(0),) * 2, *added.values()})
    assert joint_sums(rows, most, by_count=True) == sorted({
        tuple(number / len(each) for number in row) for each, row in added.items()
    })  # fmt: skip


def test_rows_that_take_too_long_to_add_up_are_given_up() -> None:
    rows = [(Fraction(place), Fraction(place**2)) for place in range(20)]
    assert joint_sums(rows, 200) is None
    assert joint_sums(rows, 200, by_count=True) is None


def test_a_line_needs_two_points() -> None:
    states = tuple((place, Fraction(place)) for place in range(3))
    variable = SumVariable(1, states, False, Linear(Fraction(0), {index_is(0): Fraction(1)}))
    assert line_through(variable, [None, Fraction(1), None]) is None
    line = line_through(variable, [Fraction(1), None, Fraction(5)])
    assert line is not None
    assert line.key == variable.linear.times(Fraction(2)).plus(Fraction(1)).key


def test_units_without_anything_to_make_may_face_away_from_any_point() -> None:
    points = [Fraction(3), Fraction(4)]
    assert base_point(points, []) in points
