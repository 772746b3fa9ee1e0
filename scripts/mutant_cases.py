"""Random programs with the plain evaluator's answers: a quick look at a changed evaluator.

The programs are those of `tests/language/evaluator/test_fast_agreement.py`, so that what they
notice a test notices too. The answers are taken before anything is changed.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SEEDS = [(seed, seed > 1000) for seed in (*range(1, 91), *range(1001, 1061))]
"""Seeds of programs; those after 1000 take the ways of long inputs."""


class Cases:
    """Programs, inputs and answers; those that noticed most so far come first."""

    def __init__(self, target: str) -> None:
        sys.path.insert(0, str(ROOT / "tests" / "language" / "evaluator"))
        import random_graphs

        self.strained = random_graphs.strained
        self.compute: Callable[..., object] = random_graphs.plain_results
        self.cases: dict[int, tuple[Any, Any, object, float]] = {}
        for seed, _ in SEEDS:
            outputs, inputs = random_graphs.random_case(seed)
            began = time.process_time()
            answer = random_graphs.plain_results(outputs, inputs)
            self.cases[seed] = (outputs, inputs, answer, time.process_time() - began)
        if target == "fast":
            self.compute = random_graphs.fast_results
        self.kills = dict.fromkeys(self.cases, 0)

    def notice(self, tell: Callable[[Any], None]) -> bool:
        """Tell which case is tried; return whether one has another answer than before."""
        for seed in sorted(self.cases, key=lambda seed: -self.kills[seed]):
            tell(seed)
            outputs, inputs, answer, seconds = self.cases[seed]
            signal.setitimer(signal.ITIMER_VIRTUAL, 20 * seconds + 1)
            with self.strained() if seed > 1000 else nullcontext():
                if self.compute(outputs, inputs) != answer:
                    return True
        return False
