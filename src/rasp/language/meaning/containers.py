"""A list, string, dict or s-op and what is asked of it in, the answer out: `in` and `[ ]`.

With plain values the answer is found here and now; with an s-op it becomes a node of the graph.
"""

from __future__ import annotations

from rasp.base.atoms import Atom, describe, is_atom, show
from rasp.base.errors import RaspError, RaspTypeError, RaspValueError
from rasp.base.limits import DEFAULT_LIMITS
from rasp.base.meter import Meter
from rasp.base.source import Span
from rasp.language.graph import Aggregate, Const, Elementwise, Indices, Select, SOp
from rasp.language.graph.idioms import ALL_KEYS, LENGTH
from rasp.language.meaning.value_kinds import Value

NODES_PER_STEP = 4
"""Items of a list that cost one step where each becomes a node."""


def membership(item: Value, container: Value, meter: Meter | None = None) -> Value:
    """`atom in s-op` asks the whole sequence (one head); `s-op in list` is elementwise."""
    if isinstance(container, SOp):
        if not is_atom(item):
            raise RaspTypeError(
                f"only an atom can be looked for in an s-op, but this is {describe(item)}",
                hint="to find, at each position, an equal value elsewhere, use "
                "`has_focus(select(keys, queries, ==))`",
            )
        matches = Elementwise("indicator", (Elementwise("==", (container, Const(item))),))
        return Elementwise(">", (Aggregate(ALL_KEYS, matches, 0), Const(0)))
    if not isinstance(container, list):
        raise RaspTypeError(
            f"`in` looks into a list or an s-op, but this is {describe(container)}",
            hint="put the members in a list: `tokens in ['a', 'b']`",
        )
    meter = meter or Meter(DEFAULT_LIMITS)
    meter.touched(len(container))
    for member in container:
        if not is_atom(member):
            raise RaspTypeError(
                f"`in` looks for atoms, but one member of the list is {describe(member)}",
                hint="compare with `==` instead, joined by `or`",
            )
    if is_atom(item):
        return item in container
    if isinstance(item, SOp):
        meter.step(len(container) // NODES_PER_STEP)
        return Elementwise("in", (item, *(Const(member) for member in container)))
    raise RaspTypeError(
        f"`in` looks for an atom or an s-op, but this is {describe(item)}",
        hint="give it an atom, or an s-op to look at position by position",
    )


def index(base: Value, position: Value, meter: Meter | None = None) -> Value:
    """`s-op[i]` broadcasts a position; an s-op indexes elementwise into a list, string or dict."""
    if isinstance(base, SOp):
        return _broadcast(base, position)
    if isinstance(position, SOp) and isinstance(base, (list, str, dict)):
        (meter or Meter(DEFAULT_LIMITS)).step(len(base) // NODES_PER_STEP)
        return _table(base, position)
    if isinstance(base, dict):
        return _dict_item(base, position)
    if isinstance(base, (list, str)):
        return _list_item(base, position)
    raise RaspTypeError(
        f"{describe(base)} cannot be indexed",
        hint="s-ops, lists, strings and dicts can; apply a selector to an input first",
    )


def _broadcast(base: SOp, position: Value) -> Value:
    if not isinstance(position, int):
        raise RaspValueError(
            f"an s-op is indexed by one whole number, but this is {describe(position)}",
            hint="`load_from_location(seq, positions)` takes a position for each query",
        )
    place: SOp = Const(int(position))
    if position < 0:
        place = Elementwise("+", (LENGTH, Const(position)))
    return Aggregate(Select(Indices(), place, "=="), base, 0)


def _table(base: list[Value] | str | dict[Atom, Value], position: SOp) -> Value:
    items = list(base.values()) if isinstance(base, dict) else list(base)
    for item in items:
        if not is_atom(item) and not isinstance(item, SOp):
            raise RaspTypeError(
                f"an s-op picks atoms or s-ops out of a list or dict, but one item is "
                f"{describe(item)}",
                hint="make a list of atoms or s-ops",
            )
    if not items:
        raise RaspValueError("there is nothing to index here", hint="put something in it first")
    nodes = [item if isinstance(item, SOp) else Const(item) for item in items]
    if isinstance(base, dict):
        pairs = [node for pair in zip(map(Const, base), nodes, strict=True) for node in pair]
        return Elementwise("lookup", (position, *pairs))
    return Elementwise("at", (position, *nodes))


def _dict_item(base: dict[Atom, Value], key: Value) -> Value:
    if not is_atom(key):
        raise RaspTypeError(
            f"a dict's keys are atoms, but this is {describe(key)}", hint="use an atom as the key"
        )
    if key not in base:
        raise RaspValueError(
            f"the dict has no key {show(key)}", hint=f"its keys are {_some(list(base))}"
        )
    return base[key]


def _list_item(base: list[Value] | str, position: Value) -> Value:
    if not isinstance(position, int):
        raise RaspTypeError(
            f"a list is indexed by ints, but this is {describe(position)}",
            hint="`round(x)`, `floor(x)` and `x // 2` give ints",
        )
    if not -len(base) <= position < len(base):
        raise RaspValueError(
            f"index {show(position)} is out of range for {len(base)} items",
            hint=f"the first is 0, the last {len(base) - 1}"
            if base
            else "it is empty: put something in it first",
        )
    return base[position]


def _some(atoms: list[Atom], most: int = 8) -> str:
    shown = ", ".join(show(atom) for atom in atoms[:most])
    return (shown + ", …" if len(atoms) > most else shown) or "none: it is empty"


def unpacked(value: Value, count: int, span: Span) -> list[Value]:
    """Return the values that several names get."""
    if isinstance(value, (list, dict, str)) and len(value) == count:
        return list(value)
    there = f"are {len(value)}" if isinstance(value, (list, dict)) else f"is {describe(value)}"
    raise RaspTypeError(
        f"{count} names need {count} values, but here {there}", span, "give as many values as names"
    )


def no_list(source: Value, span: Span) -> RaspError:
    """Refuse to loop over something that is not a list."""
    hint = "loop over a list, such as `range(3)` or `['a', 'b']`"
    if isinstance(source, SOp):
        hint = (
            "write what happens at one position, such as `x + 1`: it happens at all of them; "
            "loops go over lists"
        )
    return RaspTypeError(f"{describe(source)} cannot be looped over", span, hint)
