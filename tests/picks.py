"""A head, a query and a key in, lines that say why the query picked the key out.

The oracle of what `drawing/why.js` shows in a browser.
"""

from __future__ import annotations

from collections.abc import Mapping

from rasp.insight.drawing.glyphs import in_title
from rasp.insight.drawing.picture_plan import Condition, HeadShown, Strip
from rasp.insight.drawing.portable_picture import best_of


def why(strips: Mapping[str, Strip], head: HeadShown, query: int, key: int) -> list[str]:
    """Say why a query picked a key, or did not: one line for each comparison."""
    lines = [f"query {query}, key {key}"]
    for condition in head.conditions:
        keys, queries = strips[condition.keys], strips[condition.queries]
        if condition.op == "best":
            lines.append(_why_best(condition, strips, query, key))
            continue
        mark = "✓" if condition.picks[query][key] else "✗"
        general = f"{keys.label} {condition.op} {queries.label}"
        here = f"{in_title(keys.values[key])} {condition.op} {in_title(queries.values[query])}"
        lines.append(f"{mark} {here}" if general == here else f"{mark} {general}: {here}")
    picked = sum(head.picks[query])
    if not head.picks[query][key]:
        lines.append("not picked")
    else:
        lines.append("picked alone" if picked == 1 else f"picked, one of {picked}")
    return lines


def _why_best(condition: Condition, strips: Mapping[str, Strip], query: int, key: int) -> str:
    products = " + ".join(
        f"score({strips[keys].label}, {strips[queries].label})"
        for keys, queries in condition.products
    )
    text = f"{products} = {in_title(condition.scores[query][key])}"
    if not condition.candidates[query][key]:
        return f"· {text}, but no candidate"
    if condition.picks[query][key]:
        return f"✓ {text}, the best"
    best = best_of(condition)[query]
    return f"✗ {text}, the best has {in_title(best) if best is not None else '-'}"
