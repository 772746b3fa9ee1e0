"""A Python function and the atoms it may meet in, an s-op out: the function as a table.

Called for every combination of atoms when the program is built, the function becomes a dict that
s-ops index: so it prints, compares and compiles like everything else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from rasp.base.atoms import Atom, PythonAtom, describe, from_python, is_atom, show
from rasp.base.errors import RaspError, RaspTypeError, RaspValueError
from rasp.base.limits import DEFAULT_LIMITS
from rasp.language.embedding import handle_refusals
from rasp.language.embedding.handle_operators import SOpHandle, built
from rasp.language.embedding.handles import value_of
from rasp.language.graph import SOp
from rasp.language.meaning.containers import index
from rasp.language.meaning.operations import check_size
from rasp.language.meaning.value_kinds import Value

Domain = Iterable[PythonAtom | Fraction]


def map(
    function: Callable[..., PythonAtom | Fraction],
    *s_ops: SOpHandle,
    over: Domain | Sequence[Domain],
) -> SOpHandle:
    """Apply a Python function at each position, as a table of all its values.

    `over` lists the atoms that the s-ops can hold: one list for all of them, or one list each.
    The function is called now, once for each combination. A program that meets an atom which is
    not listed fails there, with an error that names it.

    >>> import rasp
    >>> rasp.map(str.upper, rasp.tokens, over="abc")("cab")
    ['C', 'A', 'B']
    >>> rasp.map(max, rasp.indices, rasp.tokens, over=[range(3), [0, 2]])([2, 0, 0])
    [2, 1, 2]
    >>> print(rasp.map(ord, rasp.tokens, over="ab").rasp(), end="")
    result = {"a": 97, "b": 98}[tokens];
    """
    try:
        columns = _columns(s_ops)
        domains = _domains(over, len(columns))
        check_size(math.prod(len(domain) for domain in domains), DEFAULT_LIMITS)
        values = {row: _value(function, row) for row in product(*domains)}
    except RaspError as error:
        raise handle_refusals.at_the_caller(error) from None

    def build(*given: Value) -> Value:
        return _table(list(given), domains, values, ())

    return built(SOpHandle, build, *s_ops)


def _columns(s_ops: Sequence[SOpHandle]) -> list[Value]:
    if not s_ops:
        raise RaspTypeError(
            "`map` needs an s-op to apply the function to",
            hint='write `rasp.map(str.upper, rasp.tokens, over="abc")`',
        )
    columns = [value_of(s_op) for s_op in s_ops]
    for column in columns:
        if not isinstance(column, SOp) and not is_atom(column):
            raise RaspTypeError(
                f"`map` applies a function to s-ops, but this is {describe(column)}",
                hint="`aggregate` turns a selector into an s-op",
            )
    return columns


def _domains(over: Any, count: int) -> list[list[Atom]]:
    """One list of atoms for each s-op."""
    items = list(over)
    if not any(isinstance(item, (list, tuple, range, set, frozenset)) for item in items):
        return [_atoms(items)] * count
    if len(items) != count:
        raise RaspValueError(
            f"`over` has {len(items)} lists of atoms for {count} s-op" + "s" * (count != 1),
            hint="give one list of atoms for all s-ops, or one list for each",
        )
    return [_atoms(list(item)) for item in items]


def _atoms(items: list[Any]) -> list[Atom]:
    if not items:
        raise RaspValueError(
            "`over` lists no atoms", hint='list what the s-ops can hold, as in `over="abc"`'
        )
    return list(dict.fromkeys(from_python(item) for item in items))


def _value(function: Callable[..., Any], row: tuple[Atom, ...]) -> Atom:
    given = [float(atom) if isinstance(atom, Fraction) else atom for atom in row]
    called = (
        f"{getattr(function, '__name__', 'the function')}({', '.join(show(atom) for atom in row)})"
    )
    try:
        result = function(*given)
    except Exception as error:
        raise RaspValueError(
            f"`{called}` fails: {type(error).__name__}: {error}",
            hint="leave what the function cannot take out of `over`",
        ) from error
    try:
        return from_python(result)
    except RaspError as error:
        error.about = (f"`{called}` gives no atom",)
        error.hints = ("let the function return a bool, a number or a string",)
        raise


def _table(
    columns: list[Value],
    domains: list[list[Atom]],
    values: dict[tuple[Atom, ...], Atom],
    row: tuple[Atom, ...],
) -> Value:
    """A dict of dicts, indexed by one s-op after the other."""
    if not columns:
        return values[row]
    first, *others = columns
    items = {
        atom: _table(others, domains[1:], values, (*row, atom))
        for atom in domains[0]
    }  # fmt: skip
    return index(items, first)
