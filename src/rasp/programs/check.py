"""Entries in, disagreements out: each program against its specification, on many inputs.

`python -m rasp.programs.check --count 1000` is the full check: random inputs up to length 100
and every tiny input, for each program, in both evaluators. Kinds count too: 1, 1.0 and True
are different answers.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias

from rasp.atoms import Atom, display, from_python, read_input, show_input
from rasp.evaluator import evaluate_plain
from rasp.graph import Node
from rasp.programs import entries, entry, load
from rasp.programs.catalogue import IGNORED, Entry
from rasp.visible import visibly

Inputs: TypeAlias = Sequence[tuple[Atom, ...]]
Evaluator: TypeAlias = Callable[[Node, Inputs], Iterable[list[Any]]]


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
    for tokens, computed in zip(given, evaluator(node, given), strict=True):
        specified = [
            atom if atom is IGNORED else from_python(atom)
            for atom in entry.specification(list(tokens))
        ]
        if not _agree(computed, specified):
            yield WrongAnswer(entry.name, tokens, computed, specified)


def plain(node: Node, inputs: Inputs) -> Iterable[list[Any]]:
    """Compute a node with the plain evaluator, which is the meaning of the language."""
    return (evaluate_plain([node], tokens)[node] for tokens in inputs)


def fast(node: Node, inputs: Inputs) -> Iterable[list[Any]]:
    """Compute a node with the fast evaluator, all inputs as one batch."""
    from rasp.evaluator.fast.evaluate import evaluate

    return evaluate([node], inputs)[node]


EVALUATORS: dict[str, Evaluator] = {"plain": plain, "fast": fast}


def _agree(computed: list[Any], specified: list[Any]) -> bool:
    return len(computed) == len(specified) and all(
        wanted is IGNORED or (type(got) is type(wanted) and got == wanted)
        for got, wanted in zip(computed, specified, strict=True)
    )


def check(
    entry: Entry, count: int, longest: int, tiny: int, seed: int, evaluators: Iterable[str]
) -> tuple[int, WrongAnswer | None]:
    """Compare one program with its specification; return how many inputs, and a disagreement."""
    node = load(entry.name).node
    inputs = [*entry.inputs.tiny(tiny), *random_inputs(entry, count, longest, seed)]
    for evaluator in evaluators:
        found = next(disagreements(entry, node, inputs, EVALUATORS[evaluator]), None)
        if found is not None:
            return len(inputs), found
    return len(inputs), None


def main(argv: Sequence[str] | None = None) -> int:
    """Check the programs named on the command line, or all of them; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m rasp.programs.check", description=__doc__)
    parser.add_argument("names", nargs="*", help="programs; all of them where none is named")
    parser.add_argument("--count", type=int, default=1000, help="random inputs for each program")
    parser.add_argument("--longest", type=int, default=100, help="their greatest length")
    parser.add_argument("--tiny", type=int, default=3000, help="how many tiny inputs at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--evaluator", choices=[*EVALUATORS, "both"], default="both")
    chosen = parser.parse_args(argv)
    programs = [entry(name) for name in chosen.names] or entries()
    evaluators = list(EVALUATORS) if chosen.evaluator == "both" else [chosen.evaluator]
    wrong = 0
    for program in programs:
        started = time.perf_counter()
        number, found = check(
            program, chosen.count, chosen.longest, chosen.tiny, chosen.seed, evaluators
        )
        wrong += found is not None
        verdict = "agrees" if found is None else f"DISAGREES: {found}"
        seconds = time.perf_counter() - started
        sys.stdout.write(f"{program.name:28} {number:6} inputs {seconds:7.2f} s  {verdict}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{len(programs)} programs, {wrong} of them wrong\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
