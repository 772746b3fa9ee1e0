"""What heads put out in; everything that this can be, out: each with the reason why that is all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from rasp.base.atoms import Atom
from rasp.language.graph import SOp
from rasp.models.certificate.claims import INDEX, ClaimedOutput, HeadClaim, HeadOutputClaim, Refused
from rasp.models.certificate.program.reach import means, subset_sums, sums
from rasp.models.certificate.program.tables import Array, typed

if TYPE_CHECKING:
    from rasp.models.certificate.program.values import ProvedValues

State = tuple[Atom, Fraction]
"""An atom, and the number that stands for it."""


def states_of_output(values: ProvedValues, variable: int) -> list[State]:
    """Whatever a head picks, it puts out one of these: sums or means of what keys can hold."""
    head, output = values.head(variable), values.output(variable)
    most = values.inputs.max_length
    if head.mode == "share":
        check_share(values, head, output)
        shares = [share(head, others) for others in range(int(head.outweighs), most)]
        return [(number, number) for number in {*shares, Fraction(head.outweighs)}]
    if output.carrier is not None:
        return _moved_counts(values, head, output)
    totals = by_length(values, variable)
    if totals is not None:
        return [(number, Fraction(number)) for number in totals]
    if head.mode == "sum":
        return [
            (number, number) for number in sums_of(values, [output.values], int(head.never_empty))
        ]
    atoms = values.picks.atoms(output.values, None)
    numbers = [Fraction(atom) for atom in atoms if not isinstance(atom, (bool, str))]
    if values.picks.picks_one_value(head, output):
        numbers = [] if values.picks.picks_one(head) else numbers
    elif len(numbers) < len(atoms) and not values.picks.fails_for_several(head, output):
        raise Refused("a head averages what has no mean")
    elif not _is_affine(_codes_averaged(output, numbers)):
        raise Refused("a mean of codes is not the code of the mean")
    elif numbers:
        numbers = means(numbers, most)
    return [(atom, output.code(atom)) for atom in (*atoms, *numbers, *_default(head, output))]


def _codes_averaged(output: HeadOutputClaim, numbers: Sequence[Fraction]) -> dict[Atom, Fraction]:
    """The codes that means are made of. The sink alone sends a default: its code is none of them,
    where it is below or above all that keys hold, and so no mean of that.
    """
    codes, default = dict(output.codes or {}), output.default
    if default is None or isinstance(default, str) or not numbers:
        return codes
    if not min(numbers) <= Fraction(default) <= max(numbers):
        codes.pop(default, None)
    return codes


def _is_affine(codes: Mapping[Atom, Fraction]) -> bool:
    """Whether codes of numbers are a line, so that means of them are codes of means."""
    points = [(Fraction(atom), code) for atom, code in codes.items() if not isinstance(atom, str)]
    steps = [(atom - points[0][0], code - points[0][1]) for atom, code in points[1:]]
    return all(atom * steps[0][1] == code * steps[0][0] for atom, code in steps)


def _default(head: HeadClaim, output: HeadOutputClaim) -> list[Atom]:
    """What is put out where nothing is picked."""
    if head.never_empty:
        return []
    if output.default is None:
        raise Refused("a head may pick nothing, and no default is claimed")
    return [output.default]


def sums_of(values: ProvedValues, nodes: Sequence[SOp], least: int) -> list[Fraction]:
    """All sums of what heads pick that share out the keys, each adding its own s-op.

    Each position is picked once at most: where only index 0 holds more than 0, it adds that
    or nothing; where the index decides a value, no value is added twice; otherwise at most N
    values are added, and as many as always are, at least.
    """
    columns = [values.table(node)[1] for node in nodes]
    listed = as_numbers(atom for column in columns for atom in column.listed() if atom is not None)
    if not any(any(values.picks.atoms(node, False)) for node in nodes):
        firsts = [atom for node in nodes for atom in values.picks.atoms(node, True)]
        return sorted({Fraction(0), *(Fraction(atom) for atom in firsts)})
    by_index = columns[0].in_order()
    is_alike = all(values.over(node) == (INDEX,) for node in nodes) and all(
        column.in_order() == by_index for column in columns[1:]
    )
    if is_alike and None not in by_index:
        return subset_sums([Fraction(atom) for atom in by_index])  # type: ignore[arg-type]
    return sums(listed, values.inputs.max_length, least)


def as_numbers(atoms: Iterable[Atom]) -> list[Fraction]:
    """What is added up: a string is no number, even if its letters are. "1" + "2" is "12"."""
    listed = list(atoms)
    if any(isinstance(atom, str) for atom in listed):
        raise Refused("a sum of strings")
    return [Fraction(atom) for atom in listed]


def _moved_counts(values: ProvedValues, head: HeadClaim, output: HeadOutputClaim) -> list[State]:
    """A count in place of the values that it decides: picked once, or a bool, of which the program
    averages no two; or a mean of counts, for who asks only whether something is above 0.
    """
    assert output.carrier is not None
    column = values.column(output.values, values.space((output.carrier,)))
    if column.kinds:
        raise Refused("a count is moved for numbers of uncertain kind")
    atoms = values.by_state(output.values, output.carrier)
    states: list[State] = [
        (atom, Fraction(count)) for count, atom in enumerate(atoms) if atom is not None
    ]
    are_bools = all(isinstance(atom, bool) for atom in column.atoms)
    if not (values.picks.picks_one(head)
            or (are_bools and values.picks.fails_for_several(head, output))):  # fmt: skip
        counts = [Fraction(count) for count in range(len(atoms))]
        states = [(mean, mean) for mean in means(counts, values.inputs.max_length)]
    return states + [(atom, output.base) for atom in _default(head, output)]


# -- outputs that the length decides --------------------------------------------------------------


def by_length(values: ProvedValues, variable: int) -> list[int | Fraction] | None:
    """What an output is at length 1, 2, …, where that decides it: the head picks every key,
    and the index decides what a key holds, so that it is the sum or the mean of the first so
    many. A mean of one number is that number itself.
    """
    if not isinstance(values.claims.variables[variable], ClaimedOutput):
        return None
    head, output = values.head(variable), values.output(variable)
    picks_all = not head.conjuncts and head.best is None and head.mode in ("sum", "mean")
    if not picks_all or not output.is_plain or values.over(output.values) not in ((), (INDEX,)):
        return None
    atoms = values.column(output.values, values.space((INDEX,))).in_order()
    if not all(type(atom) in (int, Fraction) for atom in atoms):
        return None
    totals = list(accumulate(map(Fraction, atoms)))  # type: ignore[arg-type]
    if head.mode == "mean":
        totals[1:] = [total / count for count, total in enumerate(totals[1:], 2)]
        return [atoms[0], *totals[1:]]  # type: ignore[list-item]
    return [*totals]


def longest(values: ProvedValues, variable: int) -> Array | None:
    """(state,): the longest input on which an output is in a state, if the length decides it.

    Every index is below the length.
    """
    totals = by_length(values, variable)
    if totals is None:
        return None
    last = {typed(atom): length for length, atom in enumerate(totals, 1)}
    return np.array([last[typed(atom)] for atom in values.domain(variable).atoms])


# -- shares of position 0 -------------------------------------------------------------------------


def share(head: HeadClaim, others: int) -> Fraction:
    """What position 0 gets of a head's attention, as many others being picked."""
    return head.weight / (head.weight + others)


def check_share(values: ProvedValues, head: HeadClaim, output: HeadOutputClaim) -> None:
    """What comes out is the share of position 0, which sends 1, and every other 0: of all that is
    picked, so something has to be, always. Where a promise is read, this has to be so without it:
    a promise that tells what is picked from shares cannot say itself that these are shares.
    """
    if not head.never_empty:
        raise Refused("a head that gives shares may pick nothing")
    firsts, others = (values.picks.atoms(output.values, first) for first in (True, False))
    if firsts != [1] or any(others):
        raise Refused("a share is not of position 0 alone")


def numbers_of_shares(
    values: ProvedValues, variables: Sequence[int]
) -> dict[Fraction, tuple[bool, int]]:
    """What the shares of two heads add up to, and what that tells: whether position 0 is picked,
    and how many others.

    Both heads have one selector, which always picks something: where not position 0, another one.
    """
    for variable in variables:
        check_share(values, values.head(variable), values.output(variable))
    first, second = (values.head(variable) for variable in variables)
    alike = first.selectors == second.selectors and first.weight == second.weight > 0
    if not alike or first.outweighs == second.outweighs:
        raise Refused("two heads that give shares do not belong together")
    shares = [share(first, others) for others in range(values.inputs.max_length)]
    without_first = {number: (False, others) for others, number in enumerate(shares) if others}
    return without_first | {1 + number: (True, others) for others, number in enumerate(shares)}
