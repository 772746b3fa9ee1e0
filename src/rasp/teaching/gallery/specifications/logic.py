"""Inference over sets, formulas in normal form, and graphs given by their edges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from random import Random
from typing import Any

from rasp.teaching.gallery.catalogue import Entry, Specification
from rasp.teaching.gallery.gallery_inputs import InputMaker
from rasp.teaching.gallery.specifications.answers import everywhere, whole

entry = partial(Entry, "logic and inference")


def within(start: Iterable[Any], edges: Iterable[tuple[Any, Any]], steps: int) -> set[Any]:
    """What is reached from `start` along at most that many edges."""
    reached, edges = set(start), list(edges)
    for _ in range(steps):
        reached |= {target for source, target in edges if source in reached}
    return reached


def set_inference(steps: int) -> Specification:
    """Membership by the facts and a chain of at most that many rules."""

    def specification(tokens: Sequence[Any]) -> list[Any]:
        text = "".join(tokens)
        [(element, asked)] = re.findall(r"(\w)∈(\w)\?", text)
        facts = [of for who, of in re.findall(r"([^x])∈(\w),", text) if who == element]
        rules = re.findall(r"x∈(\w)→x∈(\w)", text)
        return everywhere(asked in within(facts, rules, steps), tokens)

    return specification


def set_inference_signed(tokens: Sequence[Any]) -> list[Any]:
    text = "".join(tokens)
    [(element, asked)] = re.findall(r"(\w)∈(\w)\?", text)
    facts = [what for who, what in re.findall(r"([^x])([∈∉]\w),", text) if who == element]
    rules = re.findall(r"x([∈∉]\w)→x([∈∉]\w)", text)
    contraposed = [(_denied(conclusion), _denied(premise)) for premise, conclusion in rules]
    inferred = within(facts, rules + contraposed, 3)
    answer = "T" if f"∈{asked}" in inferred else "F" if f"∉{asked}" in inferred else "?"
    return everywhere(answer, tokens)


def _denied(literal: str) -> str:
    return {"∈": "∉", "∉": "∈"}[literal[0]] + literal[1]


def dnf_value(text: str) -> bool:
    return any("F" not in clause for clause in text.split("|"))


def cnf_value(text: str) -> bool:
    return all("T" in clause for clause in text.split("&"))


def edges_of(tokens: Sequence[Any]) -> list[tuple[Any, Any]]:
    return list(zip(tokens[::2], tokens[1::2], strict=True))


def mutual_edges(tokens: Sequence[Any]) -> list[Any]:
    edges = edges_of(tokens)
    return [edge[::-1] in edges for edge in edges for _ in edge]


def reachable_in_three(tokens: Sequence[Any]) -> list[Any]:
    reached = within(tokens[:1], edges_of(tokens), 3)
    return [token in reached for token in tokens]


def premises(signs: str) -> InputMaker:
    """Facts and rules in any order and a question; the rules often form a chain."""

    def sample(rng: Random, length: int) -> list[Any]:
        sets = rng.sample("ABCDEFGH", rng.randint(2, 8))
        statements: list[str] = []
        room = length - 4
        while room >= 4:
            where = rng.randrange(len(sets))
            one, other = sets[where], sets[(where + rng.choice((1, 1, 1, 2))) % len(sets)]
            statement = f"{rng.choice('ab')}{rng.choice(signs)}{one},"
            if room >= 8 and rng.random() < 0.8:
                statement = f"x{rng.choice(signs)}{one}→x{rng.choice(signs)}{other},"
            statements.append(statement)
            room -= len(statement)
        rng.shuffle(statements)
        return list("".join(statements) + f"{rng.choice('ab')}∈{rng.choice(sets)}?")

    facts = [f"b{sign}{name}," for sign in signs for name in "BC"]
    rules = [f"x{signs[0]}{one}→x{signs[-1]}{other}," for one, other in ("BC", "CF", "DF", "CD")]
    return InputMaker(sample, tuple(map(tuple, ("a∈C,", *facts, *rules))), after=tuple("b∈F?"))


def clauses(bar: str) -> InputMaker:
    """Clauses of T and F with a bar between them."""

    def sample(rng: Random, length: int) -> list[Any]:
        often = rng.random()
        tokens = ["T" if rng.random() < often else "F" for _ in range(length)]
        for position in range(1, length - 1):
            if tokens[position - 1] != bar and rng.random() < 0.4:
                tokens[position] = bar
        return tokens

    def accepts(tokens: Sequence[Any]) -> bool:
        return all("".join(tokens).split(bar))

    return InputMaker(sample, (("T",), ("F",), (bar,)), accepts=accepts)


def _edges(rng: Random, length: int) -> list[Any]:
    nodes = rng.sample("abcdefghij", rng.randint(1, 10))
    return rng.choices(nodes, k=max(2, length - length % 2))


EDGES = InputMaker(_edges, tuple((source, target) for source in "abc" for target in "abc"))

ENTRIES = (
    entry("set_inference", set_inference(1), premises("∈")),
    entry("set_inference_four", set_inference(4), premises("∈")),
    entry("set_inference_signed", set_inference_signed, premises("∈∉")),
    entry("dnf_value", whole(dnf_value), clauses("|")),
    entry("cnf_value", whole(cnf_value), clauses("&")),
    entry("mutual_edges", mutual_edges, EDGES),
    entry("reachable_in_three", reachable_in_three, EDGES),
)
