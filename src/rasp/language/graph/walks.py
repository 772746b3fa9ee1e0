"""Orders in which to visit a graph. All of them are iterative and linear, so depth is free."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import TypeVar

from rasp.base.errors import RaspLimitError
from rasp.language.graph.nodes import (
    Aggregate,
    Const,
    Elementwise,
    Node,
    Score,
    Scorer,
    ScoreSum,
    Select,
    SelectBest,
    Selector,
    SOp,
)

AnyNode = TypeVar("AnyNode", bound=Node)
MOST_PRODUCTS = 10_000
"""How many a scorer adds up: sums that are shared double with every line."""


def in_order(outputs: Iterable[Node]) -> list[Node]:
    """List every node that the outputs need, each once, after everything it needs itself.

    >>> from rasp.language.graph.nodes import Elementwise, Indices
    >>> [type(node).__name__ for node in in_order([Elementwise("-", (Indices(),))])]
    ['Indices', 'Elementwise']
    """
    return _needs_first(list(outputs), attrgetter("needs"))


def _needs_first(
    last: Sequence[AnyNode], needs: Callable[[AnyNode], Sequence[AnyNode]]
) -> list[AnyNode]:
    """List nodes and what they need, each once, after what it needs itself."""
    order: list[AnyNode] = []
    seen: set[AnyNode] = set()
    stack = [(node, False) for node in reversed(last)]
    while stack:
        node, needs_done = stack.pop()
        if needs_done:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack.extend((needed, False) for needed in reversed(needs(node)) if needed not in seen)
    return order


def rebuild(
    outputs: Sequence[Node], change: Callable[[Node, Node], Node | None]
) -> tuple[Node, ...]:
    """Return the outputs of a graph in which some nodes are replaced, whatever needs them too.

    `change` is given each node as it was and as it is with its needs rebuilt, and returns
    what to put in its place, or None to leave it.

    >>> from rasp.language.graph.nodes import Elementwise, Indices, Tokens
    >>> double = Elementwise("+", (Tokens(), Tokens()))
    >>> (new,) = rebuild([double], lambda old, new: Indices() if old is Tokens() else None)
    >>> new is Elementwise("+", (Indices(), Indices()))
    True
    """
    new: dict[Node, Node] = {}
    for node in in_order(outputs):
        rebuilt = node.with_needs(new[needed] for needed in node.needs)
        new[node] = change(node, rebuilt) or rebuilt
    return tuple(new[output] for output in outputs)


def selectors_in(selector: Selector) -> list[Selector]:
    """List the selectors that a selector is made of, each once, after those that it needs.

    S-ops are not entered, so what their own selectors pick does not count.

    >>> from rasp.language.graph.nodes import Indices, Select, SelectorNot
    >>> later = SelectorNot(Select(Indices(), Indices(), "<="))
    >>> [type(node).__name__ for node in selectors_in(later)]
    ['Select', 'SelectorNot']
    """
    return _needs_first(
        [selector], lambda node: [part for part in node.needs if isinstance(part, Selector)]
    )


def compared_in(selector: Selector) -> list[tuple[SOp, SOp]]:
    """List the keys and queries of every comparison and every score in a selector.

    >>> from rasp.language.graph.nodes import Indices, Select, SelectorNot, Tokens
    >>> compared_in(SelectorNot(Select(Indices(), Tokens(), "<="))) == [(Indices(), Tokens())]
    True
    """
    pairs: list[tuple[SOp, SOp]] = []
    for part in selectors_in(selector):
        if isinstance(part, Select):
            pairs.append((part.keys, part.queries))
        elif isinstance(part, SelectBest):
            pairs += [(term.keys, term.queries) for term in score_terms(part.scorer)]
    return pairs


def is_everywhere(node: SOp, is_one_atom: Callable[[SOp], bool]) -> bool:
    """Tell whether an s-op has the same value at all positions of every input.

    An aggregate has, if what its selector asks is the same at every query: then every query picks
    the same keys. `is_one_atom` knows of s-ops that can hold nothing but one atom.

    >>> from rasp.language.graph.nodes import Const, Indices, Select
    >>> total = Aggregate(Select(Indices(), Const(0), ">="), Indices())
    >>> is_everywhere(total, lambda node: False), is_everywhere(Indices(), lambda node: False)
    (True, False)
    """
    waiting, seen = [node], {node}
    while waiting:
        part = waiting.pop()
        inner: list[SOp] = []
        if isinstance(part, Const) or is_one_atom(part):
            continue
        if isinstance(part, Aggregate):
            inner = [queries for _, queries in compared_in(part.selector)]
        elif isinstance(part, Elementwise):
            inner = [*part.operands]
        else:
            return False
        waiting += [needed for needed in inner if needed not in seen]
        seen.update(inner)
    return True


def score_terms(scorer: Scorer) -> tuple[Score, ...]:
    """List the products that a scorer adds up, in the order in which they are written.

    >>> from rasp.language.graph.nodes import Const, Indices
    >>> last, first = Score(Indices(), Const(1)), Score(Indices(), Const(-1))
    >>> score_terms(ScoreSum(last, first)) == (last, first)
    True
    """
    terms: list[Score] = []
    stack = [scorer]
    while stack:
        part = stack.pop()
        if isinstance(part, ScoreSum):
            stack += [part.right, part.left]
        elif isinstance(part, Score):
            terms.append(part)
        if len(terms) > MOST_PRODUCTS:
            raise RaspLimitError(
                f"a score adds up more than {MOST_PRODUCTS:,} products",
                hint="`2 * s` has as many products as `s`, and `s + s` twice as many",
            )
    return tuple(terms)


def last_needed(order: Sequence[Node], outputs: Sequence[Node]) -> list[Sequence[Node]]:
    """For each node in order, the nodes that nothing after it needs, the outputs left aside.

    >>> from rasp.language.graph.nodes import Elementwise, Indices
    >>> minus = Elementwise("-", (Indices(),))
    >>> last_needed([Indices(), minus], [minus]) == [(), (Indices(),)]
    True
    """
    last = {needed: at for at, node in enumerate(order) for needed in node.needs}
    for output in outputs:
        last.pop(output, None)
    expired: list[Sequence[Node]] = [()] * len(order)
    for node, at in last.items():
        expired[at] = (*expired[at], node)
    return expired


def first_user(
    node: Node, used_by: Mapping[Node, Sequence[Node]], wanted: Container[Node]
) -> Node | None:
    """Find the nearest of the wanted nodes that is the node or uses it; `used_by` are `users`.

    >>> from rasp.language.graph.nodes import Elementwise, Indices
    >>> twice = Elementwise("+", (Indices(), Indices()))
    >>> first_user(Indices(), users([twice]), {twice}) is twice
    True
    """
    reached = [node]
    seen = {node}
    for candidate in reached:  # which grows
        if candidate in wanted:
            return candidate
        further = [user for user in used_by.get(candidate, ()) if user not in seen]
        reached += further
        seen.update(further)
    return None


def users(outputs: Iterable[Node]) -> dict[Node, list[Node]]:
    """Map each node to the nodes that need it directly, in order.

    >>> from rasp.language.graph.nodes import Elementwise, Indices
    >>> twice = Elementwise("+", (Indices(), Indices()))
    >>> users([twice])[Indices()] == [twice]
    True
    """
    users_of: dict[Node, list[Node]] = {}
    for node in in_order(outputs):
        users_of.setdefault(node, [])
        for needed in dict.fromkeys(node.needs):
            users_of[needed].append(node)
    return users_of
