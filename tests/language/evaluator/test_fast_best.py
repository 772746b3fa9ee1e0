"""The best of a range under two orders: against brute force, and against the plain evaluator."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from oracle import fast_results, plain_results, strained

from rasp.base.atoms import Atom
from rasp.base.errors import RaspLimitError
from rasp.base.limits import DEFAULT_LIMITS, Limits
from rasp.base.meter import Meter
from rasp.language.evaluator import explain_plan
from rasp.language.evaluator.fast import highest
from rasp.language.evaluator.fast.key_layout import Codings, Pairing
from rasp.language.evaluator.fast.key_plan import plan_best
from rasp.language.graph import (
    COMPARISONS,
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Score,
    Select,
    SelectBest,
    Selector,
    SelectorAnd,
    SelectorOr,
    SOp,
    Tokens,
)

ORDERS = ["<", "<=", ">", ">="]
PARITY = Elementwise("%", (Indices(), Const(2)))
BACKWARDS = Elementwise("-", (Const(4), Indices()))
THIRDS = Elementwise("/", (Elementwise("-", (Tokens(), Const(2))), Const(3)))
NEXT = Elementwise("+", (Tokens(), Const(1)))


def codings(rng: random.Random, keys: int, queries: int) -> Codings:
    """Ranges of every sort: from the first code, to the last, between two, empty."""
    size = rng.choice([1, 2, 3, 4, 5, 7, 8, 9, 16])
    ends = [0, size, *(rng.randint(0, size) for _ in range(3))]
    ranges = [sorted(rng.choices(ends, k=2)) for _ in range(queries)]
    low, high = np.array(ranges).T
    return Codings(np.array([rng.randrange(size) for _ in range(keys)]), low, high, size)


def test_the_highest_rank_in_two_ranges_is_that_of_the_keys_in_both() -> None:
    rng = random.Random(3)
    for _ in range(300):
        keys, queries = rng.randint(1, 12), rng.randint(1, 12)
        first, second = codings(rng, keys, queries), codings(rng, keys, queries)
        ranks = np.array([rng.randrange(5) for _ in range(keys)])
        some = [key for key in range(keys) if rng.random() < 0.7]
        for kept in (None, np.array(some, np.int64)):
            found = highest.highest_ranks(
                Pairing(None, first, second), kept, ranks, Meter(DEFAULT_LIMITS)
            )
            wanted = [
                max((int(ranks[key]) for key in (range(keys) if kept is None else some)
                     if all(each.low[query] <= each.keys[key] < each.ends[query]
                            for each in (first, second))), default=-1)
                for query in range(queries)
            ]  # fmt: skip
            assert found.tolist() == wanted


def order(rng: random.Random, keys: SOp) -> Selector:
    """A bound on some keys, or one from either side."""
    queries = rng.choice([keys, keys, Tokens(), Indices(), NEXT])
    bound: Selector = Select(keys, queries, rng.choice(ORDERS))
    if rng.random() < 0.3:
        bound = SelectorAnd(bound, Select(keys, rng.choice([NEXT, Indices()]), rng.choice(ORDERS)))
    return bound


def random_best(rng: random.Random) -> SelectBest:
    """The best of keys under two orders, sometimes within groups, filtered, or of a union."""
    one, other = rng.sample([Tokens(), Indices(), BACKWARDS, THIRDS], 2)
    selector: Selector = SelectorAnd(order(rng, one), order(rng, other))
    if rng.random() < 0.3:
        selector = SelectorAnd(selector, Select(PARITY, rng.choice([PARITY, Tokens()]), "=="))
    if rng.random() < 0.3:
        filtered = rng.choice([(Tokens(), Const(2)), (Const(1), Indices())])
        selector = SelectorAnd(selector, Select(*filtered, rng.choice(COMPARISONS)))
    if rng.random() < 0.2:
        selector = SelectorOr(selector, order(rng, one))
    keys = rng.choice([Indices(), Tokens(), PARITY, THIRDS, BACKWARDS, Const(2)])
    queries = rng.choice([Const(1), Const(-1), Const(Fraction(1, 3)), Const(0), THIRDS, Tokens()])
    return SelectBest(selector, Score(keys, queries))


def random_numbers(rng: random.Random) -> tuple[Atom, ...]:
    """Few different numbers, so that many tie."""
    return tuple(rng.choice([0, 1, 2, 3, 4, Fraction(5, 2)]) for _ in range(rng.randint(1, 14)))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 200, 20))
def test_random_bests_under_two_orders_agree_with_the_plain_evaluator(first: int) -> None:
    for seed in range(first, first + 20):
        rng = random.Random(seed)
        best = random_best(rng)
        assert plan_best(best.selector).blocked is None
        again = SelectBest(best, Score(rng.choice([Indices(), PARITY]), Const(rng.choice([1, -1]))))
        outputs = [Aggregate(best, Tokens(), -1), Aggregate(again, Indices(), -1), best]
        inputs = [random_numbers(rng) for _ in range(rng.choice([1, 2, 6]))]
        expected = plain_results(outputs, inputs)
        assert fast_results(outputs, inputs) == expected, f"seed {seed}"
        with strained():
            assert fast_results(outputs, inputs) == expected, f"seed {seed}, strained"


NEXT_GREATER = SelectBest(
    SelectorAnd(Select(Indices(), Indices(), ">"), Select(Tokens(), Tokens(), ">")),
    Score(Indices(), Const(-1)),
)


def test_next_greater_of_a_long_input_is_what_a_stack_finds() -> None:
    rng = random.Random(8)
    given = tuple(rng.randint(0, 500) for _ in range(5_000))
    wanted, waiting = [0] * len(given), list[int]()
    for at, number in enumerate(given):
        while waiting and given[waiting[-1]] < number:
            wanted[waiting.pop()] = number
        waiting.append(at)
    node = Aggregate(NEXT_GREATER, Tokens())
    assert fast_results([node], [given]) == [[[("int", number) for number in wanted]]]


def test_the_walks_look_at_the_clock_and_count_their_memory() -> None:
    rng = random.Random(1)
    layout = Pairing(None, codings(rng, 9, 9), Codings(np.arange(9) % 8, np.arange(9) % 8, None, 8))

    class Stopped(Meter):
        looks = 0

        def check(self) -> None:
            self.looks += 1
            if self.looks == 2:
                raise RaspLimitError("the time is up")

    with pytest.raises(RaspLimitError, match="the time is up"):
        highest.highest_ranks(layout, None, np.arange(9), Stopped(DEFAULT_LIMITS))
    needed = 18 * highest.WALK_BYTES
    highest.highest_ranks(layout, None, np.arange(9), Meter(Limits(memory=needed)))
    with pytest.raises(RaspLimitError, match="of memory"):
        highest.highest_ranks(layout, None, np.arange(9), Meter(Limits(memory=needed - 1)))


def test_the_plan_says_what_a_best_under_two_orders_costs() -> None:
    told = explain_plan([Aggregate(NEXT_GREATER, Tokens())])
    assert "the lowest indices of each row\n  dominance " in told
    assert told.endswith("\ntime O(n log² n), memory O(n)")
    counted = explain_plan([Aggregate(NEXT_GREATER.selector, Tokens())])
    assert counted.endswith("\ntime O(n log n), memory O(n)")
