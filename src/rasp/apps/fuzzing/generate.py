"""A seed in, a random program and inputs out: every construct, most of fitting kinds.

Kinds are chosen before expressions are, so that most programs run and have values; now and then
a part of another kind is put in on purpose.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from fractions import Fraction

from rasp.apps.fuzzing.expressions import LETTERS, SORTS, Expressions, Signature
from rasp.apps.fuzzing.templates import BOOL, NUMBER, SELECTOR, TEXT
from rasp.apps.fuzzing.trees import NOWHERE, assign, binary, call, listed, literal, name, ternary
from rasp.apps.fuzzing.wild import Wild
from rasp.base.atoms import Atom
from rasp.language.syntax import tree

NAMES = ("a", "b", "x", "y", "z", "hist", "flip", "même", "_private", "set", "names", "count")
REMARKS = ("# so", "# é", "# # #", '# "', "# x = 1;")


@dataclass
class Programs:
    """Makes the statements of one program, each using the names before it."""

    rng: random.Random
    tokens_sort: str
    depth: int
    expressions: Expressions = field(init=False)
    numbered: int = 0

    def __post_init__(self) -> None:
        self.expressions = Expressions(self.rng, self.tokens_sort)

    def statements(self, count: int) -> tuple[tree.Statement, ...]:
        """Some statements; the last one defines an s-op called `last`."""
        statements: list[tree.Statement] = []
        while len(statements) < count:
            statements += self.some()
        statements.append(assign("last", self.expressions.any_s_op(self.depth)))
        return tuple(statements)

    def some(self) -> list[tree.Statement]:
        """One statement, or a few that belong together."""
        rng, chance = self.rng, self.rng.random()
        if chance < 0.45:
            return [self.s_op()]
        if chance < 0.60:
            return [self.selector()]
        if chance < 0.72:
            return [self.function()]
        if chance < 0.80:
            return self.loop()
        if chance < 0.87:
            return self.several()
        if chance < 0.92:
            return [self.constant()]
        if chance < 0.96:
            return [self.application()]
        if chance < 0.98:
            return [tree.Remark(rng.choice(REMARKS), span=NOWHERE)]
        return [assign(self.new_name(), Wild(rng).expression(self.depth))]

    def new_name(self) -> str:
        """A name: mostly a new one, now and then one that is taken."""
        self.numbered += 1
        chosen = self.rng.choice(NAMES)
        fresh = chosen if self.rng.random() < 0.2 else f"{chosen}{self.numbered}"
        self.expressions.forget(fresh)
        return fresh

    def s_op(self) -> tree.Statement:
        sort = self.rng.choice(SORTS)
        value = self.expressions.s_op(sort, self.depth)
        target = self.new_name()
        self.expressions.names[sort].append(target)
        return assign(target, value)

    def selector(self) -> tree.Statement:
        value = self.expressions.selector(self.depth)
        target = self.new_name()
        self.expressions.names[SELECTOR].append(target)
        return assign(target, value)

    def several(self) -> list[tree.Statement]:
        """Several names at once, from a list or from a function that returns one."""
        rng = self.rng
        sorts = rng.choices(SORTS, k=rng.randint(2, 3))
        values = listed([self.expressions.s_op(sort, self.depth - 1) for sort in sorts], bare=True)
        before: list[tree.Statement] = []
        if rng.random() < 0.3:
            function = self.new_name()
            body = (tree.Return(values, span=NOWHERE),)
            before = [tree.Define(name(function), (), body, span=NOWHERE)]
            values = call(function)
        targets = [f"{self.new_name()}_{at}" for at in range(len(sorts))]
        for target, sort in zip(targets, sorts, strict=True):
            self.expressions.names[sort].append(target)
        return [*before, tree.Assign(tuple(map(name, targets)), values, span=NOWHERE)]

    def constant(self) -> tree.Statement:
        """A list, a dict or an atom."""
        rng = self.rng
        sort = rng.choice(SORTS)
        items = [literal(self.expressions.atom(sort)) for _ in range(rng.randint(1, 3))]
        target = self.new_name()
        match rng.randrange(3):
            case 0:
                return assign(target, listed(items))
            case 1:
                pairs = tuple((literal(at), item) for at, item in enumerate(items))
                return assign(target, tree.DictDisplay(pairs, span=NOWHERE))
        self.expressions.names[sort].append(target)
        return assign(target, items[0])

    def application(self) -> tree.Statement:
        """Something applied to an input, and perhaps kept."""
        rng = self.rng
        names = self.expressions.names
        applied = rng.choice([*names[NUMBER], *names[BOOL], *names[SELECTOR], "indices"])
        given = random_input(rng, self.tokens_sort)[:6]
        if all(isinstance(token, str) and len(token) == 1 for token in given):
            result = call(applied, literal("".join(map(str, given))))
        else:
            result = call(applied, listed(map(literal, given)))
        if rng.random() < 0.5:
            return tree.Evaluate(result, span=NOWHERE)
        return assign(self.new_name(), result)

    def loop(self) -> list[tree.Statement]:
        """A name that a loop builds up."""
        rng = self.rng
        sort = rng.choice([NUMBER, BOOL, TEXT])
        start = self.expressions.s_op(sort, self.depth - 1)
        target = self.new_name()
        self.expressions.names[sort].append(target)
        self.expressions.names[NUMBER].append("turn")
        again = self.expressions.s_op(sort, 2)
        op = {NUMBER: "+", TEXT: "+", BOOL: "or"}[sort]
        body = (assign(target, binary(op, name(target), again)),)
        source = call("range", literal(rng.randint(1, 3)))
        if rng.random() < 0.3:
            source = listed([literal(rng.randint(0, 4)) for _ in range(2)])
        self.expressions.names[NUMBER].remove("turn")
        return [assign(target, start), tree.For((name("turn"),), source, body, span=NOWHERE)]

    def function(self) -> tree.Statement:
        """A function of one to three parameters; sometimes it recurses, nests or has defaults."""
        rng = self.rng
        outer = self.expressions
        result = rng.choice([NUMBER, BOOL, TEXT, SELECTOR])
        kinds = rng.choices([NUMBER, BOOL, TEXT, SELECTOR], k=rng.randint(1, 3))
        parameters = tuple((f"p{at}", kind) for at, kind in enumerate(kinds))
        inner = Expressions(rng, self.tokens_sort, functions=list(outer.functions))
        inner.names = {sort: list(names) for sort, names in outer.names.items()}
        for parameter, kind in parameters:
            inner.names[kind].append(parameter)
        recurses = rng.random() < 0.15
        body = self.body(inner, result)
        target = self.new_name()
        if recurses:
            parameters += (("turns", "count"),)
            body = [*body[:-1], self.recursion(target, body[-1], parameters)]
        optional = int(recurses or (kinds[-1] in SORTS and rng.random() < 0.4))
        outer.functions.append(Signature(target, parameters, result, optional))
        written = tuple(
            tree.Parameter(parameter, self.default(kind) if optional and at == len(parameters) - 1
                      else None, span=NOWHERE)
            for at, (parameter, kind) in enumerate(parameters)
        )  # fmt: skip
        return tree.Define(name(target), written, tuple(body), span=NOWHERE)

    def default(self, kind: str) -> tree.Expression:
        return literal(2 if kind == "count" else self.expressions.atom(kind))

    def body(self, inner: Expressions, result: str) -> list[tree.Statement]:
        rng = self.rng
        statements: list[tree.Statement] = []
        if rng.random() < 0.4:
            sort = rng.choice(SORTS)
            statements.append(assign("local", inner.s_op(sort, self.depth - 1)))
            inner.names[sort].append("local")
        if rng.random() < 0.15:
            body = (tree.Return(binary("+", name("q"), literal(1)), span=NOWHERE),)
            parameter = tree.Parameter("q", None, span=NOWHERE)
            statements.append(tree.Define(name("nested"), (parameter,), body, span=NOWHERE))
            inner.functions.append(Signature("nested", (("q", NUMBER),), NUMBER))
        value = (inner.selector(self.depth - 1) if result == SELECTOR
                 else inner.s_op(result, self.depth - 1))  # fmt: skip
        statements.append(tree.Return(value, span=NOWHERE))
        return statements

    def recursion(
        self, target: str, end: tree.Statement, parameters: tuple[tuple[str, str], ...]
    ) -> tree.Statement:
        """Return what the body returns, after calling itself a few times."""
        assert isinstance(end, tree.Return)
        turns = name("turns")
        passed = [name(parameter) for parameter, _ in parameters[:-1]]
        again = call(target, *passed, binary("-", turns, literal(1)))
        return tree.Return(ternary(binary("<=", turns, literal(0)), end.value, again), span=NOWHERE)


def random_input(rng: random.Random, sort: str) -> tuple[Atom, ...]:
    """An input, mostly short, of one kind."""
    length = rng.choice([1, 2, 3, 4, 5, 6, 8, 11, rng.randint(1, 40)])
    if sort == TEXT:
        letters = rng.choice([LETTERS, LETTERS, "ab", "hello", "0123"])
        return tuple(rng.choice(letters) for _ in range(length))
    if sort == BOOL:
        return tuple(rng.random() < 0.5 for _ in range(length))
    widest = rng.choice([2, 5, 10**6])
    if rng.random() < 0.3:
        return tuple(Fraction(rng.randint(-9, 9), rng.randint(1, 5)) for _ in range(length))
    return tuple(rng.randint(-3, widest) for _ in range(length))


def random_program(seed: int) -> tuple[tuple[tree.Statement, ...], tuple[tuple[Atom, ...], ...]]:
    """Return the statements of a random program, and inputs for it."""
    rng = random.Random(seed)
    sort = rng.choice([TEXT, TEXT, TEXT, NUMBER, NUMBER, BOOL])
    inputs = [random_input(rng, sort) for _ in range(rng.choice([1, 1, 2, 4]))]
    if rng.random() < 0.05:
        inputs.append(random_input(rng, rng.choice([TEXT, NUMBER])))
    if rng.random() < 0.15:
        return Wild(rng).statements(rng.randint(1, 4)), tuple(inputs)
    depth = rng.choice([1, 2, 2, 3, 3, 4])
    return Programs(rng, sort, depth).statements(rng.randint(0, 6)), tuple(inputs)
