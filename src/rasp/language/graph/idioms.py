"""What the library writes again and again, as nodes: equal code is the same node.

>>> import rasp
>>> rasp.length.node is LENGTH
True
"""

from __future__ import annotations

from rasp.language.graph.nodes import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Select,
    Selector,
    SelectorAnd,
    SelectorOr,
    SOp,
)

ALL_KEYS = Select(Const(1), Const(1), "==")
FIRST_KEY = Select(Indices(), Const(0), "==")
IS_FIRST = Elementwise("indicator", (Elementwise("==", (Indices(), Const(0))),))
"""1 at the first position, 0 elsewhere."""
LENGTH = Elementwise("round", (Elementwise("/", (Const(1), Aggregate(ALL_KEYS, IS_FIRST, 0))),))


def selector_of_width(node: SOp) -> tuple[Selector, bool] | None:
    """The selector whose width this is, as the library writes it; and whether a BOS is left out.

    >>> import rasp
    >>> from rasp.language.graph import Select, Tokens
    >>> hist = rasp.run("hist = histf(tokens);")["hist"]
    >>> selector_of_width(hist.node)[0] is Select(Tokens(), Tokens(), "==")
    True
    """
    match node:
        case Elementwise("+", (Elementwise("-"), Aggregate(SelectorAnd(picked)))):
            return (picked, False) if node is _width(picked, bos=False) else None
        case Elementwise(
            "-", (Elementwise("round", (Elementwise("/", (_, Aggregate(SelectorOr(picked)))),)), _)
        ):
            return (picked, True) if node is _width(picked, bos=True) else None
    return None


def _width(picked: Selector, bos: bool) -> SOp:
    """`selector_width` of the library, node by node."""
    share = Aggregate(SelectorOr(picked, FIRST_KEY), IS_FIRST)
    counted = Elementwise("-", (Elementwise("round", (Elementwise("/", (Const(1), share)),)),
                                Const(1)))  # fmt: skip
    if bos:
        return counted
    return Elementwise("+", (counted, Aggregate(SelectorAnd(picked, FIRST_KEY), IS_FIRST)))
