"""Parts of the fast evaluator against what each says of itself: blocks, stretches, what is kept."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest
from oracle import fast_results, plain_results

from rasp.base.errors import RaspLimitError
from rasp.base.limits import DEFAULT_LIMITS, Limits
from rasp.base.meter import Meter
from rasp.language.evaluator.fast import blocked, evaluate, workspace
from rasp.language.evaluator.fast.blocked import blocks
from rasp.language.evaluator.fast.coding import codes_of
from rasp.language.evaluator.fast.highest import stretch_highest
from rasp.language.evaluator.fast.key_plan import plan_sums
from rasp.language.evaluator.fast.prepared import Prepared
from rasp.language.evaluator.fast.workspace import Batch, Workspace
from rasp.language.evaluator.plain import EvaluationError
from rasp.language.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Score,
    Select,
    SelectBest,
    SelectorAnd,
    SelectorOr,
    SOp,
    Tokens,
)

SAME = Select(Tokens(), Tokens(), "==")
BEFORE = Select(Indices(), Indices(), "<")
PARITY = Elementwise("%", (Indices(), Const(2)))
SQUARES = Elementwise("%", (Elementwise("*", (Indices(), Indices())), Const(7)))
ORDERS = SelectorAnd(
    SelectorAnd(Select(Tokens(), Tokens(), "<="), BEFORE), Select(SQUARES, Indices(), "<=")
)
"""Three orders: rows are made block by block."""


def test_a_block_has_as_many_rows_as_its_cells_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(4)
    for cells in (1, 2, 7, 40, 1000):
        monkeypatch.setattr(blocked, "BLOCK_CELLS", cells)
        for _ in range(40):
            ends = np.cumsum([rng.choice((0, 0, 1, 3)) for _ in range(rng.randint(1, 12))])
            row = rng.randrange(len(ends))
            begin = rng.randint(0, int(ends[row]))
            fitting = [stop for stop in range(row + 1, min(len(ends), row + cells) + 1)
                       if (stop - row) * (int(ends[stop - 1]) - begin) <= cells]  # fmt: skip
            assert blocked._block_end(row, begin, ends) == max(fitting, default=row + 1)


class Counting(Meter):
    """A clock that counts how often it is looked at, and may stop at one of them."""

    def __init__(self, limits: Limits = DEFAULT_LIMITS, last: float = float("inf")) -> None:
        super().__init__(limits)
        self.looks, self.last = 0, last

    def check(self) -> None:
        self.looks += 1
        if self.looks > self.last:
            raise RaspLimitError("the time is up")


def space_of(tokens: tuple[Any, ...], clock: Meter) -> Workspace:
    space = Workspace(Batch([tokens]), clock)
    prepared = Prepared((Const(7), SQUARES))
    evaluation = evaluate._Evaluation(space.batch, prepared, Meter(DEFAULT_LIMITS))
    for node in (Tokens(), Indices(), *prepared.order):
        evaluation.compute(node)
    space.columns.update(evaluation.space.columns)
    return space


def test_every_row_is_made_once_and_the_clock_looked_at_before_each_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocked, "BLOCK_CELLS", 40)
    clock = Counting()
    space = space_of(tuple("abcadbeacbdceabd"), clock)
    made = list(blocks(ORDERS, plan_sums(ORDERS), space))
    assert clock.looks >= len(made) > 3
    assert sorted(np.concatenate([block.queries for block in made]).tolist()) == list(range(16))
    for block in made:
        assert block.picks.shape == (len(block.queries), len(block.keys))
        assert block.picks.size <= 40 or len(block.queries) == 1


def test_where_the_time_is_up_among_blocks_the_node_is_named_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocked, "BLOCK_CELLS", 40)
    node = Aggregate(ORDERS, Indices())
    clocks: list[Counting] = []

    def clock(limits: Limits) -> Meter:
        clocks.append(Counting(limits, last=len(Prepared((node,)).order)))
        return clocks[-1]

    monkeypatch.setattr(evaluate, "Meter", clock)
    with pytest.raises(EvaluationError) as caught:
        evaluate.evaluate([node], [tuple("abcadbeacbdceabd")])
    assert (caught.value.node, caught.value.position) == (node, None)
    assert clocks[0].looks == clocks[0].last + 1  # not at the node's end, after many more blocks


@pytest.mark.parametrize("size", [2**23, 2**24, 2**26, 2**30, 2**31, 2**33, 2**36, 2**50])
def test_blocks_compare_and_add_wide_numbers_exactly(size: int) -> None:
    rng = random.Random(size)
    tokens = tuple(rng.choice((1, -1)) * (size + rng.randint(0, 4)) for _ in range(14))
    aside = Select(Tokens(), Elementwise("+", (Tokens(), Const(1))), "<=")
    outputs = [Aggregate(ORDERS, Tokens()), Aggregate(SelectorAnd(ORDERS, aside), Indices())]
    outputs.append(Aggregate(SelectBest(ORDERS, Score(Tokens(), Tokens())), Indices()))
    given = [tokens, tuple(map(abs, tokens)), (0, size, 2 * size, size, 0)]
    given.append((size + 1, size + 2, size + 5))
    for some in (given, given[-1:]):
        assert fast_results(outputs, some) == plain_results(outputs, some)


def test_blocks_look_only_at_groups_that_every_conjunction_asks_for() -> None:
    others = SelectorAnd(ORDERS, Select(PARITY, PARITY, "=="))
    alike = SelectorAnd(SAME, ORDERS)
    both = SelectorAnd(SAME, others)
    after = SelectorAnd(SAME, Select(Indices(), Indices(), ">"))
    tokens = tuple("abcadbeacbdceabd")
    zero = Elementwise("*", (Indices(), Const(0)))
    for keys, queries in ((zero, PARITY), (PARITY, zero)):
        apart = SelectorAnd(Select(keys, queries, "=="), ORDERS)
        assert fast_results([apart], [tokens]) == plain_results([apart], [tokens])
        counted = Aggregate(apart, Indices(), -1)
        assert fast_results([counted], [tokens]) == plain_results([counted], [tokens])
    for parts in itertools.permutations((alike, others, both, after), 3):
        selector = SelectorOr(parts[0], SelectorOr(parts[1], parts[2]))
        outputs = [Aggregate(each, Indices(), -1) for each in (SelectorOr(*parts[:2]), selector)]
        best = SelectBest(selector, Score(SQUARES, Const(1)))
        outputs.append(Aggregate(best, Indices(), -1))
        given = [tokens, tokens[3:9], ("a",)]
        assert fast_results(outputs, given) == plain_results(outputs, given)


@pytest.mark.parametrize("apart", [2**58, 2**60, 2**61 - 1, 2**61, 2**62 - 1])
def test_groups_stay_apart_where_their_numbers_would_wrap_around(apart: int) -> None:
    tokens = tuple(apart * (at // 16 % 2) for at in range(48))
    for shift, modulus in ((0, 2), (1, 4), (2, 8), (3, 16), (4, 16), (5, 9)):
        shifted = Elementwise("-", (Tokens(), Const(shift)))
        rest = Elementwise("%", (Elementwise("+", (Indices(), Const(shift))), Const(modulus)))
        selector = SelectorAnd(Select(shifted, shifted, "=="), Select(rest, rest, "=="))
        ordered = SelectorAnd(selector, Select(Tokens(), Tokens(), "<="))
        outputs = [Aggregate(each, Indices()) for each in (selector, ordered)]
        given = [tokens, tokens[7:40]]
        assert fast_results(outputs, given) == plain_results(outputs, given)


def test_the_best_of_the_best_is_among_them() -> None:
    thirds = Elementwise("%", (Indices(), Const(3)))
    tokens = (2, 0, 3, 1, 0, 3, 2, 1)
    for selector in (SAME, BEFORE, SelectorOr(SAME, BEFORE), ORDERS):
        for queries in (Const(1), Const(-1), Const(0), Elementwise("-", (thirds, Const(1)))):
            best = SelectBest(selector, Score(thirds, queries))
            last = SelectBest(best, Score(Indices(), Const(1)))
            lowest = SelectBest(last, Score(Tokens(), Const(-1)))
            outputs = [Aggregate(each, Indices(), -1) for each in (best, last, lowest)]
            assert fast_results(outputs, [tokens]) == plain_results(outputs, [tokens])


def test_the_highest_of_a_stretch_is_its_maximum() -> None:
    rng = np.random.default_rng(1)
    for length in (1, 2, 3, 4, 5, 8, 9, 16, 17, 33):
        values = rng.integers(0, 50, length)
        begin, end = np.triu_indices(length + 1)
        wanted = [max(values[low:high].tolist(), default=-1)
                  for low, high in zip(begin, end, strict=True)]  # fmt: skip
        assert stretch_highest(values, begin, end).tolist() == wanted


def test_what_is_no_longer_needed_is_not_kept_and_nothing_else_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(evaluate, "LARGE_BATCH", 0)
    held: list[tuple[int, ...]] = []

    class Watched(evaluate._Evaluation):
        def forget(self, keys: Any) -> None:
            keys = list(keys)
            super().forget(keys)
            kept = self.selections
            for used in (self.space.columns, *self.space._codes):
                assert not set(keys).intersection(used)
            varying = self.space.columns.keys() - self.prepared.constants.keys()
            caches = (varying, self.space._codes, kept._layouts, kept._counted,
                      kept._counts, kept._positions)  # fmt: skip
            held.append(tuple(map(len, caches)))

    coded: list[list[Any]] = []

    def codes(columns: list[Any]) -> Any:
        assert columns not in coded, "numbered twice"
        coded.append(columns)
        return codes_of(columns)

    monkeypatch.setattr(workspace, "codes_of", codes)
    monkeypatch.setattr(evaluate, "_Evaluation", Watched)
    found: SOp = Tokens()
    for number in range(12):
        asked = Elementwise("+", (found, Const(number)))
        selector = SelectorOr(Select(found, asked, "=="), Select(asked, found, "<"))
        best = SelectBest(selector, Score(asked, found))
        means = [Aggregate(each, values) for each in (selector, best) for values in (found, asked)]
        means.append(Aggregate(SelectorAnd(SAME, selector), asked))
        offset = Elementwise("-", (Indices(), Elementwise("%", (Indices(), Const(number + 2)))))
        lone = Select(Indices(), offset, "==")
        is_small = Elementwise("<", (found, asked))
        moved = [Aggregate(lone, each) for each in (is_small, Elementwise("not", (is_small,)))]
        for each in (*means, *moved):
            found = Elementwise("-", (found, each))
    given = [(3, 1, 2, 1), (0, 2)]
    assert fast_results([found], given) == plain_results([found], given)
    columns, *others = (max(sizes) for sizes in zip(*held, strict=True))
    assert columns <= 8
    assert all(0 < size <= 6 for size in others)
    assert set(held[-1][1:]) == {0}
