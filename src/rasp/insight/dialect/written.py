"""A program and its text in a dialect in, how far the two were compared out.

The text is compared twice. Its interpreter, written from the published definition, runs it beside
the program on every short input. And where the program is not in the dialect as written, the text
becomes a program in RASP again, line by line, and `equivalent` says how far the two are the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from rasp.base.atoms import Atom, show_input
from rasp.base.errors import RaspError
from rasp.insight.dialect.interpreters import ATTEND, COUNT, LETTER, LINE, run_b_rasp, run_c_rasp
from rasp.insight.dialect.selector_rows import NotInDialect
from rasp.insight.equivalence import Equivalence, equivalent
from rasp.insight.equivalence.answering import Input, answers, batches
from rasp.insight.equivalence.tried_inputs import InputsToTry
from rasp.language.embedding import constructors
from rasp.language.embedding.namespace import run
from rasp.language.graph import Aggregate, Const, Elementwise, SOp

MOST_CHECKED = 3_000
"""Inputs on which a text is compared with the program it was written from."""
LONGEST_CHECKED = 10
BATCH = 20_000
LAST = constructors.select(constructors.indices, constructors.length - 1, "==")
AT_RANDOM = 300
"""Longer inputs on which `equivalent` tries a rewritten program."""


@dataclass(frozen=True)
class DialectProgram:
    """A program in C-RASP or B-RASP, and how to read its answer.

    >>> DialectProgram('accept(i) := "a"(i)', (("accept", True),), False, "C-RASP").in_rasp().op
    '=='
    """

    text: str
    meanings: tuple[tuple[str, Atom | None], ...]
    """The answer that each of its last lines means (None: the line's own number)."""
    at_last: bool
    """Only its answer at the last position is the program's."""
    dialect: str

    def compare(
        self, node: SOp, alphabet: Sequence[Atom], most: int = MOST_CHECKED
    ) -> tuple[int, int]:
        """Run the text beside the program; return how many inputs, up to which length."""
        quick = InputsToTry(tuple(alphabet)).longest(None, most, most)
        tested, longest = 0, max(1, min(quick, LONGEST_CHECKED))
        for length in range(1, longest + 1):
            for words in batches(product(alphabet, repeat=length), BATCH):
                self._compare_words(node, words)
                tested += len(words)
        return tested, longest

    def _compare_words(self, node: SOp, words: Sequence[Input]) -> None:
        interpret = run_c_rasp if self.dialect == "C-RASP" else run_b_rasp
        lines = interpret(self.text, words)
        said = [(lines[name].tolist(), meaning) for name, meaning in self.meanings]
        places = slice(-1, None) if self.at_last else slice(None)
        for number, meant in enumerate(answers([node], words)):
            if isinstance(meant, RaspError):
                continue  # the program has no value there
            rows = [(line[number][places], meaning) for line, meaning in said]
            for place, value in enumerate(meant[0][places]):
                if not _agrees([(row[place], meaning) for row, meaning in rows], value):
                    raise _mistaken(node, words[number])

    def prove(self, node: SOp, alphabet: Sequence[Atom], longest: int) -> Equivalence:
        """Ask `equivalent` whether the text, as a program in RASP, is the same as the program."""
        ours, theirs = node, self.in_rasp()
        if self.at_last:
            ours, theirs = Aggregate(LAST.node, ours), Aggregate(LAST.node, theirs)
        has_value = Elementwise("==", (ours, ours))  # where the program fails, so do both
        guarded = Elementwise("if", (has_value, theirs, theirs))
        verdict = equivalent(
            ours, guarded, alphabet=list(alphabet), max_length=longest, random=AT_RANDOM
        )
        if verdict.difference is not None:
            raise _mistaken(node, verdict.difference.tokens)
        return verdict

    def in_rasp(self) -> SOp:
        """The text as a program in RASP, each line as what it is defined to be."""
        lines = (LINE.fullmatch(line.strip()) for line in self.text.splitlines())
        names = run("\n".join(f"{line[1]} = {_in_rasp(line[2])};" for line in lines if line))
        *rest, (name, last) = self.meanings
        if last is None or last is True:
            s_op: SOp = names[name].node
            return s_op
        answer: SOp = Const(last)
        for name, meaning in rest:
            assert meaning is not None
            answer = Elementwise("if", (names[name].node, Const(meaning), answer))
        return answer


def _in_rasp(body: str) -> str:
    """A line of C-RASP or B-RASP in RASP's words."""
    if matched := LETTER.fullmatch(body):
        return f"tokens == {matched[1]}"
    if matched := COUNT.fullmatch(body):
        return f"selector_width(select({matched[1]}, True, ==) and select(indices, indices, <=))"
    if matched := ATTEND.fullmatch(body):
        side, mask, where, value, default = matched.groups()
        picked = f"(select({where}, True, ==) and select(indices, indices, {mask}))"
        best = f"select_best({picked}, score(indices, {1 if side == 'rightmost' else -1}))"
        is_none = f"aggregate({picked}, 1, 0) == 0"
        return f"aggregate({best}, {value}, False) or ({default} and {is_none})"
    body = re.sub(r"\b(\d+) (?=C\d)", r"\1 * ", body.replace("(i)", ""))
    if matched := re.fullmatch(r"if (\w+) then (.+) else (.+)", body):
        return f"({matched[2]}) if {matched[1]} else ({matched[3]})"
    return {"true": "indices == indices", "false": "indices != indices"}.get(body, body)


def _agrees(said: list[tuple[Any, Atom | None]], meant: Atom) -> bool:
    """Whether what the lines say at a position is the program's value there."""
    value, meaning = said[0]
    if meaning is None:
        return Fraction(value) == meant
    if meaning is True:
        return bool(value) == meant
    return [meaning for holds, meaning in said if holds] == [meant]


def _mistaken(node: SOp, word: Input) -> NotInDialect:
    """A text says something else than the program it was written from."""
    told = f"was read as another program that differs on {show_input(word)}"
    return NotInDialect(node, f"{told}: that is a mistake of ours, please report it")
