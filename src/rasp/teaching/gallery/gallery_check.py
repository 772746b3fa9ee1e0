"""Entries in, disagreements out: each program against its specification, on many inputs.

`rasp gallery check` does it for each program in both evaluators. Kinds count too: 1, 1.0 and
True are different answers.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from random import Random
from typing import Any, TypeAlias

from rasp.base.atoms import Atom, display, read_input, show_input
from rasp.base.terminal_text import visibly
from rasp.insight.equivalence.sides import Compared
from rasp.language.evaluator import evaluate_plain
from rasp.language.graph import Node
from rasp.teaching.gallery import load
from rasp.teaching.gallery.catalogue import IGNORED, Entry

Inputs: TypeAlias = Sequence[tuple[Atom, ...]]
Evaluator: TypeAlias = Callable[[Node, Inputs], Iterable[list[Any]]]
LONGEST = 100
"""Tokens of the random inputs of a check, at the most."""
TINY = 3_000
"""Tiny inputs of a check, at the most."""


@visibly
@dataclass(frozen=True)
class WrongAnswer:
    """An input on which a program and its specification differ."""

    name: str
    tokens: tuple[Any, ...]
    computed: list[Any]
    specified: list[Any]

    def __str__(self) -> str:
        computed = ", ".join(display(atom) for atom in self.computed)
        specified = ", ".join("…" if atom is IGNORED else display(atom) for atom in self.specified)
        given = show_input(self.tokens, most=len(self.tokens))
        return f"{self.name}({given}) is [{computed}], but should be [{specified}]"


def random_inputs(entry: Entry, count: int, longest: int, seed: int = 0) -> Iterator[list[Any]]:
    """Draw inputs of lengths from 1 to `longest`; the first two are of these very lengths."""
    rng = Random(f"{entry.name} {seed}")
    for number in range(count):
        length = (longest, 1)[number] if number < 2 else rng.randint(1, longest)
        yield entry.inputs.sample(rng, length)


def disagreements(
    entry: Entry, node: Node, inputs: Iterable[Sequence[Any]], evaluator: Evaluator
) -> Iterator[WrongAnswer]:
    """Give each input on which the node's values are not those of the specification."""
    given = [read_input(list(tokens)) for tokens in inputs]
    pair = Compared(node, entry.wanted)
    for tokens, computed in zip(given, evaluator(node, given), strict=True):
        specified = entry.wanted(tokens)
        if not pair.agree(computed, specified, kinds=True):
            yield WrongAnswer(entry.name, tokens, computed, specified)


def plain(node: Node, inputs: Inputs) -> Iterable[list[Any]]:
    """Compute a node with the plain evaluator, which is the meaning of the language."""
    return (evaluate_plain([node], tokens)[node] for tokens in inputs)


def fast(node: Node, inputs: Inputs) -> Iterable[list[Any]]:
    """Compute a node with the fast evaluator, all inputs as one batch."""
    from rasp.language.evaluator.fast.evaluate import evaluate

    return evaluate([node], inputs)[node]


def check_programs(chosen: Iterable[Entry], count: int) -> bool:
    """Compare programs with their specifications, print a line for each; tell whether all agree.

    Inputs are `count` random ones up to length 100, and every tiny one.
    """
    wrong = number_of_programs = 0
    for program in chosen:
        started = time.perf_counter()
        node = load(program.name).node
        inputs = [*program.inputs.tiny(TINY), *random_inputs(program, count, LONGEST)]
        every = (disagreements(program, node, inputs, how) for how in (plain, fast))
        disagreement = next(chain(*every), None)
        wrong += disagreement is not None
        number_of_programs += 1
        verdict = "agrees" if disagreement is None else f"DISAGREES: {disagreement}"
        seconds = time.perf_counter() - started
        sys.stdout.write(f"{program.name:28} {len(inputs):6} inputs {seconds:7.2f} s  {verdict}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{number_of_programs} programs, {wrong} of them wrong\n")
    return not wrong
