"""Outputs in, alphabets to try them on out.

What a program compares its tokens with is in the alphabet, and a few tokens that it does not
know. Whether it wants letters, digits or numbers is found by trying.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from rasp.base.atoms import Atom
from rasp.insight.equivalence.answering import answers, filled
from rasp.language.graph import (
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

MOST_KNOWN = 8
"""Tokens of a program's own that an alphabet takes up."""
COMPARING = (*COMPARISONS, "in", "lookup")


def alphabets_of(outputs: Sequence[Node]) -> list[tuple[Atom, ...]]:
    """Choose alphabets that the outputs can be computed on, their own constants first.

    >>> from rasp.language.graph import Elementwise
    >>> alphabets_of([Elementwise("<", (Tokens(), Const("(")))])
    [('(', 'a', 'b'), ('(', '0', '1', '2'), ('0', '1', '2')]
    """
    constants = _constants_met(outputs)
    candidates = _candidates(constants)
    share = {alphabet: _share_computed(outputs, alphabet) for alphabet in candidates}
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


def _share_computed(outputs: Sequence[Node], alphabet: Sequence[Atom]) -> float:
    """On which share of a few short inputs the outputs can be computed."""
    random = Random(0)
    sample = [
        tuple(random.choice(alphabet) for _ in range(length))
        for length in (1, 2, 3, 4, 5, 6, 7)
        for _ in range(2)
    ]
    return sum(isinstance(one, list) for one in answers(outputs, sample)) / len(sample)


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
