"""A graph in, the plan of its evaluation out as text: what each aggregate costs, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rasp.language.evaluator.fast.conjunctions import Best, Filters, Pair
from rasp.language.evaluator.fast.key_plan import (
    BLOCKED,
    DOMINANCE,
    GROUPS,
    RANGES,
    Meeting,
    Queries,
    SumPlan,
    Term,
    plan_best,
    plan_sums,
)
from rasp.language.graph import Aggregate, Const, Node, Score, SelectBest, expression, in_order
from rasp.language.operators.comparisons import EQUAL, WITH_OUTCOMES

REASONS = {
    GROUPS: "equal keys and queries meet in a group, and each group is summed once",
    RANGES: "one order: after sorting, each query picks neighbours, the difference of two sums",
    DOMINANCE: "two orders: all queries at once, one pass for each bit of the second",
}
HIGHEST = "highest under two orders"
DEPTH = 4


def explain(outputs: Sequence[Node], names: Mapping[Node, str] | None = None) -> str:
    """Write the plan of every aggregate and select_best that the outputs need.

    >>> from rasp.language.graph import Const, Select, Tokens
    >>> print(explain([Aggregate(Select(Tokens(), Tokens(), "<"), Const(1))]))
    aggregate(select(tokens, tokens, <), 1)
      sorted ranges   tokens < tokens
    <BLANKLINE>
    sorted ranges: one order: after sorting, each query picks neighbours, the difference of two sums
    time O(n log n), memory O(n)
    """
    names = names or {}
    parts: list[str] = []
    used: set[str] = set()
    for node in in_order(outputs):
        if isinstance(node, Aggregate):
            plan = plan_sums(node.selector)
            used.update(_strategies(plan))
        elif isinstance(node, SelectBest):
            plan = plan_best(node.selector)
            strategies = _strategies(plan)
            used.update(strategies, {HIGHEST} if DOMINANCE in strategies else ())
        else:
            continue
        lines = [_titled(node, names), *_note(node, names), *_described(plan, names)]
        parts.append("\n".join(lines))
    if not parts:
        return "elementwise work only: time O(n), memory O(n)"
    legend = [f"{strategy}: {reason}" for strategy, reason in REASONS.items() if strategy in used]
    return "\n\n".join([*parts, "\n".join([*legend, _price(used)])])


def _strategies(plan: SumPlan) -> set[str]:
    return {BLOCKED} if plan.blocked else {term.meeting.strategy for term in plan.terms}


def _titled(node: Node, names: Mapping[Node, str]) -> str:
    text = expression(node, names, DEPTH)
    return f"{names[node]} = {text}" if node in names else text


def _note(node: Node, names: Mapping[Node, str]) -> Iterable[str]:
    if isinstance(node, SelectBest) and not isinstance(node.scorer, Score):
        yield f"  the highest {expression(node.scorer, names, DEPTH)} of each row"
    elif isinstance(node, SelectBest) and isinstance(node.scorer, Score):
        queries = node.scorer.queries
        keys = expression(node.scorer.keys, names, DEPTH)
        if isinstance(queries, Const) and not isinstance(queries.value, str) and queries.value:
            yield f"  the {'highest' if queries.value > 0 else 'lowest'} {keys} of each row"
        else:
            yield f"  the highest or lowest {keys} of each row, by the sign of the query's score"


def _described(plan: SumPlan, names: Mapping[Node, str]) -> Iterable[str]:
    if plan.blocked:
        yield f"  {BLOCKED:<15} {plan.blocked}: rows are made a block at a time,"
        within = " and ".join(sorted(_compared(pair, EQUAL, names) for pair in plan.grouping))
        yield f"  {'':<15} O(n²) time in O(n · block) memory" + (
            f", within groups where {within}" if within else ""
        )
        return
    if not plan.terms:
        yield f"  {'nothing':<15} never picks"
    yield from sorted(f"  {term.meeting.strategy:<15} {_term_text(term, names)}"
                      for term in plan.terms)  # fmt: skip


def _term_text(term: Term, names: Mapping[Node, str]) -> str:
    meets = _meeting_text(term.meeting, names)
    if len(term.weights) == 1:
        [(filters, coefficient)] = term.weights
        sign = "" if coefficient == 1 else f"{coefficient} × "
        return sign + "; ".join(filter(None, [meets, _filter_text("keys where", filters, names)]))
    counts = ", ".join(
        f"{coefficient:+d} {_filter_text('where', filters, names) or 'everywhere'}"
        for filters, coefficient in sorted(term.weights, key=lambda weight: len(weight[0]))
    )
    return f"{meets}; a key counts {counts}"


def _meeting_text(meeting: Meeting, names: Mapping[Node, str]) -> str:
    parts = [_compared(pair, EQUAL, names) for pair in meeting.equalities]
    for order in meeting.ranges:
        parts += [_compared(Pair(order.keys, bound), outcomes, names)
                  for bound, outcomes in order.bounds]  # fmt: skip
    text = " and ".join(sorted(parts)) or "all keys"
    queries = _filter_text("queries where", meeting.query_filters, names)
    return f"{text}; {queries}" if queries else text


def _filter_text(word: str, filters: Filters, names: Mapping[Node, str]) -> str:
    texts = sorted(_compared(pair, outcomes, names) for pair, outcomes in filters)
    return f"{word} {' and '.join(texts)}" if texts else ""


def _compared(pair: Pair, outcomes: int, names: Mapping[Node, str]) -> str:
    keys, queries = _side(pair.keys, names), _side(pair.queries, names)
    return f"{keys} {WITH_OUTCOMES[outcomes]} {queries}"


def _side(side: Queries, names: Mapping[Node, str]) -> str:
    if isinstance(side, Best):
        return "its row's best"
    if side in names:
        return names[side]
    text = expression(side, names, 2)
    return f"({text})" if " " in text and not isinstance(side, Const) else text


def _price(used: set[str]) -> str:
    if BLOCKED in used:
        return "time O(n²), memory O(n · block)"
    if HIGHEST in used:
        return "time O(n log² n), memory O(n)"
    if used <= {GROUPS}:
        return "time O(n) but for numbering what occurs, memory O(n)"
    return "time O(n log n), memory O(n)"
