"""TWO PROGRAMS -> ARE THEY THE SAME? Proved where it can be, tested beyond, or a counterexample."""

from rasp.insight.equivalence.compare import equivalent
from rasp.insight.equivalence.result import Difference, Equivalence

__all__ = ["Difference", "Equivalence", "equivalent"]
