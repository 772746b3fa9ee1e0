"""PROGRAMS AND LANGUAGES -> DIALECTS: RASP-L, C-RASP, B-RASP, causal, sparse.

A program is *read* (`value_cases`, then `to_c_rasp` or `to_b_rasp`): values case by case, selectors
as a query sees them (`selector_rows`). What comes out is *written* line by line (`named_lines`,
`c_rasp`, `b_rasp`) and *run* again from its text (`interpreters`) to be compared with the program
(`written`); `dialect_verdicts` says what came of it, with what RASP-L does not have (`rasp_l`).

A language is an `automaton`, from a `regular_expression` or learned from a yes-or-no program
(`learning`). `language_classes` decides which classes it is in; `decomposition` is the hardest of
these, and `automaton_in_c_rasp` turns a decomposition into a program.
"""

from rasp.insight.dialect.automaton import Automaton
from rasp.insight.dialect.dialect_verdicts import Dialects, Standing, dialects
from rasp.insight.dialect.language_classes import Classes, classes
from rasp.insight.dialect.regular_expression import automaton_of

__all__ = ["Automaton", "Classes", "Dialects", "Standing", "automaton_of", "classes", "dialects"]
