"""A random number generator in, random expressions of a wanted kind out: templates, filled in."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any

from rasp.apps.fuzzing.templates import BOOL, NUMBER, SCORER, SELECTOR, TEMPLATES, TEXT, parsed
from rasp.apps.fuzzing.trees import call, literal, name
from rasp.base.atoms import Atom
from rasp.language.syntax.tree import Comprehension, Expression, Name, Tree

SORTS = (NUMBER, NUMBER, BOOL, TEXT)
LETTERS = "abc"
TEXTS: tuple[Atom, ...] = ("a", "b", "c", "", "ab", "3", "-2", "1.5", 'q"', "\\", "é\n")
LARGE: tuple[Atom, ...] = (2**61, -(2**62), 2**63, 10**30, Fraction(1, 2**40), 3**39)
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
        for names in self.names.values():
            if rebound in names:
                names.remove(rebound)
        self.functions = [function for function in self.functions if function.name != rebound]

    def s_op(self, sort: str, depth: int) -> Expression:
        """An expression for an s-op, or an atom in its stead, probably of a kind."""
        rng = self.rng
        if rng.random() < self.slips:
            sort = rng.choice(SORTS)
        if depth <= 0 or rng.random() < 0.12:
            return self.leaf(sort)
        if rng.random() < 0.1 and (own := self.own_call(sort, depth - 1)):
            return own
        return self.filled(sort, sort, depth - 1)

    def any_s_op(self, depth: int) -> Expression:
        return self.s_op(self.rng.choice(SORTS), depth)

    def selector(self, depth: int) -> Expression:
        rng = self.rng
        if self.names[SELECTOR] and rng.random() < 0.25:
            return name(rng.choice(self.names[SELECTOR]))
        if depth <= 0 or rng.random() < 0.35:
            return self.filled("comparison", NUMBER, depth - 1)
        if rng.random() < 0.1 and (own := self.own_call(SELECTOR, depth - 1)):
            return own
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
        expression: Expression = self._fill(parsed(template), sort, other, depth)
        return expression

    def _fill(self, part: Any, sort: str, other: str, depth: int) -> Any:
        if isinstance(part, tuple):
            return tuple(self._fill(item, sort, other, depth) for item in part)
        if isinstance(part, Name):
            return self._hole(part, sort, other, depth)
        if not isinstance(part, Tree):
            return part
        bound = [target.name for target in part.targets] if isinstance(part, Comprehension) else []
        self.names[NUMBER] += bound
        inner = {own.name: self._fill(getattr(part, own.name), sort, other, depth)
                 for own in fields(part) if own.name != "span"}  # fmt: skip
        for own in bound:
            self.names[NUMBER].remove(own)
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
