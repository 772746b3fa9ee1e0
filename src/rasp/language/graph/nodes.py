"""The program graph: frozen, interned nodes. A node is what it computes, nothing else.

Two nodes that compute the same thing in the same way are one object, so `is` is equality,
sharing is free, and every pass can keep its results in a plain `dict[Node, …]`. Nodes carry
no name, position, layer or value. The docstrings below are the semantics; section 3 of the
paper introduces the operations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, dataclass_transform
from weakref import WeakValueDictionary

from rasp.base.atoms import Atom


class _Interned(type):
    """Make each class return the one object that already has these fields, if there is one.

    The key holds the type of each atom, since Python says `1 == True == 1.0`, and the
    identity of each node, which is kept alive by the user that holds it.
    """

    _known: ClassVar[WeakValueDictionary[tuple[Any, ...], Any]] = WeakValueDictionary()

    def __call__(cls, *arguments: Any, **keywords: Any) -> Any:
        fresh = super().__call__(*arguments, **keywords)
        needs: list[Node] = []
        key = (cls, *[_key(value, needs) for value in fresh.fields])
        if needs:
            object.__setattr__(fresh, "needs", tuple(needs))
        return _Interned._known.setdefault(key, fresh)


def _key(value: Any, needs: list[Node]) -> Any:
    """What tells a field from others; its nodes are listed among those that are needed."""
    if isinstance(value, Node):
        needs.append(value)
        return id(value)
    if isinstance(value, tuple):
        return tuple([_key(item, needs) for item in value])
    return (type(value), value)


@dataclass_transform(frozen_default=True, eq_default=False)
@dataclass(frozen=True, eq=False, repr=False)
class Node(metaclass=_Interned):
    """Something a program computes: an s-op, a selector or a scorer. All are frozen dataclasses.

    >>> Select(Tokens(), Tokens(), "==") is Select(Tokens(), Tokens(), "==")
    True
    """

    needs: ClassVar[tuple[Node, ...]] = ()
    """The nodes this one is computed from: those among its fields, set when it is made."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, eq=False, repr=False)(cls)

    @property
    def fields(self) -> list[Any]:
        """The values it is made of, in order."""
        names: tuple[str, ...] = type(self).__match_args__
        return [getattr(self, name) for name in names]

    def with_needs(self, needs: Iterable[Node]) -> Node:
        """Return the node of this kind that is computed from other nodes.

        >>> first = Select(Indices(), Const(0), "==")
        >>> Aggregate(first, Indices(), 5).with_needs([first, Tokens()]).default
        5
        """
        new = iter(needs)

        def renewed(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(next(new) for _ in value)
            return next(new) if isinstance(value, Node) else value

        return type(self)(*map(renewed, self.fields)) if self.needs else self

    def __repr__(self) -> str:
        """Write base nodes in full, of others only the kind: a shared graph can be endless."""
        if self.needs:
            return f"<{type(self).__name__} at {id(self):#x}>"
        return f"{type(self).__name__}({', '.join(map(repr, self.fields))})"


def node_of(given: object) -> Node | None:
    """Return a node, or the node of a handle; None where it is neither."""
    node = getattr(given, "node", given)
    return node if isinstance(node, Node) else None


class SOp(Node):
    """A sequence to be computed: one atom per position."""

    kind_name: ClassVar[str] = "s-op"


class Selector(Node):
    """A yes or no for each (query, key) pair, to be computed."""

    kind_name: ClassVar[str] = "selector"


class Scorer(Node):
    """A number for each (query, key) pair, to be computed."""

    kind_name: ClassVar[str] = "scorer"


class Tokens(SOp):
    """The input itself.

    >>> from rasp.language.evaluator import apply
    >>> apply(Tokens(), "hey")
    ['h', 'e', 'y']
    """


class TokensAs(SOp):
    """The input's tokens read as another kind: `int`, `float`, `string` or `bool`.

    A base s-op of its own, because an input that mixes strings and numbers is not a sequence,
    but can be read as one.

    >>> from rasp.language.evaluator import apply
    >>> apply(TokensAs("int"), "120")
    [1, 2, 0]
    """

    kind: str


class Indices(SOp):
    """The positions 0, 1, … n-1.

    >>> from rasp.language.evaluator import apply
    >>> apply(Indices(), "hey")
    [0, 1, 2]
    """


class Const(SOp):
    """The same atom at every position.

    >>> from rasp.language.evaluator import apply
    >>> apply(Const("!"), "hey")
    ['!', '!', '!']
    """

    value: Atom


class Elementwise(SOp):
    """At each position, an operator applied to the operands' atoms at that position.

    `op` names a row of `rasp.language.operators.OPERATORS`.

    >>> from rasp.language.evaluator import apply
    >>> apply(Elementwise("+", (Indices(), Const(1))), "hey")
    [1, 2, 3]
    """

    op: str
    operands: tuple[SOp, ...]


class Aggregate(SOp):
    """At each query, the mean of the values its selector picked.

    A lone pick passes through unchanged and may be any atom; two or more must
    be numbers. A query that picked nothing gets `default`.

    >>> from rasp.language.evaluator import apply
    >>> apply(Aggregate(Select(Indices(), Indices(), "<"), Indices()), "hey")
    [0, 0, Fraction(1, 2)]
    """

    selector: Selector
    values: SOp
    default: Atom = 0


class Select(Selector):
    """Query i picks key j where `keys[j] op queries[i]`; `op` is one of the six comparisons.

    >>> from rasp.language.evaluator import apply
    >>> apply(Select(Indices(), Indices(), "<"), "ab")
    [[False, False], [True, False]]
    """

    keys: SOp
    queries: SOp
    op: str


class SelectorAnd(Selector):
    """Picks what both pick.

    >>> from rasp.language.evaluator import apply
    >>> same, earlier = (Select(Tokens(), Tokens(), "=="), Select(Indices(), Indices(), "<"))
    >>> apply(SelectorAnd(same, earlier), "aa")
    [[False, False], [True, False]]
    """

    left: Selector
    right: Selector


class SelectorOr(Selector):
    """Picks what either picks.

    >>> from rasp.language.evaluator import apply
    >>> same, earlier = (Select(Tokens(), Tokens(), "=="), Select(Indices(), Indices(), "<"))
    >>> apply(SelectorOr(same, earlier), "ab")
    [[True, False], [True, True]]
    """

    left: Selector
    right: Selector


class SelectorNot(Selector):
    """Picks what the other does not.

    >>> from rasp.language.evaluator import apply
    >>> apply(SelectorNot(Select(Indices(), Indices(), "<")), "ab")
    [[True, True], [False, True]]
    """

    selector: Selector


class SelectBest(Selector):
    """In each row, only the picks with the highest score stay: all of them where they tie.

    An empty row stays empty.

    >>> from rasp.language.evaluator import apply
    >>> same = Select(Tokens(), Tokens(), "==")
    >>> apply(SelectBest(same, Score(Indices(), Const(1))), "aa")
    [[False, True], [False, True]]
    """

    selector: Selector
    scorer: Scorer


class Score(Scorer):
    """For query i and key j, the product `keys[j] * queries[i]`.

    >>> from rasp.language.evaluator import apply
    >>> apply(Score(Indices(), Const(2)), "ab")
    [[0, 2], [0, 2]]
    """

    keys: SOp
    queries: SOp


class ScoreSum(Scorer):
    """For query i and key j, the sum of two scores: a dot product of several terms.

    >>> from rasp.language.evaluator import apply
    >>> apply(ScoreSum(Score(Indices(), Const(2)), Score(Const(1), Indices())), "ab")
    [[0, 2], [1, 3]]
    """

    left: Scorer
    right: Scorer
