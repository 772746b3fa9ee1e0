"""An s-op that is one of several others in; all that it can be out, without looking at these
together.

Rule. Let `which` be the same tree of `if`s as an s-op, with numbers in place of its leaves. Where
`which` is k, the s-op is leaf k: at each `if` both take the same branch, and at the end of that
path the one finds the leaf and the other its number. So there is a case for each number, in which
one leaf matters. In a table of these cases, what else is there is left open (`ANY`): whatever is
said of such a combination holds for every state of what is left open.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rasp.language.graph import Const, Elementwise, SOp
from rasp.models.certificate.claims import Refused
from rasp.models.certificate.program.tables import AtomColumn, Space, column_of

if TYPE_CHECKING:
    from rasp.models.certificate.program.values import ProvedValues

ANY = -1


def choice_table(values: ProvedValues, node: SOp) -> tuple[Space, AtomColumn]:
    """A choice by cases."""
    which, leaves = values.claims.choices[node]
    if not _are_parallel(node, which, leaves):
        raise Refused("an s-op is not the choice that is claimed")
    over = tuple(dict.fromkeys(values.over(node)))
    number = values.node_variables.get(which)
    if number is None or number not in over:
        raise Refused("nothing says which s-op a choice is")
    grids, atoms, places, done = [], [], [], 0
    kinds: frozenset[type] = frozenset()
    for state, leaf_number in enumerate(values.domain(number).atoms):
        leaf = leaves[int(leaf_number)]
        own = values.node_variables.get(leaf)
        inner = (own,) if own in over else tuple(values.over(leaf))
        if not set(inner) <= set(over):
            raise Refused("a leaf of a choice is not a function of what is claimed")
        space = values.space((number, *inner))
        fine = space.grid[0] == state
        column = values.column(leaf, space)
        grid = np.full((len(over), int(fine.sum())), ANY)
        for variable, row in zip(space.variables, space.grid, strict=True):
            grid[over.index(variable)] = row[fine]
        grids.append(grid)
        atoms += column.atoms
        kinds |= column.kinds
        places.append(column.places[fine] + done)
        done += len(column.atoms)
    whole = replace(column_of(atoms, np.concatenate(places)), kinds=kinds)
    return Space(over, np.concatenate(grids, axis=1)), whole


def _are_parallel(node: SOp, which: SOp, leaves: tuple[SOp, ...]) -> bool:
    waiting, seen = [(node, which)], {(node, which)}
    while waiting:
        match waiting.pop():
            case _, Const(bool()):
                return False
            case leaf, Const(int() as number):
                if not 0 <= number < len(leaves) or leaves[number] is not leaf:
                    return False
            case Elementwise("if", (condition, *ones)), Elementwise("if", (same, *others)) if (
                condition is same
            ):
                pairs = {*zip(ones, others, strict=True)} - seen
                seen |= pairs
                waiting += pairs
            case _:
                return False
    return True
