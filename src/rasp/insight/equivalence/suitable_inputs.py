"""Find the inputs that suit a program: which tokens it knows, and on which of them it computes.

Comparing, grading, fitting and checking all ask here. Whether a program wants letters, digits or
numbers is found by trying; where programs compute on letters and only ask whether tokens are
equal, a few inputs decide for every alphabet.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from rasp.base.atoms import Atom, read_input
from rasp.base.errors import RaspError, RaspValueError
from rasp.base.input_text import read_alphabet
from rasp.insight.equivalence.answering import Input, answers
from rasp.insight.equivalence.token_flow import (
    compared_constants,
    every_string,
    only_asks_for_equality,
    reads_tokens,
)
from rasp.insight.equivalence.tried_inputs import InputsToTry, fresh_tokens
from rasp.language.graph import Node, TokensAs, in_order

T = TypeVar("T")
MOST_KNOWN = 16
FEWEST_TOKENS = 3
FEWEST_KNOWN = 2
"""Known tokens that can be an alphabet of their own, where unknown ones only make failures."""
OFTEN = 0.25
"""On which share of a sample a program must compute for the alphabet to suit it."""
SAMPLE_LENGTHS = (1, 2, 3, 4, 5, 6, 8)
STRETCHED = 0.3
"""The share of random inputs that repeat a stretch."""


def choose_inputs(
    nodes: Sequence[Node], is_everything: bool, alphabet: object = None, bos: object = None
) -> InputsToTry:
    """Choose what to try; `is_everything` says that the nodes are all that is compared."""
    prefix = read_input([bos]) if bos is not None else ()
    if alphabet is not None:
        given = tuple(token for token in read_alphabet(alphabet) if token not in prefix)
        if not given:
            raise RaspValueError(
                "the alphabet holds nothing but the BOS", hint="give it other tokens too"
            )
        return InputsToTry(given, prefix)
    if is_everything and not reads_tokens(nodes):
        return InputsToTry(("a",), prefix, reads_tokens=False)
    chosen = suitable_alphabets(nodes, prefix)[0]
    is_text = isinstance(chosen[-1], str) and not chosen[-1].isdigit()
    if is_everything and is_text and only_asks_for_equality(nodes):
        words = tuple(atom for atom in known_tokens(nodes, prefix) if isinstance(atom, str))
        avoid = every_string(nodes)
        inputs = InputsToTry(words, prefix, any_alphabet=True, known=len(words), avoid=avoid)
        return inputs.with_unknown(len(prefix) + FEWEST_TOKENS)
    return InputsToTry(chosen, prefix)


def known_tokens(nodes: Sequence[Node], prefix: Sequence[Atom] = ()) -> list[Atom]:
    """List the tokens that programs compare their own with, but those that begin every input."""
    return [atom for atom in compared_constants(nodes) if atom not in (*prefix, "")]


def suitable_alphabets(
    nodes: Sequence[Node], prefix: tuple[Atom, ...] = ()
) -> list[tuple[Atom, ...]]:
    """List the alphabets that suit at least one of the programs, the best first.

    A program computes on many inputs over an alphabet that suits it. The best ones hold the most of
    the tokens that the programs know.

    >>> from rasp.language.graph import Const, Elementwise, Tokens
    >>> suitable_alphabets([Elementwise("<", (Tokens(), Const("(")))])
    [('(', 'a', 'b'), ('(', '0', '1', '2')]
    """
    suitable: dict[tuple[Atom, ...], float] = {}
    for alphabet, share in _best_first(nodes, prefix):
        is_in_a_better = any(
            share <= better and _typed(alphabet).keys() <= _typed(other).keys()
            for other, better in suitable.items()
        )
        if not suitable or (share >= OFTEN and not is_in_a_better):
            suitable[alphabet] = share
    return list(suitable)


def _best_first(
    nodes: Sequence[Node], prefix: tuple[Atom, ...]
) -> list[tuple[tuple[Atom, ...], float]]:
    """Alphabets, and on which share of a sample one of the programs computes."""
    constants = known_tokens(nodes, prefix)
    reads_numbers = any(isinstance(node, TokensAs) for node in in_order(nodes))
    candidates = [
        (alphabet, _share_computed(nodes, prefix, alphabet))
        for alphabet in _candidates(constants, prefix)
    ]

    def merit(candidate: tuple[tuple[Atom, ...], float]) -> tuple[bool, int, float]:
        alphabet, share = candidate
        held = sum(_holds(alphabet, atom, reads_numbers) for atom in constants)
        return share > 0, held, share

    return sorted(candidates, key=merit, reverse=True)


def _typed(alphabet: Sequence[Atom]) -> dict[tuple[type, Atom], None]:
    """Tokens with their types, in order (`1 == True` in Python)."""
    return {(type(token), token): None for token in alphabet}


def _candidates(constants: Sequence[Atom], prefix: Sequence[Atom]) -> list[tuple[Atom, ...]]:
    """Letters, digits, numbers and bools, each with the constants of its kind."""
    words = [atom for atom in constants if isinstance(atom, str)][:MOST_KNOWN]
    numbers = [atom for atom in constants if not isinstance(atom, str)][:MOST_KNOWN]
    digits = [str(atom) for atom in constants if str(atom).isdigit()][:MOST_KNOWN]
    some_digits = filled(digits, [str(digit) for digit in range(10)])
    candidates: list[tuple[Atom, ...]] = [
        filled(words, fresh_tokens((*words, *prefix), FEWEST_TOKENS)),
        tuple(words) if len(words) >= FEWEST_KNOWN else ("a", "b"),
        tuple(dict.fromkeys([*words, *some_digits])),
        some_digits,
        filled(numbers, list(range(10))),
        (False, True),
    ]
    return list({tuple(_typed(each)): each for each in candidates}.values())


def filled(tokens: Sequence[Atom], fresh: Sequence[Atom]) -> tuple[Atom, ...]:
    """The known tokens, and enough fresh ones: two at least, and three tokens in all."""
    new = [token for token in fresh if token not in tokens]
    return (*tokens, *new[: max(2 if tokens else 0, FEWEST_TOKENS - len(tokens))])


def _holds(alphabet: tuple[Atom, ...], atom: Atom, reads_numbers: bool) -> bool:
    """Tell whether an alphabet lets a program meet one of its constants."""
    return atom in alphabet or (reads_numbers and str(atom) in alphabet)


def _share_computed(
    nodes: Sequence[Node], prefix: tuple[Atom, ...], alphabet: tuple[Atom, ...]
) -> float:
    """On which share of a few short inputs the program computes that does so most often."""
    random = Random(0)
    sample = [
        prefix + tuple(random.choice(alphabet) for _ in range(length))
        for length in SAMPLE_LENGTHS
        for _ in range(3)
    ]
    computed = max(
        sum(not isinstance(one, RaspError) for one in answers([node], sample)) for node in nodes
    )
    return computed / len(sample)


def with_tokens_of(
    other: Node,
    alphabet: Sequence[Atom],
    known: Sequence[Atom],
    prefix: Sequence[Atom] = (),
    pool: Sequence[Atom] | None = None,
) -> tuple[Atom, ...]:
    """Add to an alphabet what another program knows, and a token that neither program knows.

    `known` are the tokens of the first program. Only tokens of `pool` are added, if it is given.

    >>> from rasp.language.graph import Const, Elementwise, Tokens
    >>> asks_for_q = Elementwise("==", (Tokens(), Const("q")))
    >>> with_tokens_of(asks_for_q, "ab", "ab")
    ('a', 'b', 'q', 'c')
    """
    own = known_tokens([other], prefix)
    kind = type(alphabet[0])
    fits = [atom for atom in own if type(atom) is kind and (pool is None or atom in pool)]
    wider = dict.fromkeys([*alphabet, *fits[:MOST_KNOWN]])
    if all(token in (*own, *known) for token in wider):
        fresh = pool if pool is not None else fresh_tokens((*wider, *own, *prefix), 1)
        unknown = (token for token in fresh if token not in wider and type(token) is kind)
        wider.update(dict.fromkeys(list(unknown)[:1]))
    return tuple(wider)


def draw_tokens(random: Random, alphabet: Sequence[T], length: int) -> list[T]:
    """Draw tokens at random; few different ones and repeated stretches are likely."""
    few = random.sample(alphabet, random.randint(1, len(alphabet)))
    tokens = random.choices(few, k=length)
    if length and random.random() < STRETCHED:
        stretch = tokens[: random.randint(1, length)]
        tokens = (stretch * length)[:length]
    return tokens


def random_inputs(alphabet: Sequence[Atom], length: int, count: int, seed: int) -> list[Input]:
    """Draw inputs of one length; the same seed gives the same ones.

    >>> random_inputs("ab", 4, 2, seed=1) == random_inputs("ab", 4, 2, seed=1)
    True
    """
    random = Random(f"{seed} {length}")
    return [tuple(draw_tokens(random, alphabet, length)) for _ in range(count)]
