"""Programs, claims and arrays that are not quite those of a model.

One thing of a program is another one: a constant, an operator, two operands, a default, a selector.
Claims name nodes; they are carried over to the nodes that are in the same places now, all of them
or only those that speak of the program. Claims are changed by themselves, too, and arrays in two
places at once.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from models import Arrays
from rasp.base.atoms import Atom
from rasp.language.graph import (
    COMPARISONS,
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Node,
    Score,
    Select,
    SelectBest,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SOp,
    Tokens,
    in_order,
)
from rasp.models.certificate.claims import Claims, SumPart

Carry = Callable[[Any], Any]
OPERATORS = (
    ("+", "-", "*", "/", "%", "//"), COMPARISONS, ("and", "or"),
    ("round", "floor", "int", "negate", "plus", "abs", "indicator", "bool", "float", "not"),
)  # fmt: skip
ORDERS = ("==", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True)
class Swap:
    """One node of a program, and what is in its place."""

    old: Node
    new: Node

    def carry(self) -> Carry:
        """A function that puts the new node in place of the old one, wherever that is."""
        made: dict[Node, Node] = {self.old: self.new}

        def at(node: Node) -> Node:
            for inner in in_order([node]):
                if inner not in made:
                    made[inner] = _with_needs(inner, made)
            return made[node]

        return at


def _with_needs(node: Node, made: dict[Node, Node]) -> Node:
    """The same node over what its needs have become."""
    parts = {}
    for each in fields(node):  # type: ignore[arg-type]
        value = getattr(node, each.name)
        if isinstance(value, tuple):
            value = tuple(made[part] for part in value)
        parts[each.name] = made[value] if isinstance(value, Node) else value
    return type(node)(**parts)


def swaps(outputs: dict[str, Node], atoms: tuple[Atom, ...]) -> Iterator[Swap]:
    """Every node of a program with everything that may be in its place; `atoms` are tokens."""
    for node in in_order(list(outputs.values())):
        for other in _instead(node, atoms):
            if other is not node:
                yield Swap(node, other)


def _instead(node: Node, atoms: tuple[Atom, ...]) -> Iterator[Node]:
    match node:
        case Tokens():
            yield Indices()
        case Indices():
            yield from (Tokens(), Elementwise("+", (Indices(), Const(1))), Const(0))
        case Const(value):
            yield from map(Const, _other_atoms(value, atoms))
        case Elementwise(op, operands):
            known = [some for some in OPERATORS if op in some]
            yield from (Elementwise(other, operands) for some in known for other in some)
            if len(operands) == 2 or op == "if":
                yield Elementwise(op, (*operands[:-2], operands[-1], operands[-2]))
            yield from operands
        case Aggregate(selector, values, default):
            for atom in _other_atoms(default, atoms):
                yield Aggregate(selector, values, atom)
            yield Aggregate(SelectorNot(selector), values, default)
            yield from (Aggregate(selector, Const(1), default), values)
            yield from (Aggregate(selector, part, default) for part in values.needs
                        if isinstance(part, SOp))  # fmt: skip
        case Select(keys, queries, op):
            yield from (Select(keys, queries, other) for other in ORDERS)
            yield Select(queries, keys, op)
            yield from (SelectorNot(node), Select(keys, keys, op), Select(queries, queries, op))
        case SelectorAnd(left, right) | SelectorOr(left, right):
            yield from (SelectorAnd(left, right), SelectorOr(left, right), left, right)
            yield from (SelectorAnd(left, SelectorNot(right)), SelectorOr(SelectorNot(left), right))
        case SelectorNot(selector):
            yield selector
        case SelectBest(selector, scorer):
            yield from (selector, SelectBest(SelectorNot(selector), scorer))
            yield SelectBest(_everything(), scorer)
        case Score(keys, queries):
            yield from (Score(queries, keys), Score(keys, Const(1)), Score(keys, Const(-1)))
            yield Score(keys, Const(0))


def _everything() -> Selector:
    return Select(Const(0), Const(0), "==")


def _other_atoms(value: Atom, atoms: tuple[Atom, ...]) -> list[Atom]:
    if isinstance(value, str):
        return [atom for atom in (*atoms, "x", "") if isinstance(atom, str)]
    if isinstance(value, bool):
        return [not value, int(value)]
    return [value + 1, value - 1, -value, Fraction(value), value == 1, Fraction(2 * value + 1, 2)]


# -- claims ---------------------------------------------------------------------------------------


def carried(part: Any, carry: Carry) -> Any:
    """Claims, or a part of them, about the nodes that are in the same places."""
    if isinstance(part, Node):
        return carry(part)
    if isinstance(part, SumPart):  # a tuple that no node is in
        return part
    if isinstance(part, tuple):
        return tuple(carried(each, carry) for each in part)
    if isinstance(part, dict):
        pairs = ((carried(key, carry), carried(value, carry)) for key, value in part.items())
        return dict(pairs)
    if is_dataclass(part) and not isinstance(part, type):
        inner = {each.name: carried(getattr(part, each.name), carry) for each in fields(part)}
        return type(part)(**inner)
    return part


def stories(claims: Claims, swap: Swap) -> Iterator[Claims]:
    """Claims about another program: of everything, of all but heads, and of the program alone."""
    moved = carried(replace(claims, readers=()), swap.carry())
    about = {node: meaning for node, meaning in moved.aggregates.items()
             if isinstance(node, Aggregate)}  # fmt: skip
    moved = replace(moved, over={**claims.over, **moved.over}, aggregates=about)
    yield moved
    yield replace(moved, heads=claims.heads, spare=claims.spare)
    yield replace(moved, heads=claims.heads, spare=claims.spare, variables=claims.variables)
    if isinstance(swap.old, Aggregate) and isinstance(swap.new, Aggregate):
        yield replace(moved, heads=_with_default(moved, swap.old.default, swap.new.default))


def _with_default(claims: Claims, old: Atom, new: Atom) -> Any:
    """Heads with another default."""
    return tuple(
        tuple(replace(head, outputs=tuple(
            replace(output, default=new) if output.default == old else output
            for output in head.outputs)) for head in layer)
        for layer in claims.heads
    )  # fmt: skip


def weaker(part: Any, count: int, chooser: random.Random) -> Any:
    """Claims with one thing changed: a variable for another one, a list shortened or turned round,
    two things of a list exchanged or made the same, a flag turned.
    """
    places = list(_places(part))
    path = chooser.choice(places)
    return _changed(part, path, count, chooser)


def _places(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(part, Node) or part is None:
        return
    if path:
        yield path
    if isinstance(part, tuple):
        for place, each in enumerate(part):
            yield from _places(each, (*path, place))
    elif isinstance(part, dict):
        for key, each in part.items():
            yield from _places(each, (*path, key))
    elif is_dataclass(part):
        for each in fields(part):
            yield from _places(getattr(part, each.name), (*path, each.name))


def _changed(part: Any, path: tuple[Any, ...], count: int, chooser: random.Random) -> Any:
    if not path:
        return _other(part, count, chooser)
    key, *rest = path
    if isinstance(part, tuple):
        inner = _changed(part[key], tuple(rest), count, chooser)
        return (*part[:key], inner, *part[key + 1 :])
    if isinstance(part, dict):
        return {**part, key: _changed(part[key], tuple(rest), count, chooser)}
    return replace(part, **{key: _changed(getattr(part, key), tuple(rest), count, chooser)})


def _other(part: Any, count: int, chooser: random.Random) -> Any:
    if isinstance(part, bool):
        return not part
    if isinstance(part, int):
        return chooser.choice([part + 1, part - 1, chooser.randrange(count)])
    if isinstance(part, Fraction):
        return chooser.choice([part + 1, -part, Fraction(0), Fraction(1), part / 2])
    if isinstance(part, tuple) and part:
        one, other = chooser.randrange(len(part)), chooser.randrange(len(part))
        same = [*part]
        same[one] = part[other]
        exchanged = [*part]
        exchanged[one], exchanged[other] = part[other], part[one]
        shorter = part[:one] + part[one + 1 :]
        options = [shorter, tuple(same), tuple(exchanged), ()]
        if all(isinstance(each, int) for each in part):
            options += [(*part, chooser.randrange(count)), (chooser.randrange(count),)]
        return chooser.choice(options)
    if isinstance(part, tuple):
        return (chooser.randrange(count),)
    if isinstance(part, dict) and part:
        one, other = chooser.choice([*part]), chooser.choice([*part])
        less = {key: each for key, each in part.items() if key != one}
        turned = {**part, one: part[other], other: part[one]}
        return chooser.choice([less, turned, {**part, one: part[other]}])
    if isinstance(part, str):
        return chooser.choice(["mean", "sum", "share", "count", "pick", "ratio", "product", "never",
                               "positive", "tok", "idx", "out"])  # fmt: skip
    return part


# -- arrays ---------------------------------------------------------------------------------------


def disturbed(arrays: Arrays, chooser: random.Random) -> tuple[str, Arrays]:
    """Arrays in which two numbers, or two rows or columns, are changed so as to hide each other."""
    name = chooser.choice([name for name, array in arrays.items() if array.size])
    array = arrays[name].astype(np.float32).astype(float)
    axis = chooser.randrange(array.ndim)
    one, other = (chooser.randrange(array.shape[axis]) for _ in range(2))
    new, rows = array.copy(), np.moveaxis(array, axis, 0)
    moved = np.moveaxis(new, axis, 0)
    way = chooser.choice(["exchange", "same", "add", "opposite", "scale", "pair"])
    step = chooser.choice([1.0, -1.0, 0.5, 2.0, 2.0**-10, float(np.abs(array).max())])
    match way:
        case "exchange":
            moved[one], moved[other] = rows[other].copy(), rows[one].copy()
        case "same":
            moved[one] = rows[other]
        case "add":
            moved[one] = rows[one] + step * rows[other]
        case "opposite":
            moved[one], moved[other] = rows[one] + step, rows[other] - step
        case "scale":
            moved[one] = rows[one] * chooser.choice([1 + 2.0**-8, 2.0, -1.0, 0.0])
        case "pair":
            flat = new.reshape(-1)
            places = chooser.randrange(flat.size), chooser.randrange(flat.size)
            flat[places[0]] += step
            flat[places[1]] -= step
    return f"{name} {way} {axis} {one} {other} {step:.3g}", {**arrays, name: new}


def rescaled(arrays: Arrays, chooser: random.Random) -> tuple[str, Arrays] | None:
    """A hidden unit that gets more in and gives less out, or is moved and its output, too."""
    names = [name[:-6] for name in arrays if name.endswith("feed_forward.inside")
             and arrays[name].size]  # fmt: skip
    if not names:
        return None
    name = chooser.choice(names)
    inside, bias, out = (arrays[name + part].astype(float) for part in ("inside", "bias", "out"))
    unit, factor = chooser.randrange(len(bias)), chooser.choice([-1.0, 2.0, 0.5, 1.5, 3.0])
    inside[unit] *= factor
    bias[unit] *= chooser.choice([factor, 1.0])
    out[:, unit] /= factor
    parts = {"inside": inside, "bias": bias, "out": out}
    found = {name + part: array for part, array in parts.items()}
    return f"{name} unit {unit} times {factor}", {**arrays, **found}
