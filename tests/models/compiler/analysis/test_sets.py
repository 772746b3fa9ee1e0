"""Tables that are sums, lines and narrow sums, each against all that there is."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from rasp.models.certificate.claims import INDEX, TOKEN
from rasp.models.compiler.analysis.joint_tables import BaseVariables
from rasp.models.compiler.analysis.linear import (
    Linear,
    index_is,
    of_ground,
)
from rasp.models.compiler.analysis.tables import NumberedTable, Table
from rasp.models.compiler.analysis.variables import Variable, line_through
from rasp.models.compiler.analysis.weighted_sums import narrowed
from rasp.models.compiler.settings import Settings

small = st.integers(-6, 6).map(Fraction)


grids = st.lists(small | st.none(), min_size=12, max_size=12)


@given(grids | st.tuples(
    st.lists(small, min_size=2, max_size=2), st.lists(small, min_size=3, max_size=3),
    st.lists(small, min_size=2, max_size=2), st.sets(st.integers(0, 11)),
).map(lambda each: holes(*each)))  # fmt: skip
def test_a_table_is_the_sum_of_its_parts_wherever_it_is_known(table: Table) -> None:
    inputs = tuple(Variable(0, tuple((n, Fraction(n)) for n in range(size)), False)
                   for size in (2, 3, 2))  # fmt: skip
    split = NumberedTable.of(inputs, table).summands()
    assert sorted(len(part.inputs) for part in split)[:-1] == [1] * (len(split) - 1)
    for place, state in enumerate(product(range(2), range(3), range(2))):
        parts = [looked_up(part.relevant(), inputs, state) for part in split]
        if table[place] is not None:
            assert sum(parts) == table[place]


def holes(
    first: list[Fraction], second: list[Fraction], third: list[Fraction], unknown: set[int]
) -> Table:
    sums = [one + two + three for one, two, three in product(first, second, third)]
    return [None if place in unknown else each for place, each in enumerate(sums)]


def looked_up(
    grid: NumberedTable, inputs: tuple[Variable, ...], state: tuple[int, ...]
) -> Fraction:
    place = grid.places[tuple(state[inputs.index(variable)] for variable in grid.inputs)]
    return grid.values[place] or Fraction(0)


def test_a_hole_does_not_keep_a_table_from_being_a_sum() -> None:
    pair = tuple(Variable(0, tuple((n, Fraction(n)) for n in range(size)), False)
                 for size in (2, 3))  # fmt: skip
    table = [Fraction(each) for each in (1, 2, 3)] + [None, Fraction(12), Fraction(13)]
    assert [len(part.inputs) for part in NumberedTable.of(pair, table).summands()] == [1, 1]


def test_a_line_needs_two_points() -> None:
    numbers, linear = list(map(Fraction, range(3))), Linear(Fraction(0), {index_is(0): Fraction(1)})
    assert line_through(linear, numbers, [None, Fraction(1), None]) is None
    line = line_through(linear, numbers, [Fraction(1), None, Fraction(5)])
    assert line is not None
    assert line.key == linear.times(Fraction(2)).plus(Fraction(1)).key


def sums_by_place(linear: Linear, settings: Settings) -> list[Fraction]:
    """What a sum is for each token at each index."""
    base = BaseVariables(settings)
    parts = product(base.terms(linear, base.token), base.terms(linear, base.index))
    return [linear.constant + sum(terms) for terms in parts]


@given(
    st.lists(small, min_size=3, max_size=3),
    st.lists(small, min_size=4, max_size=4),
    st.sampled_from([1, 7, 100, 20_000, 3 * 10**9, Fraction(1, 10_000)]),
)
def test_a_narrow_sum_says_what_the_sum_says(
    tokens: list[Fraction], indices: list[Fraction], factor: Fraction
) -> None:
    settings = Settings(("a", "b", "c"), 4)
    linear = of_ground(TOKEN, [factor * number for number in tokens], settings)
    linear = linear + of_ground(INDEX, indices, settings)
    narrow, code_of = narrowed(linear, BaseVariables(settings))
    numbers, codes = sums_by_place(linear, settings), sums_by_place(narrow, settings)
    assert list(map(code_of, numbers)) == codes
    places = range(len(numbers))
    assert sorted(places, key=numbers.__getitem__) == sorted(places, key=codes.__getitem__)
    assert len(set(numbers)) == len(set(codes))


def test_a_large_step_is_no_larger_than_it_has_to_be() -> None:
    settings = Settings(("a", "b"), 5)
    linear = of_ground(TOKEN, [Fraction(0), Fraction(20_000)], settings)
    linear = linear + of_ground(INDEX, list(map(Fraction, range(5))), settings)
    narrow, _ = narrowed(linear, BaseVariables(settings))
    assert sums_by_place(narrow, settings) == list(range(10))
