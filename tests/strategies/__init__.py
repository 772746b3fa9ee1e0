"""Random material for every test: `graphs` of nodes, and `programs` as text, with inputs.

A test says how many examples it takes with `examples(40)`. With `RASP_EXAMPLES=100` it takes a
hundred times as many, and other ones each time: that is how to look for mistakes for long.
"""

from __future__ import annotations

import os

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
