"""A formula of comparisons in; what its keys and its queries can hold, and its truth table, out.

A table of truths is query by key; `classes` are the different rows (or columns) of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rasp.base.atoms import Atom
from rasp.language.graph import Select, SOp
from rasp.models.certificate.program.cases import compared, holds
from rasp.models.compiler.analysis.formulas import Formula, as_selector, keys_and_queries
from rasp.models.compiler.analysis.value_analysis import ValueAnalysis
from rasp.models.compiler.analysis.values import Joint
from rasp.models.compiler.compile_refusals import Refusal

MOST_PAIRS = 60_000_000
"""The largest table of truths, query by key."""


@dataclass(frozen=True, eq=False)
class Side:
    """The different values of the keys (or queries) of a conjunct, and where they come from."""

    joint: Joint
    rows: list[tuple[Atom, ...]]
    places: list[int | None]
    """For each joint state, the place of its row."""

    def over_states(self, table: list[Fraction]) -> list[Fraction | None]:
        """What has these values for the rows, for each joint state."""
        return [None if place is None else table[place] for place in self.places]


def sides_of(
    values: ValueAnalysis, formula: Formula, most: int = MOST_PAIRS
) -> tuple[Side, Side]:  # fmt: skip
    """What the keys and the queries of a formula can hold, in at most so many pairs."""
    keys, queries = (side_of(values, nodes) for nodes in keys_and_queries(formula))
    if len(keys.rows) * len(queries.rows) > most:
        raise Refusal(
            f"a selector compares {len(keys.rows)} values of its keys with {len(queries.rows)} "
            "of its queries, which is too many",
            values.settings.smaller,
        )
    return keys, queries


def side_of(values: ValueAnalysis, nodes: Sequence[SOp]) -> Side:
    """The different rows of what s-ops hold together; of one s-op, in order."""
    joint = values.joints.of(nodes)
    rows = list(dict.fromkeys(row for row in joint.rows if None not in row))
    if len(nodes) == 1:
        rows.sort(key=lambda row: (isinstance(row[0], str), row[0]))  # numbers come first
    place_of = {row: place for place, row in enumerate(rows)}
    return Side(joint, rows, [place_of.get(row) for row in joint.rows])  # type: ignore[arg-type]


def truth_of(formula: Formula, keys: Side, queries: Side) -> np.ndarray:
    """The table of a formula, query by key."""
    key_nodes, query_nodes = keys_and_queries(formula)

    def table(part: Select) -> np.ndarray:
        columns = [row[key_nodes.index(part.keys)] for row in keys.rows]
        rows = [row[query_nodes.index(part.queries)] for row in queries.rows]
        return compared(columns, rows, part.op)

    truth: np.ndarray = holds(as_selector(formula), table)
    return truth


def both_are_indices(values: ValueAnalysis, keys: Side, queries: Side) -> bool:
    """Whether each row of either side is a position of its own: `places` is then a permutation."""
    index = (values.index,)
    if not keys.joint.inputs == queries.joint.inputs == index:
        return False
    return len(keys.rows) == len(queries.rows) == len(keys.joint.rows)


def positions(side: Side) -> np.ndarray:
    """The position that each row stands for, where it is a position of its own."""
    return np.argsort(np.array(side.places, int))


def classes(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different rows of a table of truths, in order, and which of them each row is.

    >>> different, places = classes(np.array([[True, False], [False, True], [True, False]]))
    >>> different.astype(int).tolist(), places.tolist()
    ([[0, 1], [1, 0]], [1, 0, 1])
    """
    packed = np.ascontiguousarray(np.packbits(rows, axis=1))
    texts = packed.view(f"S{packed.shape[1]}")[:, 0]  # rows as bytes, in the same order
    _, first, places = np.unique(texts, return_index=True, return_inverse=True)
    return rows[first], places
