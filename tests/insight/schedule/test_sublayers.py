"""Orders of sublayers against a transformer that is gone through step by step, all ways tried."""

from __future__ import annotations

from itertools import combinations, product
from random import Random
from typing import TypeAlias

import pytest

from rasp.base.errors import RaspValueError
from rasp.insight.schedule import bounds, fit, schedule
from rasp.insight.schedule.bounds import least_heads, least_width, tightest_span
from rasp.insight.schedule.exact import exact_placement
from rasp.insight.schedule.greedy import cost, greedy_placement
from rasp.insight.schedule.problem import (
    Placement,
    Problem,
    earliest_placement,
    heads_per_slot,
    problem_of,
)
from rasp.insight.schedule.sublayer_order import NEVER, Order, earliest_times, latest_times
from rasp.language.graph import (
    Aggregate,
    Elementwise,
    Indices,
    Node,
    Select,
    SelectorAnd,
    SOp,
    Tokens,
    in_order,
)
from strategies.graphs import random_outputs

MOST_WAYS = 400
Problems: TypeAlias = list[tuple[str, Problem]]


def attends(node: Node) -> bool:
    """Tell whether it takes attention to make a node."""
    return any(isinstance(each, Aggregate) for each in in_order([node]))


def inputs_read(node: Node) -> set[Node]:
    return {each for each in in_order([node]) if isinstance(each, (Tokens, Indices))}


def read_by(node: Node) -> set[Node]:
    """The s-ops that a head reads: keys, queries and scores of its selector, and its values."""
    read: set[Node] = set()
    for needed in node.needs:
        read |= {needed} if isinstance(needed, SOp) else read_by(needed)
    return read


def is_possible(problem: Problem, placement: Placement) -> bool:
    """Go through the sublayers one by one; nothing may read what is not there yet."""
    nodes = in_order(problem.outputs)
    there = {node for node in nodes if not attends(node)
             and (not isinstance(node, Elementwise) or len(inputs_read(node)) < 2)}  # fmt: skip

    def feed_forward() -> None:
        for node in nodes:
            if isinstance(node, Elementwise) and there.issuperset(node.needs):
                there.add(node)

    if 0 in problem.order.feed_forwards:
        feed_forward()
    for slot in range(1, problem.order.slots + 1):
        here = [attention for attention in placement if placement[attention] == slot]
        if not all(there.issuperset(read_by(attention)) for attention in here):
            return False
        there.update(here)
        if slot in problem.order.feed_forwards:
            feed_forward()
    return there.issuperset(node for node in nodes if isinstance(node, (Aggregate, Elementwise)))


def ways(problem: Problem) -> list[Placement]:
    """Every placement that is possible, windows or no windows."""
    slots = range(1, problem.order.slots + 1)
    choices = product(slots, repeat=len(problem.attentions))
    tried = (dict(zip(problem.attentions, choice, strict=True)) for choice in choices)
    return [placement for placement in tried if is_possible(problem, placement)]


def small_problems(count: int) -> Problems:
    """Random graphs with random orders of sublayers, of which all placements can be tried."""
    found: Problems = []
    random = Random(5)
    for seed in range(100_000):
        outputs = random_outputs(seed, random.randint(7, 14))
        text = "".join(random.choices("sf", (2, 1), k=random.randint(1, 7)))
        problem = problem_of(outputs, Order.read(text))
        number = problem.order.slots ** len(problem.attentions)
        if problem.attentions and number <= MOST_WAYS:
            found.append((text, problem))
        if len(found) == count:
            return found
    raise AssertionError


PROBLEMS = small_problems(320)
in_parts = pytest.mark.parametrize("problems", [PROBLEMS[at::8] for at in range(8)], ids=range(8))


@in_parts
def test_it_fits_where_some_placement_is_possible(problems: Problems):
    fitting = 0
    for text, problem in problems:
        possible = ways(problem)
        times = earliest_times(problem.outputs, problem.order)
        is_in_time = max(times.values()) <= problem.order.end
        assert bool(fit(problem.outputs, order=text)) == bool(possible) == is_in_time
        fitting += bool(possible)
    assert 5 < fitting < 35


@in_parts
def test_windows_are_the_first_and_last_slots_of_all_placements_that_are_possible(
    problems: Problems,
):
    for _, problem in problems:
        possible = ways(problem)
        if not possible:
            continue
        for attention in problem.attentions:
            slots = {placement[attention] for placement in possible}
            assert problem.earliest[attention] == min(slots)
            assert problem.latest[attention] == max(slots)


@in_parts
def test_what_cannot_be_computed_is_never_there(problems: Problems):
    for _, problem in problems:
        if not problem.order.feed_forwards:
            times = earliest_times(problem.outputs, problem.order)
            for node, time in times.items():
                is_work = any(
                    isinstance(each, Elementwise) and (len(inputs_read(each)) == 2 or attends(each))
                    for each in in_order([node])
                )
                assert (time >= NEVER) == is_work


def long_problems(count: int) -> Problems:
    """Larger graphs with orders of sublayers that are long enough for them."""
    found: Problems = []
    random = Random(6)
    for seed in range(100_000):
        outputs = random_outputs(seed, random.randint(14, 26))
        text = "".join(random.choices("sf", (2, 1), k=random.randint(6, 16)))
        order = Order.read(text)
        if max(earliest_times(outputs, order).values()) <= order.end:
            found.append((text, problem_of(outputs, order)))
        if len(found) == count:
            return found
    raise AssertionError


LONG_PROBLEMS = long_problems(90)


@pytest.mark.parametrize("problems", [LONG_PROBLEMS[at::6] for at in range(6)], ids=range(6))
def test_the_greedy_placement_is_possible_in_any_order(problems: Problems):
    for _, problem in problems:
        greedy = greedy_placement(problem)
        assert set(greedy) == set(problem.attentions)
        assert is_possible(problem, greedy)
        assert cost(problem, greedy) <= cost(problem, earliest_placement(problem))
        assert (least_width(problem), least_heads(problem)) <= cost(problem, greedy)[:2]


@pytest.mark.parametrize("first", range(0, 150, 25))
def test_the_greedy_placement_is_hardly_ever_worse_than_the_best(first: int):
    pytest.importorskip("scipy", reason="the exact schedule needs SciPy")
    graphs = [random_outputs(seed, 12 + seed % 32) for seed in range(first, first + 25)]
    best, greedy = ([schedule(outputs, method) for outputs in graphs]
                    for method in ("auto", "greedy"))  # fmt: skip
    assert sum(each.width for each in greedy) == sum(each.width for each in best)
    assert sum(each.heads for each in greedy) <= 1.005 * sum(each.heads for each in best)


@pytest.mark.slow
@in_parts
def test_placements_in_any_order_are_possible_and_the_exact_one_is_best(problems: Problems):
    pytest.importorskip("scipy", reason="the exact schedule needs SciPy")
    tried = 0
    for _, problem in problems:
        possible = ways(problem)
        if len(possible) < 2:
            continue
        tried += 1
        best = min(cost(problem, placement) for placement in possible)
        greedy = greedy_placement(problem)
        assert is_possible(problem, greedy)
        assert set(greedy) == set(problem.attentions)
        assert cost(problem, greedy) >= best
        exact = exact_placement(problem, greedy, seconds=600)
        assert exact is not None
        assert is_possible(problem, exact)
        assert cost(problem, exact) == best
        assert (least_width(problem), least_heads(problem)) <= best[:2]
        assert least_heads(problem) <= min(cost(problem, placement)[1] for placement in possible)
    assert tried > 3


@in_parts
def test_as_many_heads_as_the_narrowest_placement_needs_are_enough(problems: Problems):
    pytest.importorskip("scipy", reason="the exact schedule needs SciPy")
    for text, problem in problems[::3]:
        possible = ways(problem)
        if possible:
            width = min(cost(problem, placement)[0] for placement in possible)
            assert fit(problem.outputs, order=text, heads=width)
            assert not fit(problem.outputs, order=text, heads=width - 1)


@pytest.mark.parametrize("method", ["auto", "exact", "greedy", "earliest"])
def test_schedules_of_any_depth_are_possible(method: str):
    pytest.importorskip("scipy", reason="the exact schedule needs SciPy")
    for seed in range(12):
        outputs = random_outputs(seed, 14)
        for more in range(3):
            least = schedule(outputs).layers
            found = schedule(outputs, method, depth=least + more)
            problem = problem_of(outputs, Order.layered(least + more))
            placement = {node: found.layer_of[node] for node in problem.attentions
                         if isinstance(node, Aggregate)}  # fmt: skip
            assert found.layers == least + more
            assert is_possible(problem, placement)
            if len(placement) == len(problem.attentions):
                assert (found.width, found.heads) == cost(problem, placement)[:2]


def heads_needed(problem: Problem, low: int, high: int) -> int:
    """The fewest heads that serve the attentions bound to a span, by trying all sets of slots."""
    needed = 0
    for kind in set(problem.kind.values()):
        windows = [(problem.earliest[each], problem.latest[each]) for each in problem.attentions
                   if problem.kind[each] == kind]  # fmt: skip
        inside = [window for window in windows if low <= window[0] and window[1] <= high]
        slots = range(low, high + 1)
        needed += next(
            count
            for count in range(len(inside) + 1)
            for chosen in combinations(slots, min(count, len(slots)))
            if all(any(first <= slot <= last for slot in chosen) for first, last in inside)
        )
    return needed


@in_parts
def test_floors_are_what_the_tightest_span_forces(
    problems: Problems, monkeypatch: pytest.MonkeyPatch
):
    some = [problem for _, problem in [*problems, *LONG_PROBLEMS[:4]] if ways_exist(problem)]
    for problem in some:
        slots = problem.order.slots
        spans = {(low, high): -(-heads_needed(problem, low, high) // (high - low + 1))
                 for low in range(1, slots + 1) for high in range(low, slots + 1)}  # fmt: skip
        floor, low, high = tightest_span(problem)
        assert floor == max(spans.values()) == spans[low, high] == least_width(problem)
        assert high - low == min(last - first for (first, last), count in spans.items()
                                 if count == floor)  # fmt: skip
        assert least_heads(problem) == heads_needed(problem, 1, slots)
    monkeypatch.setattr(bounds, "MOST_LOOKS", 0)  # too many spans: single slots, and all of them
    for problem in some:
        slots = problem.order.slots
        spans = {(slot, slot): heads_needed(problem, slot, slot) for slot in range(1, slots + 1)}
        spans[1, slots] = -(-heads_needed(problem, 1, slots) // slots)
        assert least_width(problem) == max(spans.values())


def ways_exist(problem: Problem) -> bool:
    return max(earliest_times(problem.outputs, problem.order).values()) <= problem.order.end


def test_the_exact_placement_waits_for_a_feed_forward_between_two_attentions():
    pytest.importorskip("scipy", reason="the exact schedule needs SciPy")
    same, before = Select(Tokens(), Tokens(), "=="), Select(Indices(), Indices(), "<")
    first = Aggregate(Select(Indices(), Indices(), ">"), Indices())
    one, twin = Aggregate(same, Tokens()), Aggregate(same, first)
    worked_on = Elementwise("+", (one, one))
    last, other = Aggregate(before, worked_on), Aggregate(before, twin)
    problem = problem_of([last, other], Order.read("sfssfs"))
    found = exact_placement(problem, greedy_placement(problem), seconds=600)
    assert found == {first: 1, one: 2, twin: 2, last: 4, other: 4}
    assert is_possible(problem, found)


def test_an_order_is_written_with_two_letters():
    for text, found in (("sxf", "has `x` in it"), ("", "this one is empty")):
        with pytest.raises(RaspValueError, match=found):
            Order.read(text)


def test_elementwise_work_waits_for_a_feed_forward_or_comes_after_the_last_one():
    order = Order.read("ssfsf")
    assert [order.fed_forward(time) for time in range(8)] == [5, 5, 5, 5, 5, 5, 7, 7]
    assert [order.last_feed_forward(time) for time in range(8)] == [-1, -1, -1, -1, -1, 5, 5, 7]
    assert Order.read("fs").fed_forward(2) == NEVER


def test_heads_are_counted_slot_by_slot():
    one, other = (Aggregate(Select(Indices(), Indices(), op), Tokens()) for op in "<>")
    twin = Aggregate(Select(Indices(), Indices(), "<"), Indices())
    problem = problem_of([one, other, twin], Order.layered(3))
    assert heads_per_slot(problem, {one: 1, other: 1, twin: 1}) == (2, 0, 0)
    assert heads_per_slot(problem, {one: 1, other: 2, twin: 3}) == (1, 1, 1)
    assert heads_per_slot(problem, {one: 3, other: 3, twin: 2}) == (0, 1, 2)


def test_a_plain_stack_is_an_order_of_sublayers():
    assert Order.layered(0) == Order.read("f")
    assert Order.layered(2) == Order.read("fsfsf")
    assert Order.read("ffsffs") == Order(2, (0, 1))
    assert Order.read("s") == Order(1, ())


@in_parts
def test_everything_can_be_made_between_its_first_and_last_time(problems: Problems):
    for _, problem in problems:
        first = earliest_times(problem.outputs, problem.order)
        if max(first.values()) > problem.order.end:
            continue
        last = latest_times(problem.outputs, problem.order)
        for node, time in first.items():
            is_free = not attends(node) and len(inputs_read(node)) < 2
            assert is_free or time <= last[node]
            if isinstance(node, Elementwise) and not is_free:
                assert time % 2 == last[node] % 2 == 1
                assert {time // 2, last[node] // 2} <= set(problem.order.feed_forwards)
            elif isinstance(node, Aggregate):
                assert time % 2 == last[node] % 2 == 0


def test_a_selector_that_is_an_output_waits_where_a_part_of_another_cannot():
    same, before = Select(Tokens(), Tokens(), "=="), Select(Indices(), Indices(), "<")
    one = Aggregate(SelectorAnd(same, before), Indices())
    other = Aggregate(Select(Indices(), Indices(), ">"), Indices())
    both = Aggregate(Select(one, other, "=="), Indices())
    assert schedule([both]).heads_per_layer == (2, 1)
    assert schedule([both, same]).heads_per_layer == (2, 2)
