"""What a schedule says beyond its size: where nodes are, the front, words, and refusals."""

from __future__ import annotations

import pytest

import rasp
from rasp.insight.schedule import exact, explain, placing, schedule
from rasp.insight.schedule.exact import _matrix, exact_placement
from rasp.insight.schedule.problem import earliest_placement, problem_of
from rasp.insight.schedule.schedule import front, output_nodes, program_of, show_counts
from rasp.insight.schedule.sublayer_order import Order
from rasp.language.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Node,
    Program,
    Score,
    Select,
    SOp,
    Tokens,
    in_order,
)
from strategies.graphs import random_outputs

SAME = Select(Tokens(), Tokens(), "==")
MIXED = Elementwise("*", (Indices(), Tokens()))
HARD = (21, 90, 91)
"""Seeds of graphs whose floors neither the earliest nor the greedy schedule meets."""


def test_counts_of_many_layers_are_told_together() -> None:
    assert show_counts((1, 2, 2)) == "1 2 2"
    assert show_counts((1,) * 30) == " ".join("1" * 30)
    assert show_counts((1,) * 31) == "1×31"
    assert show_counts((3, *(1,) * 30, 2, 2)) == "3 1×30 2×2"


def test_without_attention_there_is_no_layer_and_no_width() -> None:
    found = schedule(Elementwise("+", (Tokens(), Tokens())))
    assert (found.layers, found.width, found.heads) == (0, 0, 0)
    assert str(found) == "no layers: elementwise work on the embedding"
    assert found.input_feed_forward == ()
    assert schedule(MIXED).input_feed_forward == (MIXED,)


@pytest.mark.parametrize("number", range(1, 14))
def test_the_front_of_independent_heads_shares_them_out(number: int) -> None:
    heads = [Aggregate(Select(Indices(), Const(at), "=="), Tokens()) for at in range(number)]
    widths = {depth: -(-number // depth) for depth in range(1, number + 1)}
    wanted = [depth for depth in widths if depth == 1 or widths[depth] < widths[depth - 1]]
    points = front(heads)
    assert [point.layers for point in points] == wanted
    assert [point.width for point in points] == [widths[depth] for depth in wanted]


def s_ops_read(selector: Node) -> list[SOp]:
    read: list[SOp] = []
    for needed in selector.needs:
        read += [needed] if isinstance(needed, SOp) else s_ops_read(needed)
    return read


@pytest.mark.parametrize("method", ["auto", "greedy", "earliest"])
def test_every_node_is_where_it_first_can_be_given_the_heads(method: str) -> None:
    for seed in range(60):
        outputs = random_outputs(seed, 30)
        found = schedule(outputs, method)
        for node, layer in found.layer_of.items():
            if not isinstance(node, SOp):
                assert layer == 1 + max(found.layer_of[s_op] for s_op in s_ops_read(node))
            elif isinstance(node, Elementwise):
                ready = max(found.layer_of[needed] for needed in node.needs)
                assert layer == ready or (layer, ready) == (1, 0)
            elif not isinstance(node, Aggregate):
                assert layer == 0


def test_every_attention_is_in_one_head_of_its_layer_and_free_work_in_the_embedding() -> None:
    for seed in range(40):
        outputs = random_outputs(seed, 30)
        found = schedule(outputs)
        nodes = in_order(outputs)
        for layer, made in enumerate(found.layer_list, 1):
            here = [each for each in nodes
                    if isinstance(each, Aggregate) and found.layer_of[each] == layer]  # fmt: skip
            held = [each for head in made.heads for each in head.aggregates]
            assert sorted(map(id, held)) == sorted(map(id, here))
            work = [each for each in nodes
                    if isinstance(each, Elementwise) and found.layer_of[each] == layer]  # fmt: skip
            assert list(made.feed_forward) == work
        for node in found.embedding:
            assert len({Tokens(), Indices()}.intersection(in_order([node]))) < 2
            assert not any(isinstance(each, Aggregate) for each in in_order([node]))
        early = {*found.embedding, *found.input_feed_forward}
        work = [each for each in nodes if isinstance(each, Elementwise)]
        assert early == {each for each in work if found.layer_of[each] == 0}


def test_a_selector_alone_has_a_head_of_its_own() -> None:
    [made] = schedule(SAME).layer_list
    assert [(head.selector, head.aggregates) for head in made.heads] == [(SAME, ())]
    both = schedule([SAME, Aggregate(SAME, Indices())])
    assert both.heads_per_layer == (1,)
    assert both.layer_list[0].heads[0].aggregates == (Aggregate(SAME, Indices()),)


def test_work_on_tokens_and_indices_waits_for_the_first_layer_where_nobody_needs_it_before() -> (
    None
):
    later = Aggregate(Select(Aggregate(SAME, Indices()), Indices(), "=="), MIXED)
    found = schedule([later, MIXED])
    assert found.input_feed_forward == ()
    assert found.layer_list[0].feed_forward == (MIXED,)
    assert found.layer_of[MIXED] == 1
    both = schedule([later, Aggregate(Select(MIXED, MIXED, "=="), Indices())])
    assert both.input_feed_forward == (MIXED,)
    assert both.layer_of[MIXED] == 0
    assert both.layer_list[0].feed_forward == ()


def test_shared_work_is_gone_through_once() -> None:
    doubled = MIXED
    for _ in range(80):
        doubled = Elementwise("+", (doubled, doubled))
    found = schedule(Aggregate(Select(doubled, doubled, "=="), Indices()))
    assert len(found.input_feed_forward) == 81


def test_of_work_that_builds_on_mixed_work_only_what_a_head_needs_comes_first() -> None:
    more = Elementwise("+", (MIXED, Const(1)))
    most = Elementwise("+", (more, Const(1)))
    found = schedule([Aggregate(Select(more, more, "=="), Indices()), most])
    assert set(found.input_feed_forward) == {MIXED, more}
    assert found.layer_list[0].feed_forward == (most,)


def test_a_depth_may_be_just_enough_but_not_less() -> None:
    deep = Aggregate(Select(Aggregate(SAME, Indices()), Indices(), "=="), Indices())
    assert schedule(deep, depth=2).layers == 2
    assert schedule(deep, depth=4).layers == 4
    with pytest.raises(rasp.RaspValueError, match="needs 2 layers"):
        schedule(deep, depth=1)


def test_outputs_are_nodes_or_handles_and_nothing_else() -> None:
    names = rasp.run("a = indices + 1; b = select(a, a, ==);")
    a, b = names["a"], names["b"]
    assert output_nodes(a) == (a.node,)
    assert output_nodes([a, b.node]) == (a.node, b.node)
    assert program_of([a.node, b]).names[a.node] == "a"
    assert program_of(a.node) == Program()
    for nothing in ([], 3, [a, 3], "a"):
        with pytest.raises(rasp.RaspTypeError, match="this is neither"):
            output_nodes(nothing)  # type: ignore[arg-type]
    for scorer in (Score(Indices(), Const(1)), [a, Score(Indices(), Const(1))]):
        with pytest.raises(rasp.RaspTypeError, match="a scorer alone"):
            schedule(scorer)


@pytest.mark.parametrize("seed", HARD)
def test_without_time_the_schedule_is_greedy_and_says_so(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("scipy", reason="the exact schedule needs SciPy")
    outputs = random_outputs(seed, 12 + seed % 32)
    monkeypatch.setattr(placing, "SECONDS_FOR_AUTO", 600)
    best = schedule(outputs)
    assert (best.method, best.exact, best.remark) == ("exact", True, "the exact schedule")
    asked_for = schedule(outputs, "exact")
    assert (asked_for.method, asked_for.exact, asked_for.remark) == (
        "exact", True, "the exact schedule"
    )  # fmt: skip
    monkeypatch.setattr(placing, "SECONDS_FOR_AUTO", 0)
    found = schedule(outputs)
    assert (found.method, found.exact) == ("greedy", False)
    assert "ran out of time" in found.remark
    assert (found.width, found.heads) >= (best.width, best.heads)
    told = explain(outputs)
    assert found.remark in told.notes
    monkeypatch.setattr(placing, "SECONDS_FOR_EXACT", 0)
    with pytest.raises(rasp.RaspLimitError, match="not found in 0 seconds"):
        schedule(outputs, "exact")
    monkeypatch.setattr(placing, "MOST_CHOICES", 1)
    assert "too large" in schedule(outputs).remark


def test_a_search_that_is_cut_short_gives_no_placement(monkeypatch: pytest.MonkeyPatch) -> None:
    optimize = pytest.importorskip("scipy.optimize", reason="the exact schedule needs SciPy")
    problem = problem_of(random_outputs(90, 38), Order.layered(8))
    start = earliest_placement(problem)
    assert exact_placement(problem, start, seconds=600) is not None
    solve = optimize.milp

    def unfinished(*arguments: object, **options: object) -> object:
        found = solve(*arguments, **options)
        found.status = 1  # the time was up
        return found

    monkeypatch.setattr(optimize, "milp", unfinished)
    assert exact_placement(problem, start, seconds=600) is None


@pytest.mark.parametrize("seed", [5, 19, 23, 24])
def test_a_greedy_schedule_that_meets_the_floors_is_best(seed: int) -> None:
    found = schedule(random_outputs(seed, 12 + seed % 32))
    assert (found.method, found.exact, found.remark) == ("greedy", True, "the greedy schedule")
    early = schedule(found.outputs, "earliest")
    assert (found.width, found.heads) < (early.width, early.heads)


@pytest.mark.parametrize("method", ["auto", "exact"])
def test_without_a_solver_there_is_no_exact_schedule(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (placing, exact):
        monkeypatch.setattr(module, "solver_is_installed", lambda: False)
    outputs = random_outputs(21, 33)
    if method == "auto":
        assert "the exact search needs SciPy" in schedule(outputs).remark
        return
    with pytest.raises(rasp.RaspUnsupportedError, match="needs `scipy`"):
        schedule(outputs, method)


@pytest.mark.parametrize("limit", ["MOST_CHOICES", "MOST_NODES"])
def test_a_graph_of_just_the_largest_size_is_still_searched(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("scipy", reason="the exact schedule needs SciPy")
    outputs = random_outputs(21, 33)
    problem = problem_of(outputs, Order.layered(schedule(outputs).layers))
    sizes = {
        "MOST_CHOICES": sum(problem.latest[each] - problem.earliest[each] + 1
                            for each in problem.attentions),
        "MOST_NODES": len(rasp.language.graph.in_order(outputs)),
    }  # fmt: skip
    monkeypatch.setattr(placing, "SECONDS_FOR_AUTO", 600)
    monkeypatch.setattr(placing, limit, sizes[limit])
    assert schedule(outputs).method == "exact"
    monkeypatch.setattr(placing, limit, sizes[limit] - 1)
    assert schedule(outputs).method == "greedy"


def test_methods_are_those_that_there_are() -> None:
    outputs = random_outputs(21, 33)
    with pytest.raises(rasp.RaspValueError, match="no scheduling method `best`"):
        schedule(outputs, "best")
    assert schedule(outputs, "earliest").method == "earliest"
    assert not schedule(outputs, "earliest").exact
    assert schedule(outputs, "greedy").method == "greedy"
    assert schedule(SAME, "greedy").exact  # the earliest meets the floors, and is as good


def test_the_solver_is_given_indices_that_every_scipy_takes() -> None:
    pytest.importorskip("scipy", reason="the exact schedule needs SciPy")
    matrix, _, _ = _matrix([({0: 1.0, 2: -1.0}, 0, 1), ({1: 1.0}, 0, 0)], 3)
    assert (matrix.indices.itemsize, matrix.indptr.itemsize) == (4, 4)  # 8 before 1.15: a crash
    assert matrix.toarray().tolist() == [[1, 0, -1], [0, 1, 0]]
