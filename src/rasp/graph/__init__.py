"""THE PROGRAM GRAPH: interned nodes, the operator table, programs, walks and the printer."""

from rasp.graph.nodes import (
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
from rasp.graph.origins import Program
from rasp.graph.printer import expression
from rasp.graph.walks import compared_in, in_order, last_needed, score_terms, selectors_in, users
from rasp.operators import COMPARISONS, OPERATORS, apply_operator

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
    "last_needed",
    "score_terms",
    "selectors_in",
    "users",
]
