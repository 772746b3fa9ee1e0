"""Examples as values: what each position of an input should give, and what cannot be wanted."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from rasp.base.atoms import Atom, from_python, read_input, show_input
from rasp.base.errors import RaspTypeError, RaspValueError

Answer: TypeAlias = tuple[Atom | None, ...]
MOST_PARTS = 2000
FLOAT_TOLERANCE = Fraction(1, 10**9)
"""How far the floats of an oracle or a file may be off; RASP's own numbers are exact."""


def read_pair(given: Any, output: Any, last: bool) -> tuple[tuple[Atom, ...], Answer]:
    tokens = read_input(given)
    return tokens, read_output(tokens, output, last)


def read_output(tokens: tuple[Atom, ...], output: Any, last: bool) -> Answer:
    """What each position should give; one value stands for all, or for the last."""
    is_text = isinstance(output, str) and len(output) == len(tokens) and not last
    if is_text or isinstance(output, (list, tuple)) or hasattr(output, "tolist"):
        items = output if isinstance(output, (str, list, tuple)) else output.tolist()
        values = tuple(None if item is None else _atom(item) for item in items)
        if last:
            values = (values[-1],) if values else ()
        elif len(values) != len(tokens):
            raise RaspValueError(
                f"{show_input(tokens)} has {len(tokens)} tokens, but its output has {len(values)}",
                hint="give one value for each position, or one for the whole input",
            )
    else:
        values = (_atom(output),) * (1 if last else len(tokens))
    return (*[None] * (len(tokens) - 1), values[-1]) if last else values


def _atom(value: Any) -> Atom:
    """An atom; a float becomes the simple fraction that it is nearest to."""
    atom = from_python(value)
    if not isinstance(value, float):
        return atom
    simple = Fraction(value).limit_denominator(MOST_PARTS)
    return simple if abs(simple - Fraction(value)) < FLOAT_TOLERANCE else atom


def check_pairs(pairs: Sequence[tuple[tuple[Atom, ...], Answer]]) -> None:
    """Refuse what no program can give: two answers to one input, strings beside numbers."""
    said: dict[tuple[Atom, ...], Answer] = {}
    kinds: dict[bool, tuple[Atom, ...]] = {}
    for tokens, wanted in pairs:
        if said.setdefault(tokens, wanted) != wanted:
            raise RaspValueError(
                f"{show_input(tokens)} has two different outputs", hint="remove one of them"
            )
        kinds.update({isinstance(atom, str): tokens for atom in wanted if atom is not None})
    if len(kinds) > 1:
        raise RaspTypeError(
            "some outputs are strings, others are not: an s-op holds one kind "
            f"(strings for {show_input(kinds[True])}, none for {show_input(kinds[False])})",
            hint="write all of them as strings, or as numbers and bools",
        )
    if not kinds:
        raise RaspValueError("no output says anything", hint="give a value for some position")
