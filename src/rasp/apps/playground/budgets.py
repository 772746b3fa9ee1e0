"""What one request of the playground may use: time, memory, and the language's own budgets."""

from __future__ import annotations

from dataclasses import dataclass

from rasp.base.limits import MEGABYTE, Limits

LONGEST_EXAMPLE = 200
"""Tokens of a running example: as many as a picture can show."""
MOST_NAMES = 150
"""S-ops, and selectors, that one page shows values of."""
MOST_SELECTIONS_SHOWN = 40
MOST_OUTPUTS = 60
MOST_FIXES = 4
"""Mistakes whose hints are tried, so that a click can apply them."""
MOST_EXAMPLES = 50
"""Examples with expectations that one page keeps."""
LARGEST_REQUEST = 1_000_000
"""Bytes of one request."""
LARGEST_TASK = 300_000
"""Bytes of an exercise that somebody made, unpacked."""
EXHAUSTIVE = 4_000
"""Inputs on which an exercise is checked without leaving one out."""
AT_RANDOM, LONGEST_DRAWN = 300, 16
"""How many longer ones are drawn after these, and their greatest length."""
LIMITS = Limits(
    text_length=100_000,
    input_length=20_000,
    graph_size=200_000,
    dense_cells=2_000_000,
    memory=200_000_000,
)
"""For a page that anybody can type into; its time is kept by whoever waits for its workers."""


@dataclass(frozen=True)
class Budget:
    """Seconds for one request, and bytes of data that its worker process may need."""

    seconds: float
    memory: int


QUICK = Budget(2.0, 512 * MEGABYTE)
LONG = Budget(20.0, 1536 * MEGABYTE)
SLOW = ("architecture", "fit", "dialects", "exercise", "make_exercise", "own_exercise", "weights",
        "model_run", "matrix")  # fmt: skip
"""The kinds of request that have the long budget, and workers of their own."""
