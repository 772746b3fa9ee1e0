"""A program built in Python prints as RASP that reads back as the same graph, whatever it is."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

import rasp
from rasp import aggregate, indices, length, select, select_all, tokens, where
from rasp.base.limits import Limits
from rasp.language.embedding.constructors import constant
from rasp.language.embedding.handle_operators import handle_of
from rasp.language.graph import Const, Elementwise, Indices, Tokens, expression

NO_LIMITS = Limits(text_length=10**8, steps=10**8, graph_size=10**8)
STRINGS = ["a", "", 'say "hi"', "it's", "back\\slash", "new\nline", "tab\t", "é∈", "#", ";", "§"]
COMPARISONS = ["==", "!=", "<", "<=", ">", ">="]


class Programs:
    """Makes random handles of every kind, with shared parts and given names."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.s_ops: list[Any] = [
            tokens, indices, length, rasp.tokens_int, rasp.tokens_str, rasp.tokens_float,
            rasp.tokens_bool,
        ]  # fmt: skip
        self.selectors: list[Any] = [select_all]
        for _ in range(self.rng.randint(1, 25)):
            self.grow()

    def grow(self) -> None:
        rng = self.rng
        if rng.random() < 0.35:
            made = self.selector()
            self.selectors.append(made)
        else:
            made = self.s_op()
            self.s_ops.append(made)
        if rng.random() < 0.2:
            kept = self.selectors if made is self.selectors[-1] else self.s_ops
            kept[-1] = made.named(rng.choice(["x", "y", "z", "length", "sort", "set", "load"]))

    def atom(self) -> Any:
        rng = self.rng
        number = rng.choice(
            [rng.randint(-9, 9), 10**20, Fraction(rng.randint(-9, 9), 7), 2.5, -0.125]
        )
        return rng.choice([number, rng.choice(STRINGS), rng.random() < 0.5])

    def operand(self) -> Any:
        return self.atom() if self.rng.random() < 0.3 else self.part()

    def part(self) -> Any:
        return self.rng.choice(self.s_ops[-6:] if self.rng.random() < 0.8 else self.s_ops)

    def s_op(self) -> Any:
        rng, part = self.rng, self.part()
        match rng.randrange(12):
            case 0:
                return rng.choice([part + self.operand(), self.operand() + part, part - part])
            case 1:
                return rng.choice([part * self.operand(), part / self.operand(), part % part])
            case 2:
                return rng.choice([part ** self.operand(), self.operand() ** part, (-part) ** 2])
            case 3:
                return rng.choice([part == self.operand(), constant(self.atom()) < part,
                                   (part == part) != self.operand()])  # fmt: skip
            case 4:
                return rng.choice([part & self.part(), (part | self.part()) & part, part & True])
            case 5:
                return rng.choice(
                    [~part, -part, +part, round(part), rasp.indicator(part), -(+part)]
                )
            case 6:
                return where(part, self.operand(), where(self.part(), self.operand(), self.part()))
            case 7:
                return part.is_in([self.atom() for _ in range(rng.randint(0, 4))])
            case 8:
                return part.lookup([self.operand() for _ in range(rng.randint(1, 4))])
            case 9:
                return part.lookup({key: self.operand() for key in rng.sample(STRINGS, 3)})
            case 10:
                return part.at(rng.randint(-2, 2))
        return aggregate(rng.choice(self.selectors), self.operand(), self.atom())

    def selector(self) -> Any:
        rng = self.rng
        match rng.randrange(5):
            case 0 | 1:
                return select(self.operand(), self.operand(), rng.choice(COMPARISONS))
            case 2:
                return rng.choice(self.selectors) & rng.choice(self.selectors)
            case 3:
                return ~(rng.choice(self.selectors) | rng.choice(self.selectors))
        return rasp.select_best(rng.choice(self.selectors), rasp.score(self.operand(), self.part()))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(300))
def test_random_programs_read_back_as_the_same_graph(seed: int) -> None:
    programs = Programs(seed)
    outputs = {"first": programs.s_ops[-1], "second": programs.selectors[-1]}
    text = rasp.to_rasp(outputs)
    again = rasp.run(text)
    assert {name: again[name].node for name in outputs} == {
        name: handle.node for name, handle in outputs.items()
    }, text
    assert rasp.to_rasp({name: again[name] for name in outputs}) == text
    alone = programs.s_ops[-1].rasp()
    assert any(value.node is programs.s_ops[-1].node for value in rasp.run(alone).values()), alone


def test_given_names_appear_and_are_what_they_say() -> None:
    flip = select(indices, length - 1 - indices, "==").named("flip")
    text = aggregate(flip, tokens).named("reverse").rasp()
    assert text == (
        "flip = select(indices, length - 1 - indices, ==);\nreverse = aggregate(flip, tokens);\n"
    )
    assert rasp.run(text)["flip"].node is flip.node


def test_two_nodes_of_one_name_stay_apart() -> None:
    one, two = (indices + 1).named("x"), (indices + 2).named("x")
    again = rasp.run((one * two).named("x").rasp())
    assert again["x"].node is (one * two).node
    assert {value.node for value in again.values()} == {one.node, two.node, (one * two).node}


def test_a_name_of_the_library_can_mean_something_else() -> None:
    own = (indices * 3).named("length") + length
    again = rasp.run(own.named("sum").rasp())
    assert again["sum"].node is own.node
    assert again["length"].node is (indices * 3).node


@pytest.mark.slow
def test_a_deep_graph_is_cut_into_short_lines_and_none_is_lost() -> None:
    deep = indices
    for number in range(100_000):
        deep = deep + number % 7 if number % 3 else -deep
    text = deep.rasp()
    assert max(map(len, text.splitlines())) < 120
    assert rasp.run(text, limits=NO_LIMITS)["result"].node is deep.node


def test_a_shared_graph_is_written_once() -> None:
    shared = indices
    for _ in range(200):
        shared = shared * shared + shared
    text = shared.rasp()
    assert len(text) < 20_000
    assert rasp.run(text)["result"].node is shared.node


@pytest.mark.slow
def test_deep_selectors_are_cut_too() -> None:
    deep = select(indices, 0, "==")
    for number in range(1_500):
        deep = ~deep & select(indices, number, "<")
    text = deep.rasp()
    assert rasp.run(text, limits=NO_LIMITS)["result"].node is deep.node


@pytest.mark.parametrize(
    "node",
    [
        Elementwise("+", (Const(1), Const(2))),
        Elementwise("not", (Const(True),)),
        Elementwise("if", (Const(True), Tokens(), Indices())),
        Elementwise("float", (Tokens(),)),
        Elementwise("in", (Tokens(), Indices())),
        Elementwise("at", (Const(0), Tokens())),
        Elementwise("lookup", (Tokens(), Const(1), Tokens(), Const(True), Tokens())),
        Const(3),
    ],
    ids=expression,
)
def test_what_no_text_can_say_is_refused(node: Any) -> None:
    with pytest.raises(rasp.RaspUnsupportedError) as caught:
        rasp.to_rasp(handle_of(node), "it")
    assert caught.value.hint


def test_nothing_to_write_is_refused() -> None:
    with pytest.raises(rasp.RaspTypeError):
        rasp.to_rasp(rasp.run("x = 1; def f(a) { return a; }"))
