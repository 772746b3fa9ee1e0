"""What one request of the playground may use: time, memory, and the language's own budgets."""

from __future__ import annotations

from dataclasses import dataclass

from rasp.limits import PLAYGROUND_LIMITS, PLAYGROUND_LONG_MEMORY, PLAYGROUND_MEMORY

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
LIMITS = PLAYGROUND_LIMITS


@dataclass(frozen=True)
class Budget:
    """Seconds and bytes for one kind of request; slow kinds have workers of their own."""

    seconds: float
    memory: int
    is_slow: bool = False


QUICK = Budget(2.0, PLAYGROUND_MEMORY)
LONG = Budget(20.0, PLAYGROUND_LONG_MEMORY, is_slow=True)
BUDGETS = {
    "run": QUICK,
    "explain": QUICK,
    "format": QUICK,
    "flow": QUICK,
    "picture": QUICK,
    "next_token": QUICK,
    "examples": QUICK,
    "edit_token": QUICK,
    "trained": QUICK,
    "words": QUICK,
    "cheat_sheet": QUICK,
    "gallery": QUICK,
    "program": QUICK,
    "exercises": QUICK,
    "architecture": LONG,
    "fit": LONG,
    "dialects": LONG,
    "exercise": LONG,
    "make_exercise": LONG,
    "own_exercise": LONG,
    "weights": LONG,
    "model_run": LONG,
    "matrix": LONG,
}
"""Every kind of request there is."""
