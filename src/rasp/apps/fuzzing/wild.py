"""A random number generator in, programs out that are grammatical and nothing more."""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction

from rasp.apps.fuzzing.trees import NOWHERE, binary, index, listed, literal, name, ternary, unary
from rasp.base.atoms import Atom
from rasp.language.syntax import tree
from rasp.language.words import BINDING, COMPARISONS

NAMES = (
    "a", "b", "x", "f", "tokens", "indices", "length", "select", "aggregate", "score", "sort",
    "select_best", "range", "zip", "len", "round", "indicator", "draw", "set", "load", "names",
    "help", "exit", "doc", "_p", "été", "andy", "iffy", "order",
)  # fmt: skip
STRINGS = ("", "a", "hello", 'say "hi"', "it's", "\\", "\n", "\t", "#", ";", "é∈", "\\n", "ab" * 20)


@dataclass
class Wild:
    """Makes trees with every construct of the grammar, fitting or not."""

    rng: random.Random

    def statements(self, count: int) -> tuple[tree.Statement, ...]:
        return tuple(self.statement(depth=3) for _ in range(count))

    def statement(self, depth: int, inside: bool = False) -> tree.Statement:
        rng = self.rng
        trailing = "# note" if rng.random() < 0.05 else None
        match rng.randrange(11 if inside else 10):
            case 0 | 1 | 2:
                return tree.Assign(
                    self.targets(), self.value(depth), span=NOWHERE, trailing=trailing
                )
            case 3 | 4:
                return tree.Evaluate(self.value(depth), span=NOWHERE, trailing=trailing)
            case 5 if depth > 0:
                body = tuple(self.statement(depth - 1, True) for _ in range(rng.randint(0, 3)))
                return tree.Define(self.name(), self.parameters(depth), body, span=NOWHERE)
            case 6 if depth > 0:
                body = tuple(self.statement(depth - 1, inside) for _ in range(rng.randint(0, 2)))
                return tree.For(self.targets(), self.expression(depth), body, span=NOWHERE)
            case 7:
                return tree.Remark(rng.choice(["#", "# x", "# é;"]), span=NOWHERE)
            case 8 if not inside:
                return self.command()
            case 9:
                return tree.Load(rng.choice(["other", "a b.rasp", 'x"y', ""]), span=NOWHERE)
            case 10:
                return tree.Return(self.value(depth), span=NOWHERE)
        return tree.Evaluate(self.expression(depth), span=NOWHERE)

    def command(self) -> tree.Statement:
        words = self.rng.choice(
            [("show", "example"), ("examples", "on"), ("examples", "off"), ("set", "example")]
        )
        if words[0] == "set":
            return tree.Command(words, literal(self.rng.choice(STRINGS)), span=NOWHERE)
        return tree.Command(words, span=NOWHERE)

    def targets(self) -> tuple[tree.Name, ...]:
        return tuple(self.name() for _ in range(self.rng.choice([1, 1, 1, 2, 3])))

    def name(self) -> tree.Name:
        return name(self.rng.choice(NAMES))

    def parameters(self, depth: int) -> tuple[tree.Parameter, ...]:
        rng = self.rng
        chosen = rng.sample(NAMES, rng.randint(0, 3))
        needed = rng.randint(0, len(chosen))
        return tuple(
            tree.Parameter(name, None if at < needed else self.expression(depth - 1), span=NOWHERE)
            for at, name in enumerate(chosen)
        )

    def value(self, depth: int) -> tree.Expression:
        """The right side of an assignment: one expression, or several."""
        if self.rng.random() < 0.1:
            return listed([self.expression(depth) for _ in range(self.rng.randint(2, 3))], True)
        return self.expression(depth)

    def expression(self, depth: int) -> tree.Expression:
        rng = self.rng
        if depth <= 0:
            return self.leaf()

        def part() -> tree.Expression:
            return self.expression(depth - 1)

        match rng.randrange(13):
            case 0 | 1 | 2 | 3:
                return binary(rng.choice(list(BINDING)), part(), part())
            case 4 | 5:
                return unary(rng.choice(["not", "-", "+"]), part())
            case 6:
                return ternary(part(), part(), part())
            case 7:
                return self.call(depth)
            case 8:
                return index(part(), part())
            case 9:
                return listed([part() for _ in range(rng.randint(0, 3))])
            case 10:
                pairs = tuple((part(), part()) for _ in range(rng.randint(0, 2)))
                return tree.DictDisplay(pairs, span=NOWHERE)
            case 11:
                key = part() if rng.random() < 0.4 else None
                return tree.Comprehension(part(), self.targets(), part(), key, span=NOWHERE)
        return self.leaf()

    def call(self, depth: int) -> tree.Expression:
        rng = self.rng
        arguments: list[tree.Argument] = []
        for keyword in rng.sample(NAMES, rng.randint(0, 3)):
            value = self.expression(depth - 1)
            if rng.random() < 0.2:
                value = tree.Sign(rng.choice(COMPARISONS), span=NOWHERE)
            named = rng.random() < 0.25 and not isinstance(value, tree.Sign)
            arguments.append(tree.Argument(value, keyword if named else None, span=NOWHERE))
        arguments.sort(key=lambda argument: argument.keyword is not None)
        return tree.Call(self.expression(depth - 1), tuple(arguments), span=NOWHERE)

    def leaf(self) -> tree.Expression:
        rng = self.rng
        if rng.random() < 0.5:
            return self.name()
        atoms: list[Atom] = [0, 1, 2, 10**20, Fraction(1, 2), Fraction(5, 4), True, False]
        return literal(rng.choice(atoms) if rng.random() < 0.8 else rng.choice(STRINGS))
