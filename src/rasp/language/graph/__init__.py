"""THE PROGRAM GRAPH: interned nodes, programs, the algebra of selectors, walks and the printer.

`nodes` are what a program is made of, and `walks` the orders in which to visit them; `idioms` are
what the library writes again and again. `formulas` and `normal` are the algebra of selectors,
`sum_form` that of s-ops, `reach` how far a selector looks. `origins` finds a node's name and place,
`node_printer` writes it as text, `portable` as plain data.
"""

from rasp.language.graph.node_printer import expression
from rasp.language.graph.nodes import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Node,
    Score,
    Scorer,
    ScoreSum,
    Select,
    SelectBest,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SOp,
    Tokens,
    TokensAs,
)
from rasp.language.graph.origins import Program
from rasp.language.graph.walks import (
    compared_in,
    in_order,
    is_everywhere,
    last_needed,
    rebuild,
    score_terms,
    selectors_in,
    users,
)
from rasp.language.operators import COMPARISONS, OPERATORS, apply_operator

__all__ = [
    "COMPARISONS",
    "OPERATORS",
    "Aggregate",
    "Const",
    "Elementwise",
    "Indices",
    "Node",
    "Program",
    "SOp",
    "Score",
    "ScoreSum",
    "Scorer",
    "Select",
    "SelectBest",
    "Selector",
    "SelectorAnd",
    "SelectorNot",
    "SelectorOr",
    "Tokens",
    "TokensAs",
    "apply_operator",
    "compared_in",
    "expression",
    "in_order",
    "is_everywhere",
    "last_needed",
    "rebuild",
    "score_terms",
    "selectors_in",
    "users",
]
