"""The budgets of everything that runs a program, in one place.

A program is untrusted input: each budget exceeded is a `RaspLimitError` that says
which one, never a hang, a crash or a Python error.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """How much a program may use. Make a new one to change a budget.

    >>> Limits(steps=1000).steps
    1000
    """

    text_length: int = 200_000
    """Characters of one program text."""
    nesting: int = 100
    """Brackets (and other constructs) inside one another in the text."""
    steps: int = 300_000
    """Expressions evaluated while a program is run."""
    recursion: int = 500
    """Function calls inside one another."""
    list_size: int = 100_000
    """Items of one list or dict."""
    graph_size: int = 1_000_000
    """Nodes made while a program is run."""
    number_digits: int = 4_000
    """Digits of one number."""
    string_length: int = 100_000
    """Characters of one string value."""
    input_length: int = 10_000_000
    """Tokens of one input."""
    plain_cells: int = 25_000_000
    """Cells of one selection as the plain evaluator computes it."""
    dense_cells: int = 25_000_000
    """Cells of one selection asked for as a matrix."""


DEFAULT_LIMITS = Limits()
