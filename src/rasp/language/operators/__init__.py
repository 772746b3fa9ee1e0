"""OPERATORS AND COMPARISONS AS ROWS: everything the package knows of one is in its row.

`comparisons` says in which orders each comparison holds, and what follows from that. `table`
has a row for each operator: how it is written, what it does to atoms, what it gives, where it
never fails, its array kernel and its Python name. `meaning` has the longer definitions. A new
operator is a row: the lexer, both printers, the elaborator, the evaluators, the compiler, the
checker, the embedding and the editors read it from there.
"""

from rasp.language.operators.comparisons import (
    COMPARE,
    COMPARISONS,
    OPPOSITE,
    ORDERINGS,
    OUTCOMES,
    TURNED,
)
from rasp.language.operators.table import (
    OPERATORS,
    Operator,
    apply_operator,
    giving,
    leaves_alone,
    never_failing_on,
    written,
)

__all__ = [
    "COMPARE",
    "COMPARISONS",
    "OPERATORS",
    "OPPOSITE",
    "ORDERINGS",
    "OUTCOMES",
    "TURNED",
    "Operator",
    "apply_operator",
    "giving",
    "leaves_alone",
    "never_failing_on",
    "written",
]
