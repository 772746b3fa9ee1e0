"""A formula of comparisons in; what its keys and its queries can hold, and its truth table, out."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rasp.atoms import Atom
from rasp.compiler.analysis.comparison_tables import comparison_table, in_order
from rasp.compiler.analysis.formulas import Formula, as_table, comparisons
from rasp.compiler.analysis.value_analysis import ValueAnalysis
from rasp.compiler.analysis.values import Joint
from rasp.compiler.refusals import Refusal
from rasp.graph import SOp
from rasp.graph.formulas import Comparison

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


def sides_of(values: ValueAnalysis, formula: Formula) -> tuple[Side, Side]:
    """What the keys and the queries of a formula can hold."""
    literals = comparisons(formula)
    keys = side_of(values.joints.of(list(dict.fromkeys(literal.keys for literal in literals))))
    queries = side_of(
        values.joints.of(list(dict.fromkeys(literal.queries for literal in literals)))
    )
    if len(keys.rows) * len(queries.rows) > MOST_PAIRS:
        raise Refusal(
            f"a selector compares {len(keys.rows)} values of its keys with {len(queries.rows)} "
            "of its queries, which is too many",
            'use a smaller vocabulary or length, or `heads="split"`',
        )
    return keys, queries


def side_of(joint: Joint) -> Side:
    """The different rows of what s-ops hold together; of one s-op, in order."""
    place_of: dict[tuple[Atom, ...], int] = {}
    places: list[int | None] = []
    for row in joint.rows:
        place = None if None in row else place_of.setdefault(row, len(place_of))  # type: ignore[arg-type]
        places.append(place)
    rows = list(place_of)
    if len(joint.rows) and rows and len(rows[0]) == 1:
        rank = {atom: number for number, atom in enumerate(in_order(row[0] for row in rows))}
        order = sorted(range(len(rows)), key=lambda place: rank[rows[place][0]])
        moved = {old: new for new, old in enumerate(order)}
        rows = [rows[old] for old in order]
        places = [None if place is None else moved[place] for place in places]
    return Side(joint, rows, places)


def truth_of(formula: Formula, keys: Side, queries: Side) -> np.ndarray:
    """The table of a formula, query by key."""
    literals = comparisons(formula)
    key_nodes = list(dict.fromkeys(literal.keys for literal in literals))
    query_nodes = list(dict.fromkeys(literal.queries for literal in literals))

    def table(part: bool | Comparison[SOp]) -> np.ndarray:
        assert not isinstance(part, bool), "a conjunct that is decided is none"
        columns = [row[key_nodes.index(part.keys)] for row in keys.rows]
        rows = [row[query_nodes.index(part.queries)] for row in queries.rows]
        return comparison_table(columns, rows, part.op)

    return as_table(formula, table)


def both_are_indices(values: ValueAnalysis, keys: Side, queries: Side) -> bool:
    """Whether each row of either side is a position of its own: `places` is then a permutation."""
    index = (values.index,)
    return (
        keys.joint.inputs == index
        and queries.joint.inputs == index
        and (len(keys.rows) == len(queries.rows) == len(keys.joint.rows))
    )


def positions(side: Side) -> np.ndarray:
    """The position that each row stands for, where it is a position of its own."""
    return np.argsort(np.array(side.places, int))
