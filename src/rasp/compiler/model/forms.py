"""Values as plain JSON, and back: a form says once how something is written and how it is read.

Forms of small things are put together to forms of lists, rows (data classes as lists of their
fields) and records (data classes as objects). A file may come from a stranger, so nothing is
converted on the way in: what is not of the right kind is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Generic, TypeVar

from rasp.atoms import Atom
from rasp.graph.portable import atom_from_json, atom_to_json, broken

Value = TypeVar("Value")
Key = TypeVar("Key")
KEYS = {"node": "s_op", "is_block": "block"}
"""Fields whose keys in a file are not their names."""
NEVER = object()


@dataclass(frozen=True)
class Form(Generic[Value]):
    """How values of one kind are written, and read back."""

    write: Callable[[Value], Any]
    read: Callable[[Any], Value]
    usual: Any = NEVER
    """The value that is not written at all, in a record or at the end of a row."""
    width: int = 0
    """Of a row: how many entries it has. As a part of a pair it is written without brackets."""

    def unless(self, usual: object) -> Form[Value]:
        """The same, left out where the value is the usual one."""
        return replace(self, usual=usual)


def plain(*kinds: type) -> Form[Any]:
    """What is in a file as it is; `true` is not a number."""

    def read(entry: Any) -> Any:
        if type(entry) not in kinds:
            raise broken("a value")
        return entry

    return Form(lambda value: value, read)


def whole(below: float = float("inf")) -> Form[int]:
    """A whole number from 0 on."""

    def read(entry: Any) -> int:
        if type(entry) is not int or not 0 <= entry < below:
            raise broken("a number")
        return entry

    return Form(lambda number: number, read)


def _fraction(entry: Any) -> Fraction:
    if set(TEXT.read(entry)) - set("-/0123456789"):  # no exponents: they make huge numbers
        raise broken("a fraction")
    return Fraction(entry)


TEXT, TRUTH, NUMBER, WHOLE = plain(str), plain(bool), plain(float, int), whole()
FRACTION = Form(str, _fraction)
ATOM: Form[Atom] = Form(atom_to_json, atom_from_json)


def optional(form: Form[Value]) -> Form[Value | None]:
    """Something, or null."""
    return Form(lambda value: None if value is None else form.write(value),
                lambda entry: None if entry is None else form.read(entry))  # fmt: skip


def listed(form: Form[Value]) -> Form[tuple[Value, ...]]:
    """Several of a kind."""
    return Form(lambda values: [form.write(value) for value in values],
                lambda entries: tuple(map(form.read, plain(list).read(entries))))  # fmt: skip


def row(kind: Callable[..., Value], *forms: Form[Any]) -> Form[Value]:
    """A tuple, or the fields of a data class, as a list; the last may be left out."""
    least = sum(form.usual is NEVER for form in forms)

    def write(value: Any) -> list[Any]:
        parts = value if isinstance(value, tuple) else vars(value).values()
        return [form.write(part) for form, part in zip(forms, parts, strict=True)
                if part != form.usual]  # fmt: skip

    def read(entries: Any) -> Value:
        if not least <= len(plain(list).read(entries)) <= len(forms):
            raise broken("a list")
        return kind(*(form.read(entry) for form, entry in zip(forms, entries, strict=False)))

    return Form(write, read, width=len(forms))


def record(kind: Callable[..., Value], **forms: Form[Any]) -> Form[Value]:
    """Fields of a data class as an object."""

    def write(value: Value) -> dict[str, Any]:
        parts = {name: getattr(value, name) for name in forms}
        return {KEYS.get(name, name): forms[name].write(part)
                for name, part in parts.items() if part != forms[name].usual}  # fmt: skip

    def read(entry: Any) -> Value:
        there = [(name, KEYS.get(name, name)) for name, form in forms.items()
                 if form.usual is NEVER or KEYS.get(name, name) in entry]  # fmt: skip
        return kind(**{name: forms[name].read(entry[key]) for name, key in there})

    return Form(write, read)


def pairs(key: Form[Key], value: Form[Value]) -> Form[Mapping[Key, Value]]:
    """A mapping as a list of its pairs."""

    def write(mapping: Mapping[Key, Value]) -> list[Any]:
        return [[*_parts(key, one), *_parts(value, other)] for one, other in mapping.items()]

    def read(entries: Any) -> Mapping[Key, Value]:
        first = key.width or 1
        return {_joined(key, entry[:first]): _joined(value, entry[first:])
                for entry in plain(list).read(entries)}  # fmt: skip

    return Form(write, read)


def _parts(form: Form[Any], value: Any) -> list[Any]:
    written = form.write(value)
    return list(written) if form.width else [written]


def _joined(form: Form[Value], parts: list[Any]) -> Value:
    if form.width:
        return form.read(parts)
    (only,) = parts
    return form.read(only)
