"""A schedule's facts in, reasons in words out: why so deep, why so wide, what comes first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rasp.insight.schedule.bounds import tightest_span
from rasp.insight.schedule.naming import Naming
from rasp.insight.schedule.problem import Problem, selector_of
from rasp.insight.schedule.sublayer_order import Order, earliest_layers, earliest_times, time_for
from rasp.language.graph import Aggregate, Elementwise, Node, Selector, in_order

MOST_LINKS = 12
"""Links of a chain that are listed; of longer ones the middle is left out."""

WIDEST = 100
"""Columns of a table."""
NARROWEST = 30
"""Columns that are left of a cell."""


def count(number: int, thing: str) -> str:
    """Write a number of things.

    >>> count(1, "layer"), count(2, "head")
    ('1 layer', '2 heads')
    """
    return f"{number} {thing}{'' if number == 1 else 's'}"


def listed(words: Sequence[str]) -> str:
    """Join words as a sentence does.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def chain_lines(naming: Naming, times: Mapping[Node, int], outputs: Sequence[Node]) -> list[str]:
    """List the attentions that wait for one another, each with its slot and source line."""
    chain = deepest_chain(outputs, times)
    rows = [(str(times[node] // 2), naming.quoted(node), *_made_by(naming, node))
            for node in chain]  # fmt: skip
    if len(rows) > MOST_LINKS:
        left_out = len(rows) - MOST_LINKS
        rows[MOST_LINKS // 2 : -MOST_LINKS // 2] = [("…", f"({left_out} more)", "", "")]
    return aligned(rows)


def _made_by(naming: Naming, attention: Node) -> tuple[str, str]:
    text = naming.text(attention)
    return text if text != naming.purpose(attention) else "", naming.line(attention)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Write rows in columns, two blanks apart; what does not fit a terminal is cut.

    The last column says where: it is never cut.
    """
    if not rows:
        return []
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    while sum(widths) + 2 * (len(widths) - 1) > WIDEST and max(widths[:-1]) > NARROWEST:
        widths[widths.index(max(widths[:-1]))] -= 1
    return [
        "  ".join(_cell(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _cell(text: str, width: int) -> str:
    return text.ljust(width) if len(text) <= width else text[: width - 1] + "…"


def why_so_deep(naming: Naming, outputs: Sequence[Node]) -> list[str]:
    """Say which attentions force the depth."""
    times = earliest_times(outputs, Order.layered(max(earliest_layers(outputs).values())))
    depth = max(times.values()) // 2
    if depth == 0:
        return ["nothing moves between positions, so no attention is needed"]
    if depth == 1:
        return ["one attention needs one layer:", *chain_lines(naming, times, outputs)]
    start = f"{count(depth, 'attention')} in a row, each of which needs the one before it:"
    return [start, *chain_lines(naming, times, outputs)]


def why_so_wide(naming: Naming, problem: Problem, width: int, is_exact: bool) -> list[str]:
    """Say which heads force the width."""
    floor, low, high = tightest_span(problem)
    if floor < width:
        if is_exact:
            return ["the heads' order allows no narrower placement (every one was considered)"]
        return ["no narrower placement was found"]
    bound = [
        attention
        for attention in problem.attentions
        if low <= problem.earliest[attention] and problem.latest[attention] <= high
    ]
    rows, seen = [], set[int]()
    for attention in bound:
        if problem.kind[attention] not in seen:
            seen.add(problem.kind[attention])
            selector = naming.label(selector_of(attention))
            rows.append((selector, naming.quoted(attention), naming.line(attention)))
    if low == high:
        start = f"layer {low} has {count(floor, 'selector')} that no other layer can take:"
    else:
        start = f"layers {low} to {high} must share the heads of these selectors:"
    return [start, *aligned(rows[:MOST_LINKS]), *["…"] * (len(rows) > MOST_LINKS)]


def input_work(naming: Naming, work: Sequence[Elementwise], outputs: Sequence[Node]) -> str:
    """Say what has to be computed before the first attention, and what doing without costs."""
    computed = set(work)
    tops = [node for node in work if not any(node in user.needs for user in computed)]
    names = listed([f"`{naming.label(node)}`" for node in tops[:3]])
    more = f" and {len(tops) - 3} more" if len(tops) > 3 else ""
    without = count(plain_stack_depth(outputs), "layer")
    if not any(isinstance(node, Aggregate) for node in in_order(outputs)):
        return (
            f"{names}{more} takes a feed-forward, to work on tokens and indices together; a plain "
            f"stack has its first one in a layer, so it needs {without}"
        )
    return (
        f"before the first attention, a feed-forward must compute {names}{more} from tokens and "
        f"indices together; a plain stack has none there and would need {without}"
    )


def plain_stack_depth(outputs: Sequence[Node]) -> int:
    """Return how many layers are needed where no feed-forward comes before the first attention.

    The first layer's feed-forward then does that work, so that it costs one layer at the most.
    """
    slots = max(earliest_layers(outputs).values()) + 1
    times = earliest_times(outputs, Order(slots, tuple(range(1, slots + 1))))
    return max(times[output] for output in outputs) // 2


def deepest_chain(outputs: Sequence[Node], times: Mapping[Node, int]) -> tuple[Node, ...]:
    """Return attentions, first to last, each of which needs the one before it in its own slot.

    It ends in the output that is there last; each link is a need that could not be there later
    without delaying what needs it.
    """
    node: Node | None = max(outputs, key=lambda output: times[output], default=None)
    chain: list[Node] = []
    if isinstance(node, Selector):
        chain.append(node)
    while node is not None:
        if isinstance(node, Aggregate):
            chain.append(node)
        node = _latest_need(node, times)
    return tuple(reversed(chain))


def _latest_need(node: Node, times: Mapping[Node, int]) -> Node | None:
    """The need that kept a node waiting; of several, one that itself waited longest."""
    return max(
        node.needs,
        key=lambda needed: (time_for(node, needed, times[needed]), times[needed]),
        default=None,
    )
