"""Which pairs an attention pattern allows, by its documentation: an oracle for its selector."""

from __future__ import annotations

from rasp.insight.schedule.patterns import Pattern, random_links


def allows(pattern: Pattern, query: int, key: int, length: int) -> bool:
    """Tell whether a head may look from `query` to `key` in an input of `length` tokens."""
    distance = abs(query - key)
    match pattern.shape, pattern.numbers:
        case "window", (width,):
            return distance <= width
        case "strided", (step,):
            return distance < step or distance % step == 0
        case "block", (size,):
            return query // size == key // size
        case "bigbird", (width, globals_, links):
            near = distance <= width or query < globals_ or key < globals_
            return near or key in random_links(length, links)[query]
    return key <= query
