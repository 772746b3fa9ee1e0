"""A graph in, inputs to try it on out: an alphabet that matters to it, short inputs, long ones.

What a program compares its tokens with is in the alphabet, and a few tokens that it does not
know. Whether it wants letters, digits or numbers is found by trying.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, product
from random import Random
from typing import Any

from rasp.atoms import Atom, show
from rasp.errors import RaspError
from rasp.evaluator.plain import EvaluationError
from rasp.evaluator.plain import evaluate as evaluate_plain
from rasp.graph import (
    COMPARISONS,
    Aggregate,
    Const,
    Elementwise,
    Node,
    Select,
    Tokens,
    TokensAs,
    in_order,
)

Input = tuple[Atom, ...]
MOST_KNOWN = 8
"""Tokens of a program's own that an alphabet takes up."""
FEWEST_LETTERS = 3
COMPARING = (*COMPARISONS, "in", "lookup")
BARE = re.compile(r"[^\W\d]+|[^\w\s,{}\"]")
"""Tokens that can be told without quotes: words, and single signs but those that mark a set."""
SMALL_BATCH = 8
"""Inputs that are quicker computed one by one."""


def answers(outputs: Sequence[Node], inputs: Sequence[Input]) -> list[list[Any] | RaspError]:
    """Compute the outputs on many inputs: for each its values, or the error that it ends in."""
    if len(inputs) <= SMALL_BATCH:
        return [answer(outputs, tokens) for tokens in inputs]
    try:
        from rasp.evaluator.fast.evaluate import evaluate
    except ImportError:  # no numpy, as in a browser
        return [answer(outputs, tokens) for tokens in inputs]
    try:
        values = evaluate(outputs, inputs)
    except (EvaluationError, RaspError):
        half = len(inputs) // 2
        return [*answers(outputs, inputs[:half]), *answers(outputs, inputs[half:])]
    return [[values[output][number] for output in outputs] for number in range(len(inputs))]


def answer(outputs: Sequence[Node], tokens: Input) -> list[Any] | RaspError:
    """Compute the outputs on one input by the language's plain meaning."""
    try:
        values = evaluate_plain(outputs, tokens)
        return [values[output] for output in outputs]
    except EvaluationError as failed:
        return failed.error


def alphabets_of(outputs: Sequence[Node]) -> list[tuple[Atom, ...]]:
    """Choose alphabets that the outputs can be computed on, their own constants first.

    >>> from rasp.graph import Elementwise
    >>> alphabets_of([Elementwise("<", (Tokens(), Const("(")))])
    [('(', 'a', 'b'), ('(', '0', '1', '2'), ('0', '1', '2')]
    """
    constants = _constants_met(outputs)
    candidates = _candidates(constants)
    outcomes = {alphabet: answers(outputs, _sample(alphabet)) for alphabet in candidates}
    share = {
        alphabet: sum(isinstance(outcome, list) for outcome in answered) / len(answered)
        for alphabet, answered in outcomes.items()
    }
    if not any(share.values()):
        failed = next(error for error in outcomes[candidates[0]] if isinstance(error, RaspError))
        raise cannot_be_computed(failed, candidates[0])
    words = {atom for atom in constants[:MOST_KNOWN] if isinstance(atom, str)}
    often = [alphabet for alphabet in candidates if share[alphabet] >= 0.25]
    often.sort(key=lambda alphabet: (not words.issubset(alphabet), share[alphabet] < 0.75))
    return often or [max(candidates, key=share.__getitem__)]


def _candidates(constants: list[Atom]) -> list[tuple[Atom, ...]]:
    """Letters, digits, numbers and bools, each with the constants of its kind."""
    words = [atom for atom in constants if isinstance(atom, str)][:MOST_KNOWN]
    numbers = [atom for atom in constants if type(atom) is int][:MOST_KNOWN]
    digits = filled([str(number) for number in numbers], [str(digit) for digit in range(10)])
    candidates: list[tuple[Atom, ...]] = [
        filled(words, list("abcdefghijklmnop")),
        tuple(dict.fromkeys([*words, *digits])),
        digits,
        filled(numbers, list(range(10))),
        (False, True),
    ]
    different: dict[object, tuple[Atom, ...]] = {}
    for alphabet in candidates:
        different.setdefault(tuple((type(token), token) for token in alphabet), alphabet)
    return list(different.values())


def cannot_be_computed(failed: RaspError, alphabet: tuple[Atom, ...]) -> RaspError:
    """Return the error that every input ends in, as one that tells what to do about it."""
    return type(failed)(
        f"this fails on every input tried: {failed.message}",
        hint=f"say which tokens it is for, if not {show_alphabet(alphabet)}: `--alphabet`, or "
        "`alphabet=` in Python",
    )


def filled(tokens: Sequence[Atom], fresh: Sequence[Atom]) -> tuple[Atom, ...]:
    """The known tokens, and enough fresh ones: two at least, and three tokens in all."""
    new = [token for token in fresh if token not in tokens]
    return (*tokens, *new[: max(2 if tokens else 0, FEWEST_LETTERS - len(tokens))])


def _sample(alphabet: Sequence[Atom]) -> list[Input]:
    random = Random(0)
    return [
        tuple(random.choice(alphabet) for _ in range(length))
        for length in (1, 2, 3, 4, 5, 6, 7)
        for _ in range(2)
    ]


def _constants_met(outputs: Sequence[Node]) -> list[Atom]:
    """The constants that tokens are compared with, where they are or where they were moved to."""
    tokens: set[Node] = {Tokens()}
    met: dict[Atom, None] = {}
    for node in in_order(outputs):
        match node:
            case TokensAs():
                tokens.add(node)
            case Aggregate(values=values) if values in tokens:
                tokens.add(node)
            case Elementwise("if", (_, then, otherwise)) if tokens.intersection((then, otherwise)):
                tokens.add(node)
        if isinstance(node, Select) or (isinstance(node, Elementwise) and node.op in COMPARING):
            constants = [needed.value for needed in node.needs if isinstance(needed, Const)]
            whole = bool(tokens.intersection(node.needs))
            for atom in constants:  # a word that is not a token itself may be made of tokens
                met.update(dict.fromkeys([atom] if whole or not isinstance(atom, str) else atom))
    return list(met)


def batches(inputs: Iterable[Input], size: int) -> Iterator[list[Input]]:
    """Take inputs so many at a time."""
    waiting = iter(inputs)
    while batch := list(islice(waiting, size)):
        yield batch


def every_input(alphabet: Sequence[Atom], length: int) -> Iterator[Input]:
    """List every input of one length."""
    return product(alphabet, repeat=length)


def random_inputs(alphabet: Sequence[Atom], length: int, count: int, seed: int) -> list[Input]:
    """Return random inputs of one length; some use few of the tokens, so that they repeat."""
    random = Random(f"{seed} {length}")
    inputs = []
    for _ in range(count):
        some = random.sample(alphabet, random.randint(1, len(alphabet)))
        inputs.append(tuple(random.choice(some) for _ in range(length)))
    return inputs


def shrunk(
    tokens: Input, differs: Callable[[Input], bool], alphabet: Sequence[Atom], kept: int = 0
) -> Input:
    """Drop and simplify tokens, after those to be kept, for as long as the answers differ.

    >>> shrunk(("b", "a", "b", "c"), lambda tokens: "b" in tokens, "abc")
    ('b',)
    """
    smaller: Input | None = tokens
    while smaller is not None:
        tokens = smaller
        smaller = next(filter(differs, _simpler(tokens, alphabet, kept)), None)
    return tokens


def _simpler(tokens: Input, alphabet: Sequence[Atom], kept: int) -> Iterator[Input]:
    for size in (len(tokens) // 2, 1) if len(tokens) > kept + 1 else ():
        for at in range(kept, len(tokens) - size + 1):
            yield tokens[:at] + tokens[at + size :]
    for at in range(kept, len(tokens)):
        for simpler in alphabet[: alphabet.index(tokens[at])]:
            yield (*tokens[:at], simpler, *tokens[at + 1 :])


def show_alphabet(alphabet: Sequence[Atom]) -> str:
    """Write an alphabet as people do.

    >>> show_alphabet(("a", "b"))
    '{a, b}'
    """
    bare = all(isinstance(token, str) and BARE.fullmatch(token) for token in alphabet)
    return "{" + ", ".join(str(token) if bare else show(token) for token in alphabet) + "}"
