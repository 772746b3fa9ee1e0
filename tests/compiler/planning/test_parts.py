"""The compiler's parts, each against an oracle of its own."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import rasp
from rasp.compiler import compile
from rasp.compiler.analysis.linear import Linear, token_is
from rasp.compiler.analysis.subset_sums import means, subset_sums, sums
from rasp.compiler.analysis.tables import Table, relevant, summands
from rasp.compiler.analysis.variables import Variable
from rasp.compiler.planning.dimensions import Demand, lay_out
from rasp.compiler.planning.piecewise import base_point, chords, evaluated, one_sided, smooth

small = st.integers(-6, 6).map(Fraction)
graphs = st.dictionaries(
    st.integers(-20, 20).map(Fraction), st.sampled_from([0, 0, 0, 1, 1, 5]).map(Fraction),
    min_size=1, max_size=30,
) | st.dictionaries(st.integers(-20, 20).map(Fraction), small, min_size=1, max_size=12)  # fmt: skip


@settings(deadline=None)
@given(graphs, st.booleans())
def test_kinks_pass_through_every_point(table: dict[Fraction, Fraction], noisy: bool) -> None:
    points = sorted(table)
    values = [table[point] for point in points]
    kinks = (smooth if noisy else chords)(points, values)
    made = one_sided(kinks, base_point(points, [(values, kinks)]), points[0])
    start = evaluated(made, points[0])
    for point, value in zip(points, values, strict=True):
        assert evaluated(made, point) - start == value - values[0]
        if noisy:
            assert all(position != point for position, _ in made)
    if not noisy:  # of whole numbers, so that float32 rounds no slope
        assert all(change.denominator & (change.denominator - 1) == 0 for change in kinks.values())


@given(st.lists(st.integers(-4, 4).map(Fraction), min_size=1, max_size=4), st.integers(1, 4))
def test_sums_and_means_are_those_of_all_choices(values: list[Fraction], most: int) -> None:
    choices = [
        each for count in range(most + 1) for each in combinations_with_replacement(values, count)
    ]
    assert sums(values, most) == sorted({sum(each, Fraction(0)) for each in choices})
    assert means(values, most) == sorted({sum(each) / len(each) for each in choices if each})


@given(st.lists(st.integers(-4, 4).map(Fraction), min_size=1, max_size=6))
def test_subset_sums_are_those_of_all_subsets(values: list[Fraction]) -> None:
    chosen = product(*([Fraction(0), value] for value in values))
    assert subset_sums(values) == sorted({sum(each, Fraction(0)) for each in chosen})


grids = st.lists(small | st.none(), min_size=12, max_size=12)


@given(grids | st.tuples(
    st.lists(small, min_size=2, max_size=2), st.lists(small, min_size=3, max_size=3),
    st.lists(small, min_size=2, max_size=2), st.sets(st.integers(0, 11)),
).map(lambda each: holes(*each)))  # fmt: skip
def test_a_table_is_the_sum_of_its_parts_wherever_it_is_known(table: Table) -> None:
    inputs = tuple(Variable(0, tuple((n, Fraction(n)) for n in range(size)), False)
                   for size in (2, 3, 2))  # fmt: skip
    split = summands(inputs, table)
    assert sorted(len(some) for some, _ in split)[:-1] == [1] * (len(split) - 1)
    for place, state in enumerate(product(range(2), range(3), range(2))):
        parts = [looked_up(relevant(some, part), inputs, state) for some, part in split]
        if table[place] is not None:
            assert sum(parts) == table[place]


def holes(
    first: list[Fraction], second: list[Fraction], third: list[Fraction], unknown: set[int]
) -> Table:
    sums = [one + two + three for one, two, three in product(first, second, third)]
    return [None if place in unknown else each for place, each in enumerate(sums)]


def looked_up(
    function: tuple[tuple[Variable, ...], Table], inputs: tuple[Variable, ...],
    state: tuple[int, ...],
) -> Fraction:  # fmt: skip
    some, table = function
    place = 0
    for variable in some:
        place = place * len(variable.states) + state[inputs.index(variable)]
    return table[place] or Fraction(0)


def test_a_hole_does_not_keep_a_table_from_being_a_sum() -> None:
    pair = tuple(Variable(0, tuple((n, Fraction(n)) for n in range(size)), False)
                 for size in (2, 3))  # fmt: skip
    table = [Fraction(each) for each in (1, 2, 3)] + [None, Fraction(12), Fraction(13)]
    assert [len(some) for some, _ in summands(pair, table)] == [1, 1]


@given(st.lists(st.lists(small, min_size=4, max_size=4), min_size=1, max_size=6))
def test_a_layout_has_as_many_dimensions_as_the_demands_have_rank(
    rows: list[list[Fraction]],
) -> None:
    functions = [
        Linear(Fraction(0), {token_is(place): each for place, each in enumerate(row) if each})
        for row in rows
    ]
    layout = lay_out([Demand(1, each, "") for each in functions])
    matrix = np.array([[float(each) for each in row] for row in rows])
    assert len(layout.dimensions) == np.linalg.matrix_rank(matrix)
    for function in functions:
        total = Linear()
        for place, weight in layout.read(function).items():
            total = total + layout.dimensions[place].times(weight)
        assert total.key == function.key


def test_a_trace_holds_what_the_program_computes() -> None:
    text = """hist = histf(tokens);
    total = hist + indices;
    out = aggregate(select(total, 3, >), 1, 0);"""
    names = rasp.run(text)
    model = compile([names["hist"], names["out"]], vocabulary="ab", max_length=5, style="compact")
    trace = model.trace("abba")
    found = {name.split(" (line")[0]: values for name, values in trace.s_ops.items()}
    assert found["hist"] == names["hist"]("abba")
    assert found["out"] == names["out"]("abba")
    for attention in trace.attention.values():
        assert np.allclose(attention.sum(axis=1), 1)


def test_every_part_of_a_model_is_labelled_with_its_source() -> None:
    text = "hist = histf(tokens);\nout = aggregate(select(hist, hist, <), indices == 1, False);"
    model = compile(rasp.run(text)["out"], vocabulary="ab", max_length=5, style="compact")
    assert len(model.description.dimensions) == model.d_model
    assert tuple(map(len, model.description.heads)) == model.heads_per_layer
    hidden = tuple(map(len, model.description.hidden))
    assert hidden == (model.input_feed_forward, *model.hidden_per_layer)
    assert "line 2" in model.description.heads[1][0]
    sink, *others = model.description.dimensions
    assert sink == "sink"
    assert all("(line " in label for label in others)


def test_what_the_library_made_is_labelled_with_the_line_that_uses_it() -> None:
    model = compile(
        rasp.run("n = 1;\nout = length;")["out"], vocabulary="ab", max_length=5, style="compact"
    )
    assert model.description.heads[0][0].endswith("(line 2)")


def test_a_trace_tells_outputs_as_their_atoms() -> None:
    names = rasp.run("flag = indices == 1; back = sort(tokens, tokens); half = indices / 2;")
    model = compile([names[each] for each in ("flag", "back", "half")], vocabulary="ab",
                    max_length=4, style="compact")  # fmt: skip
    trace = model.trace("bab")
    for name in ("flag", "back", "half"):
        assert trace.s_ops[name] == names[name]("bab")


def test_the_circuit_names_who_reads_what_from_whom() -> None:
    text = "out = aggregate(select(indices, length - indices - 1, ==), tokens);"
    model = compile(rasp.run(text)["out"], vocabulary="abc", max_length=5, style="compact")
    edges = {(each["from"], each["to"], each["as"]) for each in model.circuit["edges"]}
    assert ("layer1.head1", "layer2.head1", "query") in edges
    assert ("embedding", "layer2.head1", "value") in edges
    assert ("layer2.head1", "output.out", "value") in edges
    assert ("layer1.head1", "layer2.head1", "value") not in edges
    for edge in model.circuit["edges"]:
        assert all(0 <= place < model.d_model for place in edge["dimensions"])
