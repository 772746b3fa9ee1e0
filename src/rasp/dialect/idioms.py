"""S-ops and selectors in, what the library means by them out: widths, distances of positions."""

from __future__ import annotations

from rasp.graph import Aggregate, Const, Elementwise, Select, Selector, SelectorAnd, SelectorOr, SOp
from rasp.graph.idioms import FIRST_KEY, IS_FIRST
from rasp.graph.reach import POSITION
from rasp.graph.sums import linear


def index_distance(selector: Select) -> int | None:
    """Where keys and queries are both positions plus a constant: how far apart these are."""
    (keys, ours), (queries, theirs) = linear(selector.keys), linear(selector.queries)
    apart = theirs - ours
    if keys == queries == POSITION and apart.denominator == 1:
        return int(apart)
    return None


def selector_of_width(node: SOp) -> tuple[Selector, bool] | None:
    """The selector whose width this is, as the library writes it; and whether a BOS is left out.

    >>> import rasp
    >>> from rasp.graph import Tokens
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
