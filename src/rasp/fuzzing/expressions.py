"""A random number generator in, random expressions of a wanted kind out.

What an expression of a kind can be is a table of templates: RASP text in which words in capitals
are holes, each with its chance. `NUMBER`, `SELECTOR` and the like are expressions of that kind;
`SAME` is one of the wanted kind, `OTHER` one of a kind that is the same throughout a template, and
`ITEM`, `ATOM` and `OTHER_ATOM` are simple ones of these.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cache
from typing import Any

from rasp.atoms import Atom
from rasp.fuzzing.trees import call, literal, name
from rasp.operators import COMPARISONS, drawn
from rasp.source import Source
from rasp.syntax import parse
from rasp.syntax.tree import Comprehension, Evaluate, Expression, Name, Tree

NUMBER, BOOL, TEXT, SELECTOR, SCORER = "number", "bool", "text", "selector", "scorer"
SORTS = (NUMBER, NUMBER, BOOL, TEXT)
LETTERS = "abc"
TEXTS: tuple[Atom, ...] = ("a", "b", "c", "", "ab", "3", "-2", "1.5", 'q"', "\\", "é\n")
LARGE: tuple[Atom, ...] = (2**61, -(2**62), 2**63, 10**30, Fraction(1, 2**40), 3**39)
SAFE: tuple[Atom, ...] = (1, 2, 3, Fraction(1, 2), Fraction(5, 2))
"""What nothing goes wrong with on the right of `/`, `%` and `^`."""
SURE, DOUBTFUL = (drawn("infix", f"number {right} -> number") for right in ("number", "divisor"))
SIGNS, FUNCTIONS = (drawn(how, "number -> number") for how in ("prefix", "call"))
FUNCTIONS_OF_TWO = drawn("call", "number number -> number")
EQUALITIES, LOGIC = (drawn("infix", f"{sort} {sort} -> bool") for sort in ("any", "bool"))
NEXT_TO = "select(indices, indices - STEP, ==)"
"""A selector of one key at most."""


def _shared(chance: float, texts: Iterable[str]) -> dict[str, float]:
    """Give each of several templates its share of a chance, twice where it is there twice."""
    listed = list(texts)
    return {text: chance * listed.count(text) / len(listed) for text in listed}


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
        **_shared(4, [
            *(f"{function}(NUMBER)" for function in FUNCTIONS),
            *(f"{function}(NUMBER, NUMBER)" for function in FUNCTIONS_OF_TWO),
        ]),
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


@cache
def _parsed(template: str) -> Expression:
    [statement] = parse(Source("<template>", template + ";"))
    assert isinstance(statement, Evaluate)
    return statement.expression


@dataclass(frozen=True)
class Signature:
    """A function that the program has defined: its parameters' kinds and its result's."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    result: str
    optional: int = 0
    """How many of the last parameters have defaults."""


@dataclass
class Expressions:
    """Makes expressions over the names that are there."""

    rng: random.Random
    tokens_sort: str
    names: dict[str, list[str]] = field(
        default_factory=lambda: {NUMBER: [], BOOL: [], TEXT: [], SELECTOR: []}
    )
    functions: list[Signature] = field(default_factory=list)
    slips: float = 0.01
    """How often a part of another kind is put in."""

    def forget(self, rebound: str) -> None:
        """Forget what a name stood for."""
        for known in self.names.values():
            if rebound in known:
                known.remove(rebound)
        self.functions = [function for function in self.functions if function.name != rebound]

    def s_op(self, sort: str, depth: int) -> Expression:
        """An expression for an s-op, or an atom in its stead, probably of a kind."""
        rng = self.rng
        if rng.random() < self.slips:
            sort = rng.choice(SORTS)
        if depth <= 0 or rng.random() < 0.12:
            return self.leaf(sort)
        if rng.random() < 0.1 and (made := self.own_call(sort, depth - 1)):
            return made
        return self.filled(sort, sort, depth - 1)

    def any_s_op(self, depth: int) -> Expression:
        return self.s_op(self.rng.choice(SORTS), depth)

    def selector(self, depth: int) -> Expression:
        rng = self.rng
        if self.names[SELECTOR] and rng.random() < 0.25:
            return name(rng.choice(self.names[SELECTOR]))
        if depth <= 0 or rng.random() < 0.35:
            return self.filled("comparison", NUMBER, depth - 1)
        if rng.random() < 0.1 and (made := self.own_call(SELECTOR, depth - 1)):
            return made
        return self.filled(SELECTOR, NUMBER, depth - 1)

    def leaf(self, sort: str) -> Expression:
        rng = self.rng
        if self.names[sort] and rng.random() < 0.5:
            return name(rng.choice(self.names[sort]))
        if sort == self.tokens_sort and rng.random() < 0.6:
            return name(rng.choice(["tokens", "tokens", "tokens_asis"]))
        if sort == TEXT and rng.random() < 0.3:
            return name("tokens_str")
        if sort == BOOL and rng.random() < 0.2:
            return name("tokens_bool")
        if sort == NUMBER and rng.random() < 0.6:
            if self.tokens_sort != TEXT and rng.random() < 0.15:
                return name(rng.choice(["tokens_int", "tokens_float"]))
            return name(rng.choice(["indices", "indices", "length"]))
        return literal(self.atom(sort))

    def atom(self, sort: str) -> Atom:
        rng = self.rng
        if sort == BOOL:
            return bool(rng.getrandbits(1))
        if sort == TEXT:
            return rng.choice(TEXTS)
        if rng.random() < 0.03:
            return rng.choice(LARGE)
        if rng.random() < 0.2:
            return Fraction(rng.randint(-9, 9), rng.choice([1, 2, 4, 5, 8, 10]))
        return rng.randint(-3, 6)

    def filled(self, kind: str, sort: str, depth: int) -> Expression:
        """Draw a template, and fill its holes."""
        templates = TEMPLATES[kind]
        [template] = self.rng.choices(list(templates), list(templates.values()))
        other = self.rng.choice([NUMBER, TEXT])
        made: Expression = self._fill(_parsed(template), sort, other, depth)
        return made

    def _fill(self, part: Any, sort: str, other: str, depth: int) -> Any:
        if isinstance(part, tuple):
            return tuple(self._fill(item, sort, other, depth) for item in part)
        if isinstance(part, Name):
            return self._hole(part, sort, other, depth)
        if not isinstance(part, Tree):
            return part
        bound = [target.name for target in part.targets] if isinstance(part, Comprehension) else []
        self.names[NUMBER] += bound
        inner = {each.name: self._fill(getattr(part, each.name), sort, other, depth)
                 for each in fields(part) if each.name != "span"}  # fmt: skip
        for each in bound:
            self.names[NUMBER].remove(each)
        return replace(part, **inner)

    def _hole(self, word: Name, sort: str, other: str, depth: int) -> Expression:
        rng = self.rng
        match word.name:
            case "NUMBER" | "BOOL" | "TEXT":
                return self.s_op(word.name.lower(), depth)
            case "SAME" | "OTHER" | "ANY":
                wanted = {"SAME": sort, "OTHER": other, "ANY": rng.choice(SORTS)}[word.name]
                return self.s_op(wanted, depth)
            case "ITEM":
                return self.leaf(sort) if rng.random() < 0.4 else literal(self.atom(sort))
            case "ATOM" | "OTHER_ATOM":
                return literal(self.atom(sort if word.name == "ATOM" else other))
            case "STEP":
                return literal(rng.randint(-2, 2))
            case "BIT":
                return literal(rng.randint(0, 1))
            case "SAFE":
                return literal(rng.choice(SAFE))
            case "SELECTOR":
                return self.selector(depth)
            case "SCORER":
                return self.filled(SCORER, sort, depth)
        return word

    def own_call(self, sort: str, depth: int) -> Expression | None:
        """A call of a function of the program's own, where there is one of the kind."""
        rng = self.rng
        fitting = [function for function in self.functions if function.result == sort]
        if not fitting:
            return None
        function = rng.choice(fitting)
        given = list(function.parameters)
        if function.optional and rng.random() < 0.5:
            given = given[: -function.optional]
        values = [(parameter, self.argument(kind, depth)) for parameter, kind in given]
        by_name = rng.randint(0, len(values)) if rng.random() < 0.4 else len(values)
        keywords = dict(rng.sample(values[by_name:], len(values) - by_name))
        return call(function.name, *(value for _, value in values[:by_name]), **keywords)

    def argument(self, kind: str, depth: int) -> Expression:
        if kind == SELECTOR:
            return self.selector(depth)
        if kind == "count":
            return literal(self.rng.randint(0, 3))
        return self.s_op(kind, depth)
