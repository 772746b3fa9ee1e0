"""A random number generator in, random expressions of a wanted kind out."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from rasp.atoms import Atom
from rasp.fuzzing.trees import NOWHERE, binary, call, index, listed, literal, name, ternary, unary
from rasp.operators import COMPARISONS, drawn
from rasp.syntax.tree import Comparison, Comprehension, DictDisplay, Expression

NUMBER, BOOL, TEXT, SELECTOR = "number", "bool", "text", "selector"
SORTS = (NUMBER, NUMBER, BOOL, TEXT)
LETTERS = "abc"
TEXTS: tuple[Atom, ...] = ("a", "b", "c", "", "ab", "3", "-2", "1.5", 'q"', "\\", "é\n")
LARGE: tuple[Atom, ...] = (2**61, -(2**62), 2**63, 10**30, Fraction(1, 2**40), 3**39)
SURE, DOUBTFUL = (drawn("infix", f"number {right} -> number") for right in ("number", "divisor"))
SIGNS, FUNCTIONS = (drawn(how, "number -> number") for how in ("prefix", "call"))
EQUALITIES, LOGIC = (drawn("infix", f"{sort} {sort} -> bool") for sort in ("any", "bool"))
FACTORS: list[int | Fraction] = [2, -1, Fraction(1, 2)]
SAFE: tuple[Atom, ...] = (1, 2, 3, Fraction(1, 2), Fraction(5, 2))
"""What nothing goes wrong with on the right of `/`, `%` and `^`."""


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

    # S-ops

    def s_op(self, sort: str, depth: int) -> Expression:
        """An expression for an s-op, or an atom in its stead, probably of a kind."""
        rng = self.rng
        if rng.random() < self.slips:
            sort = rng.choice(SORTS)
        if depth <= 0 or rng.random() < 0.12:
            return self.leaf(sort)
        chance = rng.random()
        if chance < 0.25:
            return self.aggregate(sort, depth - 1)
        if chance < 0.45:
            return self.library(sort, depth - 1)
        if chance < 0.55 and (made := self.own_call(sort, depth - 1)):
            return made
        if chance < 0.65:
            return self.chosen(sort, depth - 1)
        maker: Callable[[int], Expression] = getattr(self, "a_" + sort)
        return maker(depth - 1)

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

    def a_number(self, depth: int) -> Expression:
        rng = self.rng
        match rng.randrange(9):
            case 0 | 1 | 2 | 3:
                op = rng.choice([*SURE, *DOUBTFUL])
                right = self.s_op(NUMBER, depth)
                if op in DOUBTFUL and rng.random() < 0.85:  # mostly a safe operand
                    right = literal(rng.choice(SAFE))
                return binary(op, self.s_op(NUMBER, depth), right)
            case 4:
                return unary(rng.choice(SIGNS), self.s_op(NUMBER, depth))
            case 5:
                return call(rng.choice(FUNCTIONS), self.s_op(NUMBER, depth))
            case 6:
                return call("indicator", self.s_op(rng.choice(SORTS), depth))
            case 7:
                return binary(rng.choice("+-*"), self.s_op(NUMBER, depth), self.s_op(BOOL, depth))
        return self.look_up(NUMBER, depth)

    def a_bool(self, depth: int) -> Expression:
        rng = self.rng
        match rng.randrange(8):
            case 0 | 1 | 2:
                sort = rng.choice([NUMBER, NUMBER, TEXT])
                return binary(
                    rng.choice(COMPARISONS), self.s_op(sort, depth), self.s_op(sort, depth)
                )
            case 3:
                return binary(rng.choice(EQUALITIES), self.any_s_op(depth), self.any_s_op(depth))
            case 4:
                parts = self.s_op(BOOL, depth), self.s_op(rng.choice([BOOL, BOOL, NUMBER]), depth)
                return binary(rng.choice(LOGIC), *parts)
            case 5:
                return unary("not", self.s_op(rng.choice([BOOL, BOOL, NUMBER, TEXT]), depth))
            case 6:
                sort = rng.choice([NUMBER, TEXT])
                if rng.random() < 0.4:
                    return binary("in", literal(self.atom(sort)), self.s_op(sort, depth))
                members = [literal(self.atom(sort)) for _ in range(rng.randint(0, 4))]
                return binary("in", self.s_op(sort, depth), listed(members))
        return self.look_up(BOOL, depth)

    def a_text(self, depth: int) -> Expression:
        rng = self.rng
        match rng.randrange(4):
            case 0 | 1:
                return binary("+", self.s_op(TEXT, depth), self.s_op(TEXT, depth))
            case 2:
                times = binary("%", name("indices"), literal(rng.randint(1, 4)))
                parts = (self.s_op(TEXT, depth), times)
                return binary("*", *(parts if rng.random() < 0.5 else parts[::-1]))
        return self.look_up(TEXT, depth)

    def any_s_op(self, depth: int) -> Expression:
        return self.s_op(self.rng.choice(SORTS), depth)

    def chosen(self, sort: str, depth: int) -> Expression:
        """A ternary; sometimes one that is decided at once."""
        rng = self.rng
        other = sort if sort == TEXT else rng.choice([sort, NUMBER, BOOL])
        condition = self.s_op(BOOL, depth)
        if rng.random() < 0.1:
            condition = binary("==", literal(rng.randint(0, 1)), literal(rng.randint(0, 1)))
        return ternary(condition, self.s_op(sort, depth), self.s_op(other, depth))

    def look_up(self, sort: str, depth: int) -> Expression:
        """Something out of a list, a comprehension, a string or a dict."""
        rng = self.rng
        count = rng.choice([1, 2, 3, 5])
        position = binary("%", name("indices"), literal(count))
        if rng.random() < 0.3:
            position = binary("%", call("round", self.s_op(NUMBER, depth)), literal(count))
        if rng.random() < 0.2:
            position = literal(rng.randint(-count, count - 1))
        items = [self.leaf(sort) if rng.random() < 0.4 else literal(self.atom(sort))
                 for _ in range(count)]  # fmt: skip
        match rng.randrange(5):
            case 0:
                pairs = tuple((literal(at), item) for at, item in enumerate(items))
                return index(DictDisplay(pairs, span=NOWHERE), position)
            case 1 if sort == TEXT:
                return index(literal("abcde"[:count]), position)
            case 2 if sort == NUMBER:
                counted = self.comprehension(count, depth)
                return index(counted, position)
        return index(listed(items), position)

    def comprehension(self, count: int, depth: int) -> Expression:
        """A list of `count` numbers, some of them s-ops, or a dict from 0 on."""
        rng = self.rng
        each = f"each{rng.randrange(2)}"
        self.names[NUMBER].append(each)
        item = self.s_op(NUMBER, min(depth, 1))
        self.names[NUMBER].remove(each)
        key = name(each) if rng.random() < 0.3 else None
        source = call("range", literal(count))
        return Comprehension(item, (name(each),), source, key, span=NOWHERE)

    def aggregate(self, sort: str, depth: int) -> Expression:
        rng = self.rng
        selector = self.selector(depth)
        if sort != NUMBER and rng.random() < 0.97:  # a lone pick, mostly
            selector = binary("and", selector, self.neighbour()) if rng.random() < 0.4 else (
                self.neighbour()
            )  # fmt: skip
        values = self.s_op(sort, depth)
        if sort != TEXT and rng.random() < 0.5:
            return call("aggregate", selector, values)
        default = literal(self.atom(sort))
        if rng.random() < 0.3:
            return call("aggregate", selector, values=values, default=default)
        return call("aggregate", selector, values, default)

    def neighbour(self) -> Expression:
        """A selector of one key at most."""
        moved = binary("-", name("indices"), literal(self.rng.randint(-2, 2)))
        return call("select", name("indices"), moved, self.sign("=="))

    def sign(self, op: str | None = None) -> Expression:
        return Comparison(op or self.rng.choice([*COMPARISONS, "==", "=="]), span=NOWHERE)

    # Selectors

    def selector(self, depth: int) -> Expression:
        rng = self.rng
        if self.names[SELECTOR] and rng.random() < 0.25:
            return name(rng.choice(self.names[SELECTOR]))
        if depth <= 0 or rng.random() < 0.35:
            return self.comparison(depth)
        match rng.randrange(10):
            case 0 | 1 | 2:
                return binary("and", self.selector(depth - 1), self.selector(depth - 1))
            case 3 | 4:
                return binary("or", self.selector(depth - 1), self.selector(depth - 1))
            case 5:
                return unary("not", self.selector(depth - 1))
            case 6 | 7:
                return call("select_best", self.selector(depth - 1), self.scorer(depth - 1))
            case 8:
                if made := self.own_call(SELECTOR, depth - 1):
                    return made
        return self.library_selector(depth - 1)

    def scorer(self, depth: int) -> Expression:
        """A product; now and then a sum of several, or a number of times one."""
        rng = self.rng
        if rng.random() < 0.3:
            op, left = rng.choice("+-*"), self.scorer(depth)
            factor = literal(rng.choice(FACTORS))
            return binary("*", factor, left) if op == "*" else binary(op, left, self.scorer(depth))
        queries = literal(rng.choice([1, -1, 2, 0]))
        if rng.random() < 0.4:
            queries = self.s_op(NUMBER, depth)
        return call("score", self.s_op(NUMBER, depth), queries)

    def comparison(self, depth: int) -> Expression:
        rng = self.rng
        chance = rng.random()
        if chance < 0.25:
            return call("select", name("tokens"), name("tokens"), self.sign())
        if chance < 0.45:
            return call("select", name("indices"), name("indices"), self.sign())
        sort = rng.choice(SORTS)
        keys, queries = self.s_op(sort, depth - 1), self.s_op(sort, depth - 1)
        return call("select", keys, queries, self.sign())

    def library_selector(self, depth: int) -> Expression:
        rng = self.rng
        sort = rng.choice([NUMBER, TEXT])
        match rng.randrange(5):
            case 0:
                return name(rng.choice(["select_all", "full_s"]))
            case 1:
                return call("select_eq", self.s_op(sort, depth), self.s_op(sort, depth))
            case 2:
                return call("select_next_identical", self.s_op(sort, depth))
            case 3:
                return call("select_from_first", self.s_op(sort, depth), literal(self.atom(sort)))
        return call("select_from_last", self.s_op(sort, depth), literal(self.atom(sort)))

    # Calls

    def library(self, sort: str, depth: int) -> Expression:
        """A call of a library function that gives a kind."""
        makers = {TEXT: self.library_text, BOOL: self.library_bool, NUMBER: self.library_number}
        return makers[sort](depth)

    def library_text(self, depth: int) -> Expression:
        rng, text = self.rng, self.s_op(TEXT, depth)
        match rng.randrange(3):
            case 0:
                return call("shift", text, literal(rng.randint(-2, 2)), literal("-"))
            case 1:
                return call("sort", text, self.s_op(NUMBER, depth))
        return index(text, literal(rng.randint(-1, 0)))

    def library_bool(self, depth: int) -> Expression:
        rng = self.rng
        sort = rng.choice([NUMBER, TEXT])
        match rng.randrange(4):
            case 0:
                return call("has_prev", self.s_op(sort, depth))
            case 1:
                return call("has_focus", self.selector(depth))
        marking = rng.choice(["contains", "mark_first_instance", "mark_last_instance"])
        return call(marking, self.s_op(sort, depth), literal(self.atom(sort)))

    def library_number(self, depth: int) -> Expression:
        rng = self.rng
        sort = rng.choice([NUMBER, TEXT])
        bos = {"assume_bos": literal(True)} if rng.random() < 0.3 else {}

        def number() -> Expression:
            return self.s_op(NUMBER, depth)

        match rng.randrange(13):
            case 0 | 1 | 2:
                return call("selector_width", self.selector(depth), **bos)
            case 3:
                return call("histf", self.s_op(sort, depth), **bos)
            case 4:
                return call("sort", number(), number(), **bos)
            case 5:
                function = rng.choice(["count", "frac_prevs"])
                return call(function, self.s_op(sort, depth), literal(self.atom(sort)))
            case 6:
                return call("num_prevs", self.s_op(BOOL, depth))
            case 7:
                return call("average", number())
            case 8:
                return call("load_from_location", number(), number())
            case 9:
                return call("shift", number(), steps=literal(rng.randint(-2, 2)))
            case 10:
                return call(rng.choice(["max", "min", "pairwise_mul"]), number(), number())
            case 11:
                return rng.choice(
                    [
                        call("pow", number(), literal(2)),
                        index(number(), literal(rng.randint(-2, 2))),
                    ]
                )
        return call("pair_balance", literal("a"), literal("b"))

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
