"""Random material for every test: `graphs` of nodes, and `programs` as text, with inputs.

A test says how many examples it takes with `examples(40)`. With `RASP_EXAMPLES=100` it takes a
hundred times as many, and other ones each time: that is how to look for mistakes for long.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from hypothesis import HealthCheck, settings

TIMES = int(os.environ.get("RASP_EXAMPLES", "1"))


def examples(count: int) -> settings:
    """Try so many examples: the same ones each time, unless more are asked for."""
    return settings(
        max_examples=count * TIMES,
        derandomize=TIMES == 1,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def for_each(values: Iterable[Any]) -> Callable[[Callable[[Any], None]], Callable[[], None]]:
    """Make one test of a check that takes a millisecond and is made of many values.

    A thousand tests of their own cost several seconds more. A failure names its value.
    """

    def decorate(check: Callable[[Any], None]) -> Callable[[], None]:
        def test() -> None:
            for value in values:
                try:
                    check(value)
                except BaseException as failure:
                    failure.add_note(f"with {value!r}")
                    raise

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return decorate
