"""The parts that planning is made of, each against an oracle of its own."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rasp.models.compiler.analysis.linear import Linear, token_is
from rasp.models.compiler.planning.dimensions import Demand, lay_out
from rasp.models.compiler.planning.piecewise import base_point, chords, evaluated, one_sided, smooth

small = st.integers(-6, 6).map(Fraction)
graphs = st.dictionaries(
    st.integers(-20, 20).map(Fraction), st.sampled_from([0, 0, 0, 1, 1, 5]).map(Fraction),
    min_size=1, max_size=30,
) | st.dictionaries(st.integers(-20, 20).map(Fraction), small, min_size=1, max_size=12)  # fmt: skip


@settings(deadline=None)
@given(graphs, st.booleans())
def test_kinks_pass_through_every_point(table: dict[Fraction, Fraction], inexact: bool) -> None:
    points = sorted(table)
    values = [table[point] for point in points]
    kinks = (smooth if inexact else chords)(points, values)
    made = one_sided(kinks, base_point(points, [(values, kinks)]), points[0])
    start = evaluated(made, points[0])
    for point, value in zip(points, values, strict=True):
        assert evaluated(made, point) - start == value - values[0]
        if inexact:
            assert all(position != point for position, _ in made)
    if not inexact:  # of whole numbers, so that float32 rounds no slope
        assert all(change.denominator & (change.denominator - 1) == 0 for change in kinks.values())


@given(st.lists(st.lists(small, min_size=4, max_size=4), min_size=1, max_size=6))
def test_a_layout_has_as_many_dimensions_as_the_demands_have_rank(
    rows: list[list[Fraction]],
) -> None:
    functions = [
        Linear(Fraction(0), {token_is(place): each for place, each in enumerate(row) if each})
        for row in rows
    ]
    layout = lay_out([Demand(1, each) for each in functions])
    matrix = np.array([[float(each) for each in row] for row in rows])
    assert len(layout.dimensions) == np.linalg.matrix_rank(matrix)
    for function in functions:
        total = Linear()
        for place, weight in layout.read(function).items():
            total = total + layout.dimensions[place].times(weight)
        assert total.key == function.key


def test_units_without_anything_to_make_may_face_away_from_any_point() -> None:
    points = [Fraction(3), Fraction(4)]
    assert base_point(points, []) in points
