"""Examples, or a function to imitate → the smallest RASP program, and how sure it is.

`program_search` goes round by round: `enumeration` makes expressions from the bottom up over an
`example_grid`, in `atom_codes`, each kept once in an `expression_bank`; `closing` goes back from
what is wanted; `wording` writes what was found as text. `found` is the answer, with its rival and
the question that would decide between them.
"""

from rasp.insight.finding.found import Found, Rival, find
from rasp.insight.finding.program_search import Bounds, Progress, StopReason

__all__ = ["Bounds", "Found", "Progress", "Rival", "StopReason", "find"]
