"""A cell in, one sentence out that says in the program's own words how its value came about.

>>> import rasp
>>> from rasp.language.evaluator import evaluate_plain
>>> from rasp.language.graph import in_order
>>> hist = rasp.run("hist = selector_width(select(tokens, tokens, ==));")["hist"]
>>> values = evaluate_plain(in_order([hist.node]), tuple("hello"))
>>> Telling(hist.program, tuple("hello"), values).sentence(hist.node, 2)
"position 2 ('l') looks at 2 and 3: two picked, so 2"
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from rasp.apps.playground.intended_attention import AttentionMeant, attention_of
from rasp.base.atoms import Atom
from rasp.insight.drawing.glyphs import cut, in_title, printable, visible
from rasp.insight.schedule import reasons
from rasp.insight.schedule.naming import shortened
from rasp.language.evaluator import Values
from rasp.language.graph import (
    Const,
    Elementwise,
    Indices,
    Node,
    Program,
    Select,
    Tokens,
    TokensAs,
    expression,
)

MOST_LISTED = 12
"""Positions, or values, that a sentence lists; of more it gives the number."""
MOST_FACTS = 4
LONGEST_TEXT = 60
LONGEST_REPEATED = 44
"""Letters of an expression that a sentence ends with; a longer one goes by its name."""
LONGEST_ATOM = 24
INPUTS = (Tokens, TokensAs, Indices)
NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
           "eleven", "twelve")  # fmt: skip


@dataclass(frozen=True)
class Telling:
    """A program on one input, with the value of every node."""

    program: Program
    tokens: tuple[Atom, ...]
    values: Values

    def sentence(self, node: Node, at: int) -> str:
        """Say how the value of a node at a position came about."""
        here = f"position {at} ({in_words(self.tokens[at])})"
        attention = attention_of(node)
        if attention is not None and attention.purpose == "select":
            return (
                f"{here} looks at {self._listed(self.picked(attention, at))}{self._why(node, at)}"
            )
        value = in_words(self.values[node][at])
        if attention is not None:
            return f"{here} {self._looks(attention, at, value)}"
        if not isinstance(node, Elementwise):
            return (
                f"this is position {at}" if isinstance(node, Indices) else f"{here} holds {value}"
            )
        text = self.words(node)
        if len(text) > LONGEST_REPEATED:
            text = self.label(node)
        if keys := self.looked_at(node, at):
            return f"{here} looks at {self._listed(keys)}, so {text} is {value}"
        if facts := self._facts(node, at):
            return f"{here}: {facts}, so {text} is {value}"
        where = f"{here} looks at no position, so " if self.parts(node) else "everywhere, "
        return f"{where}{text} is {value}"

    def looked_at(self, node: Node, at: int) -> list[int]:
        """The positions that a position looks at for a node; none if others did that before."""
        attention = attention_of(node)
        if attention is not None:
            return self.picked(attention, at)
        if not isinstance(node, Elementwise) or not self._is_of_library(node):
            return []
        steps = [part for part in self.parts(node) if self._is_one_call(part, node)]
        return sorted({key for part in steps for key in self.looked_at(part, at)})

    def picked(self, attention: AttentionMeant, at: int) -> list[int]:
        """The keys that a position picks and reads."""
        row = enumerate(self.values[attention.selector][at])
        return [key for key, bit in row if bit and key >= attention.leaves_out_first]

    def parts(self, node: Node) -> list[Node]:
        """The nearest nodes below arithmetic that have a name, are input, or are computed apart."""
        parts: dict[Node, None] = {}
        stack = list(reversed(node.needs))
        while stack:
            part = stack.pop()
            if self._is_folded(part, node):
                stack.extend(reversed(part.needs))
            elif not isinstance(part, Const):
                parts[part] = None
        return list(parts)

    def label(self, node: Node) -> str:
        """What people call a node: its name, or the words that made it."""
        name = self.program.names.get(node)
        return printable(name) if name else self.words(node)

    def title(self, node: Node) -> str:
        """What to call a node by itself: a step inside a library's function is told as one."""
        if node not in self._steps:
            return self.label(node)
        return f"a step of {self._cut(self.program.origins[node].text)}"

    def words(self, node: Node) -> str:
        """The words of the program that made a node, or what it computes."""
        has_words = not isinstance(node, INPUTS) and node not in self._steps
        span = self.program.origins.get(node) if has_words else None
        return self._cut(span.text if span else expression(node, self.program.names, 4))

    def _cut(self, text: str) -> str:
        return printable(shortened(" ".join(text.split()), LONGEST_TEXT))

    @cached_property
    def _steps(self) -> set[Node]:
        """What a library's function makes on the way to what it returns."""
        return {
            needed
            for node in self.values
            for needed in node.needs
            if needed not in self.program.names and self._is_one_call(needed, node)
        }

    def _is_of_library(self, node: Node) -> bool:
        origin = None if isinstance(node, INPUTS) else self.program.made.get(node)
        return origin is not None and bool(origin.library)

    def _is_one_call(self, part: Node, whole: Node) -> bool:
        """True where one call of a library's function made both."""
        return self._is_of_library(part) and self.program.made[part] == self.program.made.get(whole)

    def _is_folded(self, part: Node, whole: Node) -> bool:
        """True for a step on the way to a node that nobody wants to hear of."""
        if part in self.program.names or not isinstance(part, Elementwise):
            return False
        if self._is_of_library(part) and not self._is_one_call(part, whole):
            return False
        return attention_of(part) is None

    def _looks(self, attention: AttentionMeant, at: int, value: str) -> str:
        keys = self.picked(attention, at)
        looks = f"looks at {self._listed(keys)}"
        if attention.purpose == "count":
            beside = " beside position 0" if attention.leaves_out_first else ""
            counted = f": {in_letters(len(keys))} picked{beside}" if keys else ""
            return f"{looks}{counted}, so {value}"
        if not keys:
            default = "the default " if attention.purpose == "mean" else ""
            return f"{looks}, so {default}{value}"
        values = [in_words(self.values[attention.values][key]) for key in keys]
        if len(keys) > 1:
            return f"{looks}: the {attention.purpose} of {listed(values)} is {value}"
        token = f"{looks} ({in_words(self.tokens[keys[0]])})"
        if isinstance(attention.values, (Tokens, Const)):
            return f"{token}, so {value}"
        return f"{token}, where {self.label(attention.values)} is {values[0]}, so {value}"

    def _why(self, selector: Node, at: int) -> str:
        """What a single comparison asks of the keys at one position."""
        match selector:
            case Select(keys, queries, op) if not isinstance(keys, Const):
                wanted = in_words(self.values[queries][at])
                return f": the keys where {self.label(keys)} {op} {wanted}"
        return ""

    def _listed(self, keys: Sequence[int]) -> str:
        if len(keys) == len(self.tokens) > MOST_LISTED:
            return f"all {len(keys)} positions"
        return listed([str(key) for key in keys]) if keys else "no position"

    def _facts(self, node: Node, at: int) -> str:
        """What holds at a position for the parts that a piece of arithmetic is made of."""
        parts = [part for part in self.parts(node) if not self._is_one_call(part, node)]
        told = [self._fact(part, at) for part in parts[:MOST_FACTS]]
        more = len(parts) - MOST_FACTS
        return listed([*told, *([f"{more} more"] if more > 0 else [])])

    def _fact(self, node: Node, at: int) -> str:
        value = in_words(self.values[node][at])
        keys = [] if node in self.program.names else self.looked_at(node, at)
        looks = f" looks at {self._listed(keys)} and" if keys else ""
        return f"{self.label(node)}{looks} is {value}"


def in_words(atom: Atom) -> str:
    """Write an atom as a sentence gives it: strings quoted, long decimals rounded.

    >>> in_words("l"), in_words(Fraction(2, 3)), in_words(True), in_words(Fraction(5, 2))
    ("'l'", '0.67', 'True', '2.5')
    """
    if isinstance(atom, str):
        return f"'{cut(visible(atom[: 2 * LONGEST_ATOM]), LONGEST_ATOM) if atom else ''}'"
    if isinstance(atom, Fraction) and 100 % atom.denominator and abs(atom) >= Fraction(1, 100):
        return f"{float(atom):.2f}" if abs(atom) < 10**9 else f"{float(atom):.3g}"
    return cut(in_title(atom).partition(" = ")[0], LONGEST_ATOM)


def listed(words: Sequence[str]) -> str:
    """Join words as people do.

    >>> listed(["0", "1", "2"]), listed(["4"])
    ('0, 1 and 2', '4')
    """
    if len(words) > MOST_LISTED:
        most = MOST_LISTED - 2
        words = [*words[:most], f"{len(words) - most} more"]
    return reasons.listed(words)


def in_letters(number: int) -> str:
    """Write a small number as a word.

    >>> in_letters(2), in_letters(40)
    ('two', '40')
    """
    return NUMBERS[number] if number < len(NUMBERS) else str(number)
