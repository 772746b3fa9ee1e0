"""Values as plain JSON, and back, as the types of their fields say.

A data class is an object of its fields, a tuple a list, a mapping a list of pairs, an exact
fraction a text, and an atom a pair of its kind and its value; where one of several classes may be,
its name is the `kind`. A node is its place in a graph that is stored beside the value. A file may
come from a stranger, so nothing is converted on the way in: what is not of the right type is
refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache, reduce
from operator import or_
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from rasp.base.atoms import Atom
from rasp.language.graph import Node, portable

Kind = TypeVar("Kind")
PLAIN: dict[Any, tuple[type, ...]] = {
    str: (str,), bool: (bool,), int: (int,), float: (float, int), list: (list,),
}  # fmt: skip
"""What is in a file as it is: `true` is not a number."""
fields_of = cache(get_type_hints)


def to_data(value: object) -> dict[str, Any]:
    """A data class as plain data, with the graph of all nodes that it speaks of."""
    places: dict[Node, int] = {}
    data: dict[str, Any] = write(type(value), value, places)
    graph = portable.graph_to_json({str(place): node for node, place in places.items()}, {})
    return {"graph": graph} | data


def from_data(kind: type[Kind], data: Any) -> Kind:
    """Read a data class back."""
    with portable.reading(f"a part of the {kind.__name__.lower()}"):
        nodes, _ = portable.graph_from_json(data["graph"])
        value: Kind = read(kind, data, list(nodes.values()))
        return value


def write(kind: Any, value: Any, places: dict[Node, int]) -> Any:
    """A value of some type; a node gets its place when it is met."""
    if value is None or kind in PLAIN:
        return value
    if kind is Fraction:
        return str(value)
    if kind == Atom:
        return portable.atom_to_json(value)
    match get_origin(kind), get_args(kind):
        case None, _ if issubclass(kind, Node):
            return places.setdefault(value, len(places))
        case None, _:
            return {name: write(field, getattr(value, name), places)
                    for name, field in fields_of(kind).items()}  # fmt: skip
        case origin, (key, inner) if origin is Mapping:
            return [[write(key, one, places), write(inner, other, places)]
                    for one, other in value.items()]  # fmt: skip
        case origin, (inner, dots) if dots is Ellipsis:
            return [write(inner, part, places) for part in value]
        case origin, inner if origin is tuple:
            return [write(*pair, places) for pair in zip(inner, value, strict=True)]
    only = _only(kind)
    if only is not None:
        return write(only, value, places)
    return {"kind": type(value).__name__} | write(type(value), value, places)


def read(kind: Any, data: Any, nodes: Sequence[Node]) -> Any:
    """A value of some type, or an error."""
    if kind in PLAIN:
        if type(data) not in PLAIN[kind] or (kind is int and data < 0):
            raise portable.broken("a value")
        return data
    if kind is Fraction:
        if set(read(str, data, nodes)) - set("-/0123456789"):  # no exponents: they are huge
            raise portable.broken("a fraction")
        return Fraction(data)
    if kind == Atom:
        return portable.atom_from_json(data)
    match get_origin(kind), get_args(kind):
        case None, _ if issubclass(kind, Node):
            node = nodes[read(int, data, nodes)]
            if not isinstance(node, kind):
                raise portable.broken("a node")
            return node
        case None, _:
            return kind(**{name: read(field, data[name], nodes)
                           for name, field in fields_of(kind).items()})  # fmt: skip
        case origin, (key, inner) if origin is Mapping:
            return {read(key, one, nodes): read(inner, other, nodes)
                    for one, other in read(list, data, nodes)}  # fmt: skip
        case origin, (inner, dots) if dots is Ellipsis:
            return tuple(read(inner, part, nodes) for part in read(list, data, nodes))
        case origin, inner if origin is tuple:
            entries = read(list, data, nodes)
            return tuple(read(*pair, nodes) for pair in zip(inner, entries, strict=True))
    if data is None and type(None) in get_args(kind):
        return None
    only = _only(kind)
    if only is None:
        only = {other.__name__: other for other in get_args(kind)}[data["kind"]]
    return read(only, data, nodes)


@cache
def _only(union: Any) -> Any:
    """The one type that a union is of, beside None; None if there are several classes."""
    first, *others = (kind for kind in get_args(union) if kind is not type(None))
    together = reduce(or_, others, first)
    return together if not others or together == Atom else None
