"""Two programs in, the inputs on which to compare them out: what they know, and what they do not.

Whether they want letters, digits or numbers is found by trying; where both compute on letters
and only ask whether tokens are equal, a few inputs decide for every alphabet.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from rasp.base.atoms import Atom, read_input
from rasp.base.errors import RaspError, RaspValueError
from rasp.base.input_text import read_alphabet
from rasp.insight.equivalence.answering import answers, filled
from rasp.insight.equivalence.token_flow import (
    compared_constants,
    every_string,
    only_asks_for_equality,
    reads_tokens,
)
from rasp.insight.equivalence.tried_inputs import InputsToTry, fresh_tokens
from rasp.language.graph import Node, TokensAs, in_order

MOST_KNOWN = 16
FEWEST_TOKENS = 3
FEWEST_KNOWN = 2
"""Known tokens that can be an alphabet of their own, where unknown ones only make failures."""


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
    constants = [atom for atom in compared_constants(nodes) if atom not in (*prefix, "")]
    chosen = _that_works(nodes, constants, prefix)
    is_text = isinstance(chosen[-1], str) and not chosen[-1].isdigit()
    if is_everything and is_text and only_asks_for_equality(nodes):
        words = tuple(atom for atom in constants if isinstance(atom, str))
        avoid = every_string(nodes)
        inputs = InputsToTry(words, prefix, any_alphabet=True, known=len(words), avoid=avoid)
        return inputs.with_unknown(len(prefix) + FEWEST_TOKENS)
    return InputsToTry(chosen, prefix)


def _that_works(
    nodes: Sequence[Node], constants: Sequence[Atom], prefix: tuple[Atom, ...]
) -> tuple[Atom, ...]:
    """Tokens that the programs know, of the kind on which one of them computes most often."""
    words = [atom for atom in constants if isinstance(atom, str)][:MOST_KNOWN]
    numbers = [atom for atom in constants if not isinstance(atom, str)][:MOST_KNOWN]
    digits = [str(atom) for atom in constants if str(atom).isdigit()][:MOST_KNOWN]
    candidates: list[tuple[Atom, ...]] = [
        filled(words, fresh_tokens((*words, *prefix), FEWEST_TOKENS)),
        tuple(words) if len(words) >= FEWEST_KNOWN else ("a", "b"),
        filled(digits, [str(digit) for digit in range(10)]),
        filled(numbers, list(range(10))),
        (False, True),
    ]
    reads_numbers = any(isinstance(node, TokensAs) for node in in_order(nodes))
    works = [_times_computed(nodes, prefix, alphabet) for alphabet in candidates]
    held = [sum(_holds(letters, atom, reads_numbers) for atom in constants)
            for letters in candidates]  # fmt: skip
    best = max(
        range(len(candidates)),
        key=lambda place: (works[place] > 0, held[place], works[place], -place),
    )
    return candidates[best]


def _holds(alphabet: tuple[Atom, ...], atom: Atom, reads_numbers: bool) -> bool:
    """Tell whether an alphabet lets a program meet one of its constants."""
    return atom in alphabet or (reads_numbers and str(atom) in alphabet)


def _times_computed(
    nodes: Sequence[Node], prefix: tuple[Atom, ...], alphabet: tuple[Atom, ...]
) -> int:
    random = Random(0)
    sample = [
        prefix + tuple(random.choice(alphabet) for _ in range(length))
        for length in (1, 2, 3, 4, 5, 6, 8)
        for _ in range(3)
    ]
    return max(
        sum(not isinstance(one, RaspError) for one in answers([node], sample)) for node in nodes
    )
