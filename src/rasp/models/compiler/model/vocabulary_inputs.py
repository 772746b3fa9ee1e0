"""The inputs that a model is for: tokens in, their places in its vocabulary out, or an error.

Random inputs for a certificate are drawn here, too.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, groupby, islice, product
from typing import TypeAlias

from rasp.base.atoms import Atom, show
from rasp.base.errors import RaspError, RaspUnsupportedError, RaspValueError
from rasp.language.evaluator import apply
from rasp.language.graph import Node
from rasp.models.compiler.analysis.variables import typed
from rasp.models.compiler.settings import Settings

Input: TypeAlias = tuple[Atom, ...]
DRAWS = 50
"""How many inputs are drawn for one that keeps a promise."""
MOST_TESTED = 2000
"""Short inputs, and as many random ones, among which one should keep a promise."""


def places_of(settings: Settings, tokens: Sequence[Atom]) -> list[int]:
    """The places of an input's tokens, where the model takes it.

    >>> places_of(Settings(("a", "x"), 3), "axa")
    [0, 1, 0]
    """
    if len(tokens) > settings.max_length:
        raise RaspValueError(
            f"the input has {len(tokens)} tokens, but this model was compiled for at most "
            f"{settings.max_length}",
            hint="give a shorter input, or compile again with a larger `max_length`",
        )
    places = {typed(token): place for place, token in enumerate(settings.vocabulary)}
    for position, token in enumerate(tokens):
        if typed(token) not in places:
            raise RaspValueError(
                f"the token {show(token)} at position {position} is not in the vocabulary of "
                "this model",
                hint="the vocabulary is " + ", ".join(show(t) for t in settings.vocabulary[:20]),
            )
    _check_bos(settings, tokens)
    if broken := _broken_promise(settings, tokens):
        raise RaspValueError(
            f"this model is for inputs on which `{settings.where_name}` is true, and {broken}",
            hint="give an input that keeps this promise, or compile without `where`",
        )
    return [places[typed(token)] for token in tokens]


def _check_bos(settings: Settings, tokens: Sequence[Atom]) -> None:
    bos = settings.bos
    at = [place for place, token in enumerate(tokens) if token == bos]
    if bos is not None and at != [0]:
        where = "is missing" if not at else f"is also at position {at[-1]}"
        raise RaspValueError(
            f"inputs of this model begin with {show(bos)} and hold it nowhere else, "
            f"but here it {where}",
            hint=f"put {show(bos)} first, once",
        )


def keeps_promise(settings: Settings, tokens: Sequence[Atom]) -> bool:
    """Whether the promise is true at every position of an input.

    >>> from rasp.language.graph import Const, Elementwise, Tokens
    >>> promise = Elementwise("!=", (Tokens(), Const("x")))
    >>> settings = Settings(("a", "x"), 3, where=promise, where_name="no_x")
    >>> keeps_promise(settings, "aa"), keeps_promise(settings, "ax")
    (True, False)
    """
    return not _broken_promise(settings, tokens)


def is_name_of_another(
    name: str, node: Node, outputs: Mapping[str, Node], names: Mapping[Node, str]
) -> bool:
    """Whether something else of a program goes by the name of a promise.

    >>> from rasp.language.graph import Indices, Tokens
    >>> is_name_of_another("p", Tokens(), {"p": Indices()}, {})
    True
    """
    others = [other for other, other_name in names.items() if other_name == name]
    return any(other is not node for other in [*others, outputs.get(name, node)])


def _broken_promise(settings: Settings, tokens: Sequence[Atom]) -> str:
    """How an input does not keep the promise; nothing where it does."""
    if settings.where is None:
        return ""
    try:
        values = apply(settings.where, list(tokens))
    except RaspError as error:
        return f"here it has no value: {error.message}"
    wrong = [place for place, value in enumerate(values) if value is not True]
    return f"here it is {show(values[wrong[0]])} at position {wrong[0]}" if wrong else ""


def refuse_empty_promise(settings: Settings) -> None:
    """Refuse a promise that no input keeps, as far as short and random ones tell."""
    chooser, tested = random.Random(0), 0
    drawn = (random_input(settings, chooser) for _ in range(MOST_TESTED))
    for tokens in chain(islice(_all_inputs(settings), MOST_TESTED), drawn):
        tested += 1
        with suppress(RaspError):
            values = apply(settings.where, list(tokens)) if settings.where else []
            if all(values) or not all(isinstance(value, bool) for value in values):
                return  # one that is not a bool is refused with its reason elsewhere
    raise RaspUnsupportedError(
        f"no input keeps the promise `{settings.where_name}`: {tested:,} were tested",
        hint="promise something that is true at every position of some inputs",
    )


def _all_inputs(settings: Settings) -> Iterator[Input]:
    """Every input, the shortest first."""
    first = () if settings.bos is None else (settings.bos,)
    ordinary = [token for token in settings.vocabulary if token != settings.bos]
    for length in range(1, settings.max_length + 1):
        for rest in product(ordinary, repeat=length - len(first)):
            yield (*first, *rest)


def random_inputs(settings: Settings, chooser: random.Random, count: int) -> list[Input]:
    """Different random inputs, as many as are found soon among those that keep the promise."""
    drawn: dict[Input, None] = {}
    for _ in range(count if settings.where is None else count * DRAWS):
        tokens = random_input(settings, chooser)
        if tokens not in drawn and keeps_promise(settings, tokens):
            drawn[tokens] = None
        if len(drawn) == count:
            break
    return list(drawn)


def by_length(inputs: Iterable[Input], most: int) -> Iterator[list[Input]]:
    """Inputs of one length together, at most so many of them."""
    for _, together in groupby(sorted(inputs, key=len), len):
        batch = list(together)
        yield from (batch[start : start + most] for start in range(0, len(batch), most))


def random_input(settings: Settings, chooser: random.Random) -> Input:
    """A random input: any length, sometimes with few different tokens."""
    ordinary = settings.vocabulary[:-1] if settings.bos is not None else settings.vocabulary
    length = chooser.randint(1, settings.max_length)
    if chooser.random() < 0.3:
        length = settings.max_length
    few = chooser.sample(ordinary, chooser.randint(1, len(ordinary))) if ordinary else []
    first = () if settings.bos is None else (settings.bos,)
    return (*first, *chooser.choices(few, k=length - len(first)))
