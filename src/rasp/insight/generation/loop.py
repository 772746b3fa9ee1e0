"""A handle and inputs in, what it generates out: append what the program gives, and ask again.

The inputs of a chunk grow together, one token each a step, until each of them is finished. They
come out in the order in which they came in; an error comes out after the inputs before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress, islice
from typing import Any

from rasp.base.atoms import Atom, PythonAtom, from_python, to_python
from rasp.base.errors import RaspError, RaspTypeError
from rasp.base.terminal_text import visibly
from rasp.insight.generation.question import (
    MOST,
    Question,
    Rules,
    question_of,
    rules_of,
    text_of,
    token_after,
)
from rasp.language.embedding.handles import Handle

TOGETHER = 256
"""Inputs that grow together."""


@dataclass(frozen=True)
class GenerationStep:
    """What a program gave at one step, and the token that was appended.

    >>> import rasp
    >>> next(steps(rasp.run("next = length;")["next"], "ab"))
    GenerationStep(step=0, value=2, token='2')
    """

    step: int
    value: PythonAtom
    token: PythonAtom | None
    """None where the value was the stop token: nothing is appended."""


@visibly
@dataclass(frozen=True)
class Generation:
    """What a program generated after one input.

    >>> import rasp
    >>> rasp.generate(rasp.run("next = length;")["next"], ["ab"], most=3)
    [Generation(given=('a', 'b'), tokens=['2', '3', '4'], stopped=False)]
    """

    given: tuple[PythonAtom, ...]
    tokens: list[PythonAtom]
    """The tokens that were appended."""
    stopped: bool
    """Whether the program gave the stop token; if not, it was cut off at `most` tokens."""
    steps: list[GenerationStep] = field(default_factory=list, repr=False)

    def __str__(self) -> str:
        """Write the tokens as text: letters one after another, words with blanks between."""
        texts = [text_of(from_python(token)) for token in self.tokens]
        return ("" if all(len(text) == 1 for text in texts) else " ").join(texts)


def generate(
    handle: Handle, inputs: Iterable[Any], stop: Any = "", most: int = MOST, at: int = -1
) -> list[Generation]:
    """Append what a program gives to each input until it gives the stop token.

    The next token is the value at the last position (or `at`). Numbers become text, 4 the token
    `"4"`, unless the input's own tokens are numbers. `stop=None` never stops before `most`.

    >>> import rasp
    >>> names = rasp.run('''
    ... bar = aggregate(select(tokens, "|", ==), indices);
    ... made = length - 1 - bar;
    ... copy = aggregate(select(indices, made, ==), tokens) if made < bar else "";
    ... ''')
    >>> rasp.generate(names["copy"], ["abc|", "hello|"])[1].tokens
    ['h', 'e', 'l', 'l', 'o']
    """
    return list(generate_each(handle, _many(inputs), rules_of(stop, most, at)))


def generate_each(
    handle: Handle, inputs: Iterable[Any], rules: Rules | None = None
) -> Iterator[Generation]:
    """Generate for one input after another, as they are finished.

    >>> import rasp
    >>> names = rasp.run('next = "" if length > 3 else tokens;')
    >>> [each.tokens for each in generate_each(names["next"], ["ab", "c"])]
    [['b', 'b'], ['c', 'c', 'c']]
    """
    read = 0

    def given() -> Iterator[Any]:
        nonlocal read
        for tokens in inputs:
            read += 1
            yield tokens

    for number, outcome in enumerate(outcomes_of(handle, given(), rules)):
        if isinstance(outcome, RaspError):
            if read > 1:
                outcome.where = replace(outcome.where, number=number)
            raise outcome
        yield outcome


def outcomes_of(
    handle: Handle | Question, inputs: Iterable[Any], rules: Rules | None = None
) -> Iterator[Generation | RaspError]:
    """Generate for one input after another, and go on after one that fails: it gives its error.

    >>> import rasp
    >>> names = rasp.run('next = "" if 1 / (length - 2) < 1 else tokens;')
    >>> [str(outcome).split(":")[0] for outcome in outcomes_of(names["next"], ["ab", "a"])]
    ['error', '']
    """
    rules = rules or Rules()
    question = question_of(handle, rules)
    left = iter(inputs)
    while chunk := list(islice(left, TOGETHER)):
        rows = [GrowingInput(given, question) for given in chunk]
        for _ in grow_together(rows, question, rules):
            pass
        yield from (row.outcome() for row in rows)


def steps(handle: Handle | Question, given: Any, stop: Any = "", most: int = MOST, at: int = -1,
          ) -> Iterator[GenerationStep]:  # fmt: skip
    """Generate for one input, a step at a time, as each is computed.

    >>> import rasp
    >>> names = rasp.run('next = "" if length > 3 else length;')
    >>> [(step.value, step.token) for step in steps(names["next"], "ab")]
    [(2, '2'), (3, '3'), ('', None)]
    """
    rules = rules_of(stop, most, at)
    question = question_of(handle, rules)
    row = GrowingInput(given, question)
    yield from grow_together([row], question, rules)
    if row.error is not None:
        raise row.error


class GrowingInput:
    """One input on its way."""

    def __init__(self, given: Any, question: Question) -> None:
        self.tokens: list[Atom] = []
        self.error: RaspError | None = None
        self.steps: list[GenerationStep] = []
        self.stopped = False
        try:
            self.tokens = list(question.read(given))
        except RaspError as error:
            self.error = error
        self.given = tuple(self.tokens)

    def take(self, value: Atom | RaspError, rules: Rules) -> bool:
        """Append what the program gave; tell whether it goes on."""
        if isinstance(value, RaspError):
            value.where = replace(value.where, step=len(self.steps))
            self.error = value
            return False
        self.stopped = rules.ends(value)
        token = None if self.stopped else token_after(self.given, value)
        shown = None if token is None else to_python(token)
        self.steps.append(GenerationStep(len(self.steps), to_python(value), shown))
        if token is not None:
            self.tokens.append(token)
        return not self.stopped and len(self.steps) < rules.most

    def outcome(self) -> Generation | RaspError:
        """Return what was generated, or what went wrong."""
        if self.error is not None:
            return self.error
        given = tuple(to_python(token) for token in self.given)
        tokens = [step.token for step in self.steps if step.token is not None]
        return Generation(given, tokens, self.stopped, self.steps)


def grow_together(
    rows: Sequence[GrowingInput], question: Question, rules: Rules
) -> Iterator[GenerationStep]:
    """Let inputs grow until each of them is finished; give every step."""
    unfinished = [row for row in rows if row.error is None]
    while unfinished:
        values = question.answers([row.tokens for row in unfinished])
        goes_on = [row.take(value, rules) for row, value in zip(unfinished, values, strict=True)]
        yield from (row.steps[-1] for row in unfinished if row.error is None)
        unfinished = list(compress(unfinished, goes_on))


def _many(inputs: Iterable[Any]) -> Iterable[Any]:
    if isinstance(inputs, str):
        raise RaspTypeError(
            "many inputs are a list of inputs, but this is one string",
            hint='write `["hello"]` for one input',
        )
    return inputs
