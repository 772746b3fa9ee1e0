"""A head in; what its queries, keys and values read from the blocks of the stream, out.

A condition between two blocks is its table of truth T: the score is β (T[query, key] - m), a sum
over the classes of keys (or of queries) of two rows, √β each; m is 0, 1/2 or 1, whatever lets less
noise in. Conditions add up, so a picked key scores β (1 - m) for each of them, and every other key
β less at least. `select_best` adds γ · key · query, with its smallest difference at STEP, and β
grows by as much as that can spread.

The sink scores ln c above what is picked in a sum, and half-way below it in a mean that may pick
nothing. It holds the default, or 0; in a sum one more value is 1 at the sink and 0 elsewhere.
Cost: 1 dimension of the head for each class of keys or of queries, whichever are fewer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, log, sqrt

import numpy as np

from rasp.language.graph import SOp
from rasp.language.graph.formulas import Comparison
from rasp.models.compiler.analysis.formulas import Formula, comparisons, keys_and_queries
from rasp.models.compiler.analysis.times import attention_time
from rasp.models.compiler.analysis.variables import HeadOutput, PlannedHead, codes_of, default_code
from rasp.models.compiler.compile_refusals import Refusal, TooLarge
from rasp.models.compiler.emitting.rows import Row, sum_rows
from rasp.models.compiler.heads.scorers import possible_scores
from rasp.models.compiler.heads.truth_tables import Side, side_of, sides_of, truth_of
from rasp.models.compiler.heads.width_shares import boost_of
from rasp.models.compiler.robust.blocks import StreamBlocks
from rasp.models.compiler.robust.numbers import unit_of
from rasp.models.compiler.robust.plan_parts import MovedValue, RobustHead

STEP = 16
"""How far the best key scores above the next, at least."""
MOST_SPREAD = 20_000
"""The largest spread of the scores of `select_best`."""
MOST_PAIRS = 4_000_000
FEWEST_BY_BITS = 4
"""From so many different values on, what is equal is found by bits."""


def plan_head(blocks: StreamBlocks, head: PlannedHead) -> RobustHead:
    """Plan a head of which something is read."""
    head.check()
    if head.mode == "share":
        raise Refusal(
            "without a sink, its selector needs weights that do not bear noise",
            'compile with `sink=True`, or `style="compact"`',
        )
    strength, time = strength_of(blocks, head), attention_time(head.layer)
    columns, lowest, spread = _best(blocks, head)
    level = lowest
    for formula in head.conjuncts:
        products, picked = _condition_scores(
            blocks, formula, time, strength + spread, by_bits=not head.needs_uniform and not spread
        )
        columns += products
        level += picked
    if head.mode == "sum":
        sink = level + float(boost_of(blocks.values.settings.max_length))
    else:
        sink = level - strength / 2 - (0.0 if head.may_be_empty else spread + strength)
    channels = _channels(blocks, head)
    return RobustHead(head, columns, sink, channels)


def strength_of(blocks: StreamBlocks, head: PlannedHead) -> float:
    """How far below a picked key every other key scores: a square, so that its root is exact.

    What is not picked then moves a number by a tenth of the distance to the next threshold, and the
    block that a lone pick moves by less than 1/1000. More would help less than it costs: scores err
    in proportion where the stream carries noise.
    """
    length = blocks.analysis.settings.max_length
    finest = blocks.finest.get(head, 50.0)
    least = log(20 * length * finest)
    if head.may_be_empty:  # the sink is half-way
        least = 2 * log(20 * length * max(finest, 100.0))
    return float((ceil(8 * sqrt(least)) / 8) ** 2)


def _condition_scores(
    blocks: StreamBlocks, formula: Formula, time: int, strength: float, by_bits: bool
) -> tuple[list[tuple[Row, Row]], float]:
    """A condition as products of rows, and what a picked key scores by it."""
    literals, (key_nodes, query_nodes) = comparisons(formula), keys_and_queries(formula)
    keys, queries = sides_of(blocks.values, formula, MOST_PAIRS)
    truth = truth_of(formula, keys, queries).astype(float)
    if by_bits and (matched := _matches(truth)) is not None:
        scores = _Scores(blocks, time, keys, queries, truth)
        return scores.by_bits(*matched, strength), strength * _bits(*matched) / 2
    lower = min((0.0, 0.5, 1.0), key=lambda level: _noise(truth - level))
    whole = _Scores(blocks, time, keys, queries, truth - lower)
    given = {(blocks.values.token,), (blocks.values.index,)}
    apart = [
        whole.apart(literal, key_nodes.index(literal.keys), query_nodes.index(literal.queries))
        for literal in literals if len(key_nodes) > 1
        and {blocks.values.of(side).inputs for side in (literal.keys, literal.queries)} <= given
    ]  # fmt: skip
    parts = min(
        [[whole], *apart], key=lambda tables: sum(_noise(scores.table) for scores in tables)
    )
    products = [pair for part in parts for pair in part.products(sqrt(strength))]
    return products, (1.0 - lower) * strength


def _matches(truth: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Numbers for keys and for queries that are equal where a table of truth holds; None where
    there are none, or few.
    """
    if len(truth) == 0 or not truth.any():
        return None
    _, first, queries = np.unique(truth, axis=0, return_index=True, return_inverse=True)
    different = truth[first]
    if (different.sum(axis=0) > 1).any():
        return None
    keys = np.where(different.any(axis=0), different.argmax(axis=0), len(first))
    order = {number: place for place, number in enumerate(dict.fromkeys(keys.tolist()))}
    order |= {number: len(order) + place for place, number in enumerate(
        number for number in range(len(first)) if number not in order)}  # fmt: skip
    numbers = np.array([order.get(number, 0) for number in range(len(first) + 1)])
    found = numbers[keys], numbers[queries.reshape(-1)]
    return found if max(map(np.max, found)) >= FEWEST_BY_BITS else None


def _bits(keys: np.ndarray, queries: np.ndarray) -> int:
    """How many bits tell numbers apart."""
    return int(max(keys.max(), queries.max())).bit_length()


def _noise(table: np.ndarray) -> float:
    """How much noise a table lets into scores, at most, as a square: by a query and by a key."""
    squares = table**2
    return float(squares.sum(axis=0).max() + squares.sum(axis=1).max())


@dataclass(frozen=True, eq=False)
class _Scores:
    """A table of what is added to scores, (query, key)."""

    blocks: StreamBlocks
    time: int
    keys: Side
    queries: Side
    table: np.ndarray

    def products(self, root: float) -> list[tuple[Row, Row]]:
        """It as products of rows: one for each class of the side that has fewer."""
        by_query, query_class = np.unique(self.table, axis=0, return_inverse=True)
        table, key_class = np.unique(by_query.T, axis=0, return_inverse=True)
        sent = self._read(self.keys, key_class.reshape(-1).tolist())
        asked = self._read(self.queries, query_class.reshape(-1).tolist())
        if len(table) <= table.shape[1]:
            pairs = [(_sum_of_classes(asked, table[key]), sent[key]) for key in sent]
        else:
            pairs = [(asked[query], _sum_of_classes(sent, table[:, query])) for query in asked]
        return [(query.times(root), key.times(root)) for query, key in pairs
                if (query.weights or query.constant) and (key.weights or key.constant)]  # fmt: skip

    def by_bits(
        self, key_numbers: np.ndarray, query_numbers: np.ndarray, strength: float
    ) -> list[tuple[Row, Row]]:
        """Products of bits, of 1/2 or -1/2: equal numbers score highest, and each bit in which
        numbers differ takes the strength off.
        """
        asked = self._read(self.queries, query_numbers.tolist())
        sent = self._read(self.keys, key_numbers.tolist())
        root = sqrt(2 * strength)
        return [(_bit_row(asked, bit).times(root), _bit_row(sent, bit).times(root))
                for bit in range(_bits(key_numbers, query_numbers))]  # fmt: skip

    def _read(self, side: Side, class_of: Sequence[int]) -> dict[int, Row]:
        """A row for each class of what keys or queries hold."""
        labels = [None if place is None else class_of[place] for place in side.places]
        rows = self.blocks.rows(side.joint.inputs, labels, self.time, side.joint.layer)
        return {int(label): row for label, row in rows.items()}  # type: ignore[call-overload]

    def apart(self, literal: Comparison[SOp], key: int, query: int) -> list[_Scores]:
        """Scores by what one comparison compares, and what is left: less noise than all at once.

        `key` and `query` say which of the s-ops it compares.
        """
        keys, queries = (side_of(self.blocks.values, [node])
                         for node in (literal.keys, literal.queries))  # fmt: skip
        places = np.ix_([queries.rows.index((row[query],)) for row in self.queries.rows],
                        [keys.rows.index((row[key],)) for row in self.keys.rows])  # fmt: skip
        low, high = (np.full((len(queries.rows), len(keys.rows)), end) for end in (np.inf, -np.inf))
        np.minimum.at(low, places, self.table)
        np.maximum.at(high, places, self.table)
        middle = np.where(low <= high, (low + high) / 2, 0.0)
        alone = replace(self, keys=keys, queries=queries, table=middle)
        return [alone, replace(self, table=self.table - middle[places])]


def _bit_row(rows: Mapping[int, Row], bit: int) -> Row:
    """A bit of the numbers of classes, as 1/2 or -1/2."""
    ones = (row for number, row in rows.items() if (number ^ (number >> 1)) >> bit & 1)
    return sum_rows([*ones, Row({}, -0.5)])


def _sum_of_classes(rows: Mapping[int, Row], weights: np.ndarray) -> Row:
    """The sum of the rows of classes, each times a weight."""
    return sum_rows(row.times(float(weights[place])) for place, row in rows.items())


def _best(blocks: StreamBlocks, head: PlannedHead) -> tuple[list[tuple[Row, Row]], float, float]:
    """The scores of `select_best` as products, the lowest, and how far they spread."""
    scores = possible_scores(blocks.values, head.best, STEP, MOST_SPREAD)
    if scores is None:
        return [], 0.0, 0.0
    gamma = STEP / float(scores.gap)
    columns, time = [], attention_time(head.layer)
    for place, term in enumerate(scores.terms):
        most_asked, most_sent = (max(abs(float(row[place])) for row in rows) or 1.0
                                 for rows in (scores.asked, scores.sent))  # fmt: skip
        share = sqrt(gamma * most_asked / most_sent)
        if not share:
            raise TooLarge
        query, key = (blocks.number_row(side, time) for side in (term.queries, term.keys))
        columns.append((query.times(gamma / share), key.times(share)))
    return columns, gamma * float(scores.lowest), gamma * float(scores.highest - scores.lowest)


def _channels(blocks: StreamBlocks, head: PlannedHead) -> list[MovedValue]:
    """The values that a head moves: a block for what it picks, a number for what it adds up."""
    channels, time = [], attention_time(head.layer)
    for output in head.outputs:
        if output in blocks.block_dims:
            channels += _picked_channels(blocks, output)
        elif output in blocks.number_dims:
            unit = unit_of(blocks, output)
            held = (blocks.number_row(output.values, time) if output.carrier is None
                    else blocks.count_row(output.carrier, time))  # fmt: skip
            row = sum_rows([held, Row({}, -float(default_code(output)))])
            channels.append(MovedValue({output: 1 / Fraction(unit)}, row.times(1 / unit), 0.0,
                                       blocks.number_dims[output]))  # fmt: skip
    if head in blocks.share_dims:
        channels.append(MovedValue({}, Row(), 1.0, blocks.share_dims[head]))
    return channels


def _picked_channels(blocks: StreamBlocks, output: HeadOutput) -> list[MovedValue]:
    """A channel for each code: 1 where the key's value has it (at the sink: the default)."""
    values = blocks.values.of(output.values)
    codes = output.codes or codes_of(values.atoms)
    rows = blocks.rows_of(values, codes.__getitem__, attention_time(output.layer))
    own = None if output.default is None else default_code(output)
    return [MovedValue({output: Fraction(1)}, rows.get(code, Row()), float(code == own), dim)
            for code, dim in blocks.block_dims[output].items()]  # fmt: skip
