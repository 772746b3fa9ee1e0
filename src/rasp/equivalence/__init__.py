"""TWO PROGRAMS -> ARE THEY THE SAME? Proved where it can be, tried beyond, or a counterexample."""

from rasp.equivalence.compare import equivalent
from rasp.equivalence.verdict import Difference, Verdict

__all__ = ["Difference", "Verdict", "equivalent"]
