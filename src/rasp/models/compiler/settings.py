"""What a caller asks of the compiler, checked: vocabulary, longest input, BOS, kind of model."""

from __future__ import annotations

from dataclasses import dataclass

from rasp.base.atoms import Atom, from_python, show
from rasp.base.errors import RaspTypeError, RaspValueError
from rasp.base.input_text import read_alphabet
from rasp.models.certificate import Inputs

LONGEST = 4096


@dataclass(frozen=True)
class Settings(Inputs):
    """The inputs a compiled model takes, and the kind of model it is."""

    sink: bool = True
    """Whether a hidden token may be put before the input, for queries that pick nothing."""
    heads: str = "paper"
    """"paper": as many heads as the schedule says; "split": more, where that saves much."""
    style: str = "robust"
    """"robust": moderate weights that bear noise; "compact": as few weights as possible."""
    next_token: bool = False
    """Whether outputs are tokens of the inputs or the end, so that the model can generate."""
    extra_feed_forwards: int = 0
    """How many feed-forward blocks without heads there may be; of a model, how many there are."""
    where_name: str = ""
    """What the program calls the promise about inputs."""
    tested: bool = False
    """Whether the checker does not follow the model, and it was handed out because it was tested:
    asked of the compiler, whether it may hand out such a model."""

    @property
    def smaller(self) -> str:
        """What to do where a model would be too large."""
        others = {"robust": ', or `style="compact"`', "paper": ', or `heads="split"`'}
        kind = self.style if self.style in others else self.heads
        return "use a smaller vocabulary or length" + others.get(kind, "")

    @property
    def way_out(self) -> str:
        """What to do where a table is too large."""
        smaller = "use a smaller vocabulary or length, or round and compare values earlier"
        if self.extra_feed_forwards:
            return smaller
        return smaller + "; or allow feed-forward blocks without heads: `extra_feed_forwards=2`"


def read_settings(
    vocabulary: object, max_length: int | None, bos: object, causal: bool, sink: bool, heads: str,
    style: str = "robust", extra_feed_forwards: int = 0,
) -> Settings:  # fmt: skip
    """Check what a caller gives.

    >>> read_settings("ab", 5, "§", False, True, "paper").vocabulary
    ('a', 'b', '§')
    """
    longest = _length(max_length)
    _check_kind(heads, style, extra_feed_forwards)
    first = None if bos is None else from_python(bos)
    tokens = _tokens(vocabulary, first, longest)
    return Settings(tokens, longest, first, causal, sink=sink, heads=heads, style=style,
                    extra_feed_forwards=extra_feed_forwards)  # fmt: skip


def _length(max_length: object) -> int:
    if max_length is None:
        raise RaspTypeError(
            "`compile` needs `max_length`, the length of the longest input",
            hint="for example `max_length=20`; the model takes no longer ones",
        )
    if isinstance(max_length, bool) or not isinstance(max_length, int):
        raise RaspTypeError("`max_length` is a whole number", hint="for example `max_length=20`")
    if not 1 <= max_length <= LONGEST:
        raise RaspValueError(
            f"`max_length` is between 1 and {LONGEST}, not {max_length}",
            hint="give the length of the longest input the model must take",
        )
    return max_length


def _check_kind(heads: str, style: str, extra_feed_forwards: int) -> None:
    """Check which kind of model is asked for."""
    if heads not in ("paper", "split"):
        raise RaspValueError(
            '`heads` is "paper" (as many heads as the schedule says) or "split"',
            hint='`heads="split"` may spend one more head to make a model much smaller',
        )
    if style not in ("auto", "robust", "compact"):
        raise RaspValueError(
            '`style` is "robust" (moderate weights that bear noise), "compact" or "auto"',
            hint='`style="compact"` makes the smallest model, "auto" a robust one if it can',
        )


def _tokens(vocabulary: object, bos: Atom | None, max_length: int) -> tuple[Atom, ...]:
    """Every token that an input may hold, all of one kind; a BOS comes last."""
    if isinstance(vocabulary, (str, list, tuple)) and not vocabulary:
        raise RaspValueError(
            "the vocabulary is empty", hint="list every token that an input may hold"
        )
    tokens = _distinct(read_alphabet(vocabulary))
    if bos is not None:
        tokens = [token for token in _distinct((*tokens, bos)) if token != bos] + [bos]
    if len({isinstance(token, str) for token in tokens}) > 1:
        raise RaspTypeError(
            "a vocabulary holds strings or numbers, not both",
            hint="an input is a sequence of one kind",
        )
    if bos is not None and len(tokens) == 1 and max_length > 1:
        raise RaspValueError(
            f"the vocabulary holds nothing but the BOS {show(bos)}",
            hint="list the tokens that follow it",
        )
    return tuple(tokens)


def _distinct(tokens: tuple[Atom, ...]) -> list[Atom]:
    """Drop repeated tokens, and refuse those that differ in kind alone (1 and 1.0)."""
    seen: dict[Atom, Atom] = {}
    for token in tokens:
        first = seen.setdefault(token, token)
        if type(first) is not type(token):
            raise RaspValueError(
                f"the vocabulary holds {show(first)} and {show(token)}, which are equal",
                hint="keep one of them",
            )
    return list(seen.values())
