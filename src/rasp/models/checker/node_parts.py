"""What an s-op is made of at its own position, before anything is aggregated."""

from __future__ import annotations

from collections.abc import Container, Iterator

from rasp.language.graph import Aggregate, Elementwise, Indices, SOp, Tokens, TokensAs, compared_in
from rasp.models.certificate.claims import INDEX, TOKEN

Name = int


def elementwise(node: SOp, stops: Container[SOp] = ()) -> Iterator[SOp]:
    """An s-op and its operands, and theirs, each after its own; what `stops` names is not entered.

    >>> from rasp.language.graph import Const
    >>> [type(part).__name__ for part in elementwise(Elementwise("-", (Indices(),)))]
    ['Indices', 'Elementwise']
    """
    seen, stack = set[SOp](), [(node, False)]
    while stack:
        part, is_ready = stack.pop()
        if is_ready:
            yield part
        elif part not in seen:
            seen.add(part)
            stack.append((part, True))
            if isinstance(part, Elementwise) and part not in stops:
                stack += [(inner, False) for inner in part.operands]


def leaves(node: SOp, stops: Container[SOp] = ()) -> list[SOp]:
    """What an s-op is made of, where that is not elementwise."""
    return [part for part in elementwise(node, stops)
            if part in stops or not isinstance(part, Elementwise)]  # fmt: skip


def aggregates_in(node: SOp) -> list[Aggregate]:
    """The aggregates among these."""
    return [part for part in leaves(node) if isinstance(part, Aggregate)]


def conditions_of(node: SOp) -> list[SOp]:
    """The conditions that an `and` is made of."""
    seen, waiting, found = {node}, [node], []
    while waiting:
        part = waiting.pop()
        if isinstance(part, Elementwise) and part.op == "and":
            more = [operand for operand in dict.fromkeys(part.operands) if operand not in seen]
            seen.update(more)
            waiting += more
        else:
            found.append(part)
    return found


def ground_name(node: SOp) -> Name | None:
    """The variable of a token or an index."""
    if isinstance(node, (Tokens, TokensAs)):
        return TOKEN
    return INDEX if isinstance(node, Indices) else None


def ground_of(node: SOp) -> set[Name]:
    """The tokens and indices among what an s-op is made of."""
    names = (ground_name(part) for part in leaves(node))
    return {name for name in names if name is not None}


def is_of_counts(node: SOp) -> bool:
    """Whether an s-op is made of aggregates that look at nothing but tokens and indices."""
    aggregates = aggregates_in(node)
    sides = [side for part in aggregates for pair in compared_in(part.selector) for side in pair]
    sides += [part.values for part in aggregates]
    return bool(aggregates) and not any(aggregates_in(side) for side in sides)
