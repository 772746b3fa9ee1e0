"""Choose the inputs that an exercise is tried on, shortest first, and say which they are.

All inputs up to a length come first, so that the first wrong answer is on a shortest input there
is, then longer ones at random, then the hidden ones. A submission that mentions tokens of its own
is tried on these, too, and on a token that it does not mention.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from rasp.base.atoms import Atom, read_input
from rasp.base.errors import RaspError, RaspValueError
from rasp.base.file_reading import ABSENT, read_file
from rasp.base.input_text import read_tokens
from rasp.base.limits import DEFAULT_LIMITS
from rasp.base.source import Source, Span
from rasp.insight.equivalence.answering import Input, show_alphabet
from rasp.insight.equivalence.sides import Side
from rasp.insight.equivalence.suitable_inputs import choose_inputs, draw_tokens, known_tokens
from rasp.insight.equivalence.tried_inputs import InputsToTry
from rasp.language.graph import Node
from rasp.teaching.gallery import load
from rasp.teaching.gallery.catalogue import Entry
from rasp.teaching.gallery.gallery_check import random_inputs
from rasp.teaching.grading.exercise import LARGEST_FILE, Exercise

EXHAUSTIVE = 4_000
"""Inputs tried without leaving one out, where no length is asked for."""
EXHAUSTIVE_WIDER = 25_000
"""The same for a submission with tokens of its own: length 7 with four tokens."""
MOST_INPUTS = 200_000
SEED = 0


@dataclass(frozen=True)
class Alphabet:
    """What inputs are made of, and how a submission's own tokens are added to it."""

    tokens: tuple[Atom, ...]
    known: tuple[Atom, ...]
    """What the reference compares its tokens with."""
    prefix: tuple[Atom, ...] = ()
    pool: tuple[Atom, ...] | None = None
    """The tokens that may be added; any, if None."""


@dataclass(frozen=True)
class ExerciseInputs:
    """The inputs of an exercise, in the order in which they are tried."""

    shortest: list[Input]
    longer: list[Input]
    hidden: list[Input]
    described: str
    alphabet: Alphabet | None = None
    """None where the exercise itself says what inputs are made of."""


def inputs_of(
    exercise: Exercise, reference: Side, member: Entry | None, wider: tuple[Atom, ...] = ()
) -> ExerciseInputs:
    """Choose the inputs of an exercise, or of its trial over a `wider` alphabet.

    >>> from rasp.language.graph import Tokens
    >>> inputs_of(Exercise("same.rasp:same", random=0), Tokens(), None).described
    'all inputs up to length 7 over a, b, c'
    """
    hidden = [] if wider else _hidden(exercise)
    if member is not None and exercise.alphabet is None:
        return _of_gallery(member, exercise, wider, hidden)
    return _of_alphabet(exercise, reference, wider, hidden)


def _of_alphabet(
    exercise: Exercise, reference: Side, wider: tuple[Atom, ...], hidden: list[Input]
) -> ExerciseInputs:
    nodes = [reference] if isinstance(reference, Node) else []
    if not nodes and exercise.alphabet is None:
        raise RaspValueError(
            "a Python function does not say which tokens it is for",
            hint="say it with `--alphabet abc`, or `alphabet` in the file of exercises",
        )
    chosen = choose_inputs(nodes, False, exercise.alphabet, exercise.bos)
    inputs = InputsToTry(wider or chosen.alphabet, chosen.prefix)
    budget = EXHAUSTIVE_WIDER if wider else EXHAUSTIVE
    longest = max(1, inputs.longest(exercise.max_length, budget, MOST_INPUTS))
    every = [tokens for n in range(1, longest + 1) for tokens in inputs.of_length(n)]
    longer = _longer(inputs, longest, exercise)
    described = f"all inputs up to length {longest} over {_listed(inputs.alphabet)}"
    alphabet = None
    if exercise.alphabet is None:
        known = tuple(known_tokens(nodes, chosen.prefix))
        alphabet = Alphabet(inputs.alphabet, known, chosen.prefix)
    described = _described(described, longer, hidden)
    return ExerciseInputs(every, longer, hidden, described, alphabet)


def _longer(inputs: InputsToTry, longest: int, exercise: Exercise) -> list[Input]:
    """Random inputs of each greater length, as many of one as of another."""
    lengths = range(longest + 1, max(exercise.random_length, longest + 1) + 1)
    random = Random(SEED)
    wanted = sorted(lengths[number % len(lengths)] for number in range(exercise.random))
    return [(*inputs.prefix, *draw_tokens(random, inputs.alphabet, n)) for n in wanted]


def _of_gallery(
    member: Entry, exercise: Exercise, wider: tuple[Atom, ...], hidden: list[Input]
) -> ExerciseInputs:
    maker = member.inputs.with_tokens(wider)
    budget = EXHAUSTIVE_WIDER if wider else EXHAUSTIVE
    tiny = sorted((read_input(tokens) for tokens in maker.tiny(budget)), key=len)
    if exercise.max_length is not None:
        tiny = [tokens for tokens in tiny if len(tokens) <= exercise.max_length]
    drawn = random_inputs(member, exercise.random, exercise.random_length, SEED)
    longer = sorted((read_input(tokens) for tokens in drawn), key=len)
    pool = member.inputs.drawn_from
    known = tuple(known_tokens([load(member.name).node]))
    described = (
        f"{len(tiny):,} short inputs that `{member.name}` is for over {_listed(maker.alphabet)}"
    )
    return ExerciseInputs(
        tiny, longer, hidden, _described(described, longer, hidden),
        Alphabet(maker.alphabet, known, pool=pool) if pool else None,
    )  # fmt: skip


def _described(shortest: str, longer: list[Input], hidden: list[Input]) -> str:
    parts = [shortest, *([f"{len(longer):,} longer ones"] if longer else [])]
    return "; ".join([*parts, *([f"{len(hidden):,} hidden ones"] if hidden else [])])


def _listed(alphabet: Sequence[Atom]) -> str:
    return show_alphabet(alphabet)[1:-1]


def _hidden(exercise: Exercise) -> list[Input]:
    """Read the hidden inputs, a line each, written as everywhere."""
    if exercise.inputs is None:
        return []
    try:
        source = Source(exercise.inputs, read_file(exercise.inputs, LARGEST_FILE).decode())
    except ABSENT:
        raise RaspValueError(f"there is no file `{exercise.inputs}`", hint="check it") from None
    except UnicodeDecodeError:
        raise RaspValueError(f"`{exercise.inputs}` is not UTF-8", hint="save it so") from None
    lines = range(1, len(source.line_starts) + 1)
    return [_read_line(source, line) for line in lines if source.line_text(line).strip()]


def _read_line(source: Source, line: int) -> Input:
    text, start = source.line_text(line), source.line_starts[line - 1]
    try:
        return read_input(read_tokens(text), DEFAULT_LIMITS)
    except RaspError as error:
        raise error.located(Span(source, start, start + len(text))) from None
