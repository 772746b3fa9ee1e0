"""What came of comparing two programs: exactly what was proved, and what was only tested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rasp.base.atoms import Atom, show_input, to_python
from rasp.base.errors import RaspError
from rasp.base.terminal_text import visibly
from rasp.insight.equivalence.tried_inputs import InputsToTry
from rasp.language.meaning.shown_values import show_answer

MOST_SHOWN = 60


@visibly
@dataclass(frozen=True)
class Difference:
    """An input on which two programs give different answers.

    >>> import rasp
    >>> found = rasp.equivalent(rasp.indices, rasp.length - 1).difference
    >>> found.input, found.left, found.right, found.is_shortest
    ('aa', [0, 1], [1, 1], True)
    """

    tokens: tuple[Atom, ...]
    left: list[Any] | RaspError
    """What the first program gives on it: its values, or the error in which it ends."""
    right: list[Any] | RaspError
    is_shortest: bool
    """True where every shorter input that was to be tested has been, and agrees."""

    @property
    def input(self) -> str | list[Any]:
        """The input as a person would give it: a string where that is possible."""
        if all(isinstance(token, str) and len(token) == 1 for token in self.tokens):
            return "".join(map(str, self.tokens))
        return [to_python(token) for token in self.tokens]

    def __str__(self) -> str:
        given = show_input(self.tokens, most=MOST_SHOWN)
        return f"{given}\n  first:  {show_answer(self.left)}\n  second: {show_answer(self.right)}"

    __repr__ = __str__


@visibly
@dataclass(frozen=True)
class Equivalence:
    """Whether two programs are the same, and how that is known. True where they are.

    >>> import rasp
    >>> verdict = rasp.equivalent(rasp.indices + rasp.indices, 2 * rasp.indices)
    >>> verdict.same, verdict.proved
    (True, 'on all inputs up to length 60 (60 tested, since neither reads its tokens)')
    """

    difference: Difference | None
    same_graph: bool
    """True where the two are one graph: the same on every input there is."""
    inputs: InputsToTry
    """What inputs were to be tested: which tokens, and whether they decide for any others."""
    all_up_to: int
    """Every one of these inputs up to this length was tested."""
    tested: int
    """How many those were."""
    at_random: int
    """How many longer ones were tested at random."""
    longest: int
    """The greatest length of these."""
    failing: int
    """On how many inputs both programs fail alike, which counts as agreement."""
    kinds: Difference | None
    """An input on which the values are equal but not their kinds, such as 2 and 2.0."""

    @property
    def same(self) -> bool:
        """True where no difference was found."""
        return self.difference is None

    def __bool__(self) -> bool:
        return self.same

    @property
    def verdict(self) -> str:
        """In one word: `different`; `proved`, on all inputs asked about; else `tested`.

        >>> import rasp
        >>> rasp.equivalent(rasp.indices + 1, 1 + rasp.indices, max_length=4).verdict
        'tested'
        >>> rasp.equivalent(rasp.indices + 1, 1 + rasp.indices, max_length=4, random=0).verdict
        'proved'
        """
        if not self.same:
            return "different"
        is_proved = self.same_graph or (self.tested > 0 and not self.at_random)
        return "proved" if is_proved else "tested"

    @property
    def proved(self) -> str:
        """What is certain, in words."""
        if self.same_graph:
            return "on every input: the two are one graph"
        if not self.tested:
            return "nothing"
        how = f"{self.tested:,} tested"
        if not self.inputs.reads_tokens:
            how += ", since neither reads its tokens"
        return f"on all {self.inputs.describe()} up to length {self.all_up_to} ({how})"

    def __str__(self) -> str:
        if self.difference is not None:
            return f"different on {self.difference}\n{self._how_short()}"
        if self.same_graph:
            return f"the same {self.proved}"
        parts = [f"the same {self.proved}: proved" if self.tested else "the same"]
        if self.at_random:
            parts.append(
                f"and on {self.at_random:,} random inputs up to length {self.longest}: "
                "tested, not proved"
            )
        return "\n".join(["\n".join(parts), *self._remarks()])

    def _how_short(self) -> str:
        assert self.difference is not None
        length = len(self.difference.tokens)
        if self.difference.is_shortest and length == 1:
            return "there is no shorter input"
        if self.difference.is_shortest:
            return f"all shorter {self.inputs.describe()} agree"
        return f"a shorter one may exist: only those up to length {self.all_up_to} were all tested"

    def _remarks(self) -> list[str]:
        remarks = []
        if self.failing:
            remarks.append(f"both fail alike on {self.failing:,} of these inputs")
        if self.kinds is not None:
            remarks.append(f"but the kinds differ, for example on {self.kinds}")
        return remarks

    __repr__ = __str__

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON-able data.

        >>> import rasp
        >>> found = rasp.equivalent(rasp.indices, rasp.length - 1).as_dict()
        >>> found["same"], found["difference"]["input"]
        (False, 'aa')
        """
        return {
            "same": self.same,
            "verdict": self.verdict,
            "same_graph": self.same_graph,
            "difference": _difference_record(self.difference),
            "alphabet": [to_python(token) for token in self.inputs.alphabet],
            "any_alphabet": self.inputs.any_alphabet,
            "begins_with": [to_python(token) for token in self.inputs.prefix],
            "all_up_to": self.all_up_to,
            "tested": self.tested,
            "at_random": self.at_random,
            "longest": self.longest,
            "both_fail": self.failing,
            "kinds_differ": _difference_record(self.kinds),
            "text": str(self),
        }


def _difference_record(difference: Difference | None) -> dict[str, Any] | None:
    if difference is None:
        return None
    return {
        "input": difference.input,
        "first": _answer_record(difference.left),
        "second": _answer_record(difference.right),
        "shortest": difference.is_shortest,
    }


def _answer_record(answer: list[Any] | RaspError) -> Any:
    if isinstance(answer, RaspError):
        return {"error": answer.kind, "message": answer.message}
    return [_answer_record(value) if isinstance(value, list) else _plain(value) for value in answer]


def _plain(value: Any) -> Any:
    return None if value is None else to_python(value)
