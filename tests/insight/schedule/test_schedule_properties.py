"""What every schedule must keep: the rule of the layers, the floors, and the best there is."""

from __future__ import annotations

from itertools import pairwise, product

import pytest

from rasp.insight.schedule import greedy, schedule
from rasp.insight.schedule.bounds import least_heads, least_width
from rasp.insight.schedule.greedy import cost, greedy_placement
from rasp.insight.schedule.problem import Problem, earliest_placement, prerequisites
from rasp.insight.schedule.problem import problem_of as problem_in
from rasp.insight.schedule.schedule import Schedule, front
from rasp.insight.schedule.sublayer_order import Order, earliest_layers, earliest_times
from rasp.language.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Node,
    Select,
    SOp,
    Tokens,
    in_order,
)
from rasp.language.graph.normal import normal_form
from strategies.graphs import random_outputs

SMALL = 4_000  # placements that brute force may look at


def problem_of(outputs: list[Node]) -> Problem:
    """The problem of the paper's layers, as few as there can be."""
    return problem_in(outputs, Order.layered(max(earliest_layers(outputs).values())))


def every_placement(problem: Problem):
    """All placements that respect the windows and the order of attentions."""
    before = prerequisites(problem)
    windows = [
        range(problem.earliest[each], problem.latest[each] + 1) for each in problem.attentions
    ]
    for layers in product(*windows):
        placement = dict(zip(problem.attentions, layers, strict=True))
        if all(placement[one] < placement[user] for user in before for one in before[user]):
            yield placement


def is_small(problem: Problem) -> bool:
    size = 1
    for each in problem.attentions:
        size *= problem.latest[each] - problem.earliest[each] + 1
    return 1 < size <= SMALL


def test_the_exact_schedule_equals_brute_force_on_small_graphs():
    pytest.importorskip("scipy", reason="the exact schedule needs SciPy")
    tried = 0
    for seed in range(600):
        problem = problem_of(random_outputs(seed, 14 + seed % 14))
        if not is_small(problem):
            continue
        tried += 1
        best = min(cost(problem, each)[:2] for each in every_placement(problem))
        found = schedule(problem.outputs, "exact")
        assert (found.width, found.heads) == best
        assert found.exact
        assert (least_width(problem), least_heads(problem)) <= best
    assert tried > 100


def test_among_the_best_placements_the_integer_program_takes_the_earliest():
    pytest.importorskip("scipy", reason="the exact schedule needs SciPy")
    from rasp.insight.schedule.exact import exact_placement

    tried = 0
    for seed in range(150):
        problem = problem_of(random_outputs(seed, 12 + seed % 16))
        if not is_small(problem):
            continue
        tried += 1
        best = min(cost(problem, each) for each in every_placement(problem))
        placement = exact_placement(problem, earliest_placement(problem), seconds=60)
        assert placement is not None
        assert cost(problem, placement) == best
    assert tried > 25


@pytest.mark.slow
def test_the_best_is_never_wider_than_greedy_nor_greedy_than_earliest_on_2000_graphs():
    narrower = 0
    for seed in range(2_000):
        outputs = random_outputs(seed, 12 + seed % 32)
        early, greedy = schedule(outputs, "earliest"), schedule(outputs, "greedy")
        best = schedule(outputs)
        assert best.layers == greedy.layers == early.layers
        assert (best.width, best.heads) <= (greedy.width, greedy.heads)
        assert (greedy.width, greedy.heads) <= (early.width, early.heads)
        narrower += best.width < early.width
    assert narrower > 200


def test_the_greedy_schedule_keeps_the_order_of_attentions():
    for seed in range(200):
        problem = problem_of(random_outputs(seed, 60))
        placement = greedy_placement(problem)
        before = prerequisites(problem)
        assert set(placement) == set(problem.attentions)
        assert all(placement[one] < placement[user] for user in before for one in before[user])


@pytest.mark.parametrize("widest", range(1, 10))
def test_the_greedy_schedule_looks_for_the_least_width_that_works_by_halving(
    widest: int, monkeypatch: pytest.MonkeyPatch
):
    heads = [Aggregate(Select(Indices(), Const(at), "=="), Tokens()) for at in range(widest)]
    problem = problem_in(heads, Order.layered(widest))
    start = earliest_placement(problem)
    assert (least_width(problem), cost(problem, start)[0]) == (1, widest)
    for least in range(1, widest + 1):

        def listed(*arguments: object, least: int = least, **options: object) -> object:
            return start if arguments[2] >= least else None  # type: ignore[operator]

        monkeypatch.setattr(greedy, "_listed", listed)
        tried = list(greedy._widths_to_try(problem, start, {}))
        assert tried[-1] == least
        assert len(tried) <= widest.bit_length() + 1
        assert all(1 <= width <= widest for width in tried)
        assert {least - 1, least}.issubset({0, widest, *tried})  # one less was tried as well


def test_the_times_of_a_plain_stack_are_the_layers_of_the_paper_s_rule():
    for seed in range(200):
        outputs = random_outputs(seed, 40)
        times = earliest_times(outputs, Order.layered(100))
        layers = earliest_layers(outputs)
        assert {node: time // 2 for node, time in times.items()} == layers


@pytest.mark.parametrize("method", ["auto", "greedy", "earliest"])
def test_a_schedule_computes_everything_after_what_it_needs(method: str):
    for seed in range(150):
        outputs = random_outputs(seed, 50)
        check_schedule(schedule(outputs, method))


def check_schedule(found: Schedule) -> None:
    """Every node has one place, and what a sublayer reads was written before it."""
    nodes = in_order(found.outputs)
    written = {node for node in nodes if not node.needs} | set(found.embedding)
    for node in found.embedding:
        assert written.issuperset(node.needs)
    written |= set(found.input_feed_forward)
    for layer in found.layer_list:
        for head in layer.heads:
            for selector in [head.selector, *(each.selector for each in head.aggregates)]:
                assert normal_form(selector) == normal_form(head.selector)
                assert written.issuperset(read_by(selector))
            assert written.issuperset(aggregate.values for aggregate in head.aggregates)
        made = [aggregate for head in layer.heads for aggregate in head.aggregates]
        assert not written.intersection(made)
        written.update(made)
        for node in layer.feed_forward:
            assert written.issuperset(node.needs)
            assert node not in written
            written.add(node)
    wanted = {node for node in nodes if isinstance(node, (Aggregate, Elementwise))}
    assert wanted <= written
    assert all(found.layer_of[node] <= found.layers for node in nodes)


def read_by(part: Node) -> set[Node]:
    """The s-ops that a head with this selector reads as keys, queries and scores."""
    if isinstance(part, SOp):
        return {part}
    return {s_op for needed in part.needs for s_op in read_by(needed)}


@pytest.mark.slow
def test_the_front_gets_narrower_with_every_point_until_one_head_is_enough():
    for seed in range(25):
        points = front(random_outputs(seed, 30))
        assert points[-1].width <= 1
        for shallow, deep in pairwise(points):
            assert shallow.layers < deep.layers
            assert shallow.width > deep.width
            before = schedule(deep.outputs, depth=deep.layers - 1)
            assert before.width >= shallow.width


def test_a_layer_with_few_heads_does_not_keep_another_from_having_many():
    pytest.importorskip("scipy", reason="the exact schedule needs SciPy")
    from rasp.insight.schedule.exact import exact_placement

    first = Aggregate(Select(Tokens(), Tokens(), "=="), Indices())
    last = [Aggregate(Select(first, Const(number), "=="), Indices()) for number in range(5)]
    problem = problem_of(last)
    placement = exact_placement(problem, earliest_placement(problem), seconds=60)
    assert placement is not None
    assert cost(problem, placement)[:2] == (5, 6)
