"""The kinds of expressions, and what one of each can be: a table of templates.

A template is RASP text in which words in capitals are holes. `NUMBER`, `SELECTOR` and the like are
expressions of that kind; `SAME` is one of the wanted kind, `OTHER` one of a kind that is the same
throughout a template, and `ITEM`, `ATOM` and `OTHER_ATOM` are simple ones of these.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from rasp.base.source import Source
from rasp.language.operators import COMPARISONS, drawn, written
from rasp.language.syntax import parse
from rasp.language.syntax.tree import Evaluate, Expression

NUMBER, BOOL, TEXT, SELECTOR, SCORER = "number", "bool", "text", "selector", "scorer"
SURE, DOUBTFUL = (drawn("infix", f"number {right} -> number") for right in ("number", "divisor"))
SIGNS = drawn("prefix", "number -> number")
EQUALITIES, LOGIC = (drawn("infix", f"{sort} {sort} -> bool") for sort in ("any", "bool"))
NEXT_TO = "select(indices, indices - STEP, ==)"
"""A selector of one key at most."""


def _shared(chance: float, texts: Iterable[str]) -> dict[str, float]:
    """Give each of several templates its share of a chance, twice where it is there twice."""
    listed = list(texts)
    return {text: chance * listed.count(text) / len(listed) for text in listed}


def _calls(sort: str) -> list[str]:
    """The operators that are called as functions and give this sort, each as often as its chances.

    >>> _calls("number")[:2]
    ['indicator(ANY)', 'round(NUMBER)']
    """
    return [f"{row.name}({', '.join(operands.upper().split())})"
            for row in written("call") for draws in row.draws
            for operands, gives in [draws.split(" -> ")] if gives == sort
            for _ in range(row.weight)]  # fmt: skip


COMMON = {
    "SAME if BOOL else SAME": 12.0,
    "SAME if BIT == BIT else SAME": 1.0,
    "[ITEM][indices % 1]": 0.5,
    "[ITEM, ITEM, ITEM][indices % 3]": 1.0,
    "[ITEM, ITEM, ITEM][STEP]": 0.5,
    "[ITEM, ITEM][round(NUMBER) % 2]": 1.0,
    "{0: ITEM, 1: ITEM, 2: ITEM, 3: ITEM, 4: ITEM}[indices % 5]": 1.0,
}
LONE_PICKS = {
    f"aggregate({NEXT_TO}, SAME, ATOM)": 10.0,
    f"aggregate(SELECTOR and {NEXT_TO}, SAME, ATOM)": 9.0,
    f"aggregate({NEXT_TO}, values=SAME, default=ATOM)": 5.0,
    "aggregate(SELECTOR, SAME, ATOM)": 1.0,
}
TEMPLATES: dict[str, dict[str, float]] = {
    NUMBER: COMMON | {
        "aggregate(SELECTOR, NUMBER)": 13,
        "aggregate(SELECTOR, NUMBER, ATOM)": 8,
        "aggregate(SELECTOR, values=NUMBER, default=ATOM)": 4,
        "NUMBER if BOOL else BOOL": 3,
        "indicator(ANY)": 4,
        "[NUMBER for each in range(3)][indices % 3]": 0.6,
        "{each: NUMBER for each in range(2)}[indices % 2]": 0.2,
        "selector_width(SELECTOR)": 3.2,
        "selector_width(SELECTOR, assume_bos=True)": 1.4,
        "histf(OTHER)": 1,
        "histf(OTHER, assume_bos=True)": 0.5,
        "sort(NUMBER, NUMBER)": 1,
        "sort(NUMBER, NUMBER, assume_bos=True)": 0.5,
        "num_prevs(BOOL)": 1.5,
        "average(NUMBER)": 1.5,
        "load_from_location(NUMBER, NUMBER)": 1.5,
        "shift(NUMBER, steps=STEP)": 1.5,
        "pow(NUMBER, 2)": 0.8,
        "NUMBER[STEP]": 0.8,
        'pair_balance("a", "b")': 1.5,
        **_shared(1.5, [f"{function}(OTHER, OTHER_ATOM)" for function in ("count", "frac_prevs")]),
        **_shared(1.5, [f"{function}(NUMBER, NUMBER)" for function in ("max", "min",
                                                                       "pairwise_mul")]),
        **_shared(8, [f"NUMBER {op} NUMBER" for op in SURE]),
        **_shared(7, [f"NUMBER {op} SAFE" for op in DOUBTFUL]),
        **_shared(1, [f"NUMBER {op} NUMBER" for op in DOUBTFUL]),
        **_shared(4, [f"NUMBER {op} BOOL" for op in "+-*"]),
        **_shared(4, [f"{sign}NUMBER" for sign in SIGNS]),
        **_shared(4, [call for call in _calls(NUMBER) if call != "indicator(ANY)"]),
    },
    BOOL: COMMON | LONE_PICKS | {
        "aggregate(SELECTOR, BOOL)": 0.5,
        f"aggregate({NEXT_TO}, BOOL)": 12,
        "BOOL if BOOL else NUMBER": 3,
        "has_prev(OTHER)": 5,
        "has_focus(SELECTOR)": 5,
        "not BOOL": 4,
        "not NUMBER": 1.1,
        "not TEXT": 1.1,
        "OTHER_ATOM in OTHER": 1.8,
        "OTHER in []": 0.5,
        "OTHER in [OTHER_ATOM]": 0.5,
        "OTHER in [OTHER_ATOM, OTHER_ATOM, OTHER_ATOM]": 1.6,
        **_shared(10, [f"{function}(OTHER, OTHER_ATOM)" for function in
                       ("contains", "mark_first_instance", "mark_last_instance")]),
        **_shared(9, [f"NUMBER {op} NUMBER" for op in COMPARISONS]),
        **_shared(4, [f"TEXT {op} TEXT" for op in COMPARISONS]),
        **_shared(4, [f"ANY {op} ANY" for op in EQUALITIES]),
        **_shared(4, [f"BOOL {op} BOOL" for op in LOGIC]),
        **_shared(1.5, [f"BOOL {op} NUMBER" for op in LOGIC]),
        **_shared(4, _calls(BOOL)),
    },
    TEXT: COMMON | LONE_PICKS | {
        'shift(TEXT, STEP, "-")': 7,
        "sort(TEXT, NUMBER)": 7,
        "TEXT[0]": 3,
        "TEXT[-1]": 3,
        "TEXT + TEXT": 18,
        "TEXT * (indices % 3)": 4.5,
        "(indices % 4) * TEXT": 4.5,
        '"abc"[indices % 3]': 3,
        **_shared(4, _calls(TEXT)),
    },
    SELECTOR: {
        "SELECTOR and SELECTOR": 20,
        "SELECTOR or SELECTOR": 13,
        "not SELECTOR": 7,
        "select_best(SELECTOR, SCORER)": 13,
        "select_all": 1,
        "full_s": 1,
        "select_eq(OTHER, OTHER)": 2,
        "select_next_identical(OTHER)": 2,
        "select_from_first(OTHER, OTHER_ATOM)": 2,
        "select_from_last(OTHER, OTHER_ATOM)": 2,
    },
    "comparison": {
        f"select({pair}, {op})": chance * (3 if op == "==" else 1)
        for pair, chance in {"tokens, tokens": 25.0, "indices, indices": 20.0,
                             "NUMBER, NUMBER": 27.0, "BOOL, BOOL": 14.0, "TEXT, TEXT": 14.0}.items()
        for op in COMPARISONS
    },
    SCORER: {
        **_shared(42, [f"score(NUMBER, {query})" for query in (1, -1, 2, 0)]),
        "score(NUMBER, NUMBER)": 28,
        "SCORER + SCORER": 10,
        "SCORER - SCORER": 10,
        **_shared(10, [f"{factor} * SCORER" for factor in (2, -1, 0.5)]),
    },
}  # fmt: skip
"""What an expression of each kind can be, and its chances."""


@cache
def parsed(template: str) -> Expression:
    """Read a template."""
    [statement] = parse(Source("<template>", template + ";"))
    assert isinstance(statement, Evaluate)
    return statement.expression
