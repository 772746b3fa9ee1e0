"""The budgets of everything that runs a program, in one place.

A program is untrusted input: each budget exceeded is a `RaspLimitError` that says
which one, never a hang, a crash or a Python error. A budget means the same everywhere, in Python
(`Limits`) and on the command line (`--limit name=value`); apps have values of their own.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from types import FrameType

from rasp.base.errors import RaspLimitError, RaspValueError
from rasp.base.spelling import did_you_mean


@dataclass(frozen=True)
class Limits:
    """How much a program may use. Make a new one to change a budget.

    >>> Limits(steps=1000).steps
    1000
    """

    text_length: int = 200_000
    """Characters of one program text."""
    nesting: int = 100
    """Brackets (and other constructs) inside one another in the text."""
    steps: int = 300_000
    """Expressions evaluated while a program is run, and work inside them (see `meter`)."""
    recursion: int = 500
    """Function calls inside one another."""
    list_size: int = 100_000
    """Items of one list or dict."""
    graph_size: int = 1_000_000
    """Nodes made while a program is run."""
    number_digits: int = 4_000
    """Digits of one number."""
    string_length: int = 100_000
    """Characters of one string value."""
    input_length: int = 10_000_000
    """Tokens of one input."""
    plain_cells: int = 25_000_000
    """Cells of one selection as the plain evaluator computes it."""
    dense_cells: int = 25_000_000
    """Cells of one selection asked for as a matrix."""
    memory: int = 2_000_000_000
    """Bytes of the values that a text makes, and of those alive while it is applied to an input."""
    seconds: float = 300.0
    """Seconds that one request takes: running a text, and applying what it made to an input."""
    spent: float = field(default=0.0, kw_only=True, compare=False, repr=False)
    """No budget: how many of the seconds are gone, where a request has begun before."""

    @cached_property
    def number_bits(self) -> int:
        """Bits that a number of so many digits can have.

        >>> Limits(number_digits=2).number_bits, (99).bit_length()
        (7, 7)
        """
        return -(self.number_digits * -3322 // 1000)


BUDGETS = tuple(field.name for field in fields(Limits) if field.name != "spent")
DEFAULT_LIMITS = Limits()
MEGABYTE = 1 << 20
SNOOZE = 0.01
"""Seconds until an alarm that came at a bad moment comes again."""
LONGEST_ALARM = 1e9
"""Seconds that every system can count to."""


class Clock:
    """How long something has been going on, and how long it may."""

    def __init__(self, limits: Limits) -> None:
        self.seconds = limits.seconds
        self.end = time.monotonic() + limits.seconds - limits.spent

    def is_over(self) -> bool:
        return time.monotonic() > self.end

    def spent(self) -> float:
        """How many seconds are gone."""
        return self.seconds - (self.end - time.monotonic())

    def check(self) -> None:
        """Raise where the time is up."""
        if self.is_over():
            raise out_of_time(self.seconds)


def out_of_time(seconds: float) -> RaspLimitError:
    """What to say where the time is up."""
    return RaspLimitError(
        f"the program takes more than {seconds:g} seconds",
        hint="give it a shorter input, or is a loop longer than it should be?",
    )


def too_much_memory() -> RaspLimitError:
    """What to say where there is no memory left."""
    return RaspLimitError(
        "the program needed more memory than it may use",
        hint="make its lists smaller or the input shorter",
    )


def too_deep() -> RaspLimitError:
    """What to say where Python cannot go deeper."""
    return RaspLimitError(
        "the program is nested too deeply", hint="give the inner parts names of their own"
    )


def read_limit(text: str, limits: Limits = DEFAULT_LIMITS) -> Limits:
    """Change one budget as people write it on the command line.

    >>> read_limit("steps=1_000").steps
    1000
    """
    name, _, value = (part.strip() for part in text.partition("="))
    if name not in BUDGETS:
        hint = did_you_mean(name, BUDGETS, f"the budgets are {', '.join(BUDGETS)}")
        raise RaspValueError(f"there is no budget called `{name}`", hint=hint)
    kind = type(getattr(limits, name))
    try:
        budget = kind(value)
        if not budget > 0:
            raise ValueError
    except ValueError:
        number = "whole number" if kind is int else "number"
        raise RaspValueError(
            f"the budget `{name}` is a {number} above 0, but this is `{value}`",
            hint=f"write `{name}={getattr(DEFAULT_LIMITS, name):_}`, which is the default",
        ) from None
    return replace(limits, **{name: budget})


def tightest(several: Iterable[Limits | None]) -> Limits | None:
    """The budgets that keep to all of several; None where nobody set any.

    >>> tightest([Limits(steps=5), None, Limits(nesting=7)]) == Limits(steps=5, nesting=7)
    True
    """
    smallest: Limits | None = None
    for limits in several:
        if smallest is None or limits is None:
            smallest = smallest or limits
        elif limits is not smallest:
            smallest = Limits(
                *(min(getattr(smallest, name), getattr(limits, name)) for name in BUDGETS),
                spent=max(smallest.spent, limits.spent),
            )
    return smallest


@contextlib.contextmanager
def alarm(seconds: float, raised: Callable[[], BaseException]) -> Iterator[None]:
    """Raise something after some time, where the system has alarms; only the main thread hears it.

    >>> with contextlib.suppress(TimeoutError), alarm(0.01, TimeoutError):
    ...     time.sleep(30)
    """
    import signal  # not needed to start, and starting is to be quick
    import threading

    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield  # on Windows, whoever waits for the process ends it
        return

    def ring(number: int, frame: FrameType | None) -> None:
        if _is_bad_moment(frame):
            signal.setitimer(signal.ITIMER_REAL, SNOOZE)
        else:
            raise raised()

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, min(seconds, LONGEST_ALARM))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _is_bad_moment(frame: FrameType | None) -> bool:
    """Tell whether an error would be lost (in a clean-up), or leave half a module behind."""
    while frame is not None:
        file = frame.f_code.co_filename
        if frame.f_code.co_name == "__del__" or file.startswith("<frozen importlib"):
            return True
        if file.endswith(("weakref.py", "_weakrefset.py")):
            return True
        frame = frame.f_back
    return False


class _Rang(BaseException):
    """The alarm went off; nobody who expects an error of a program takes it for one."""


@contextlib.contextmanager
def within_seconds(limits: Limits) -> Iterator[None]:
    """Raise where something that looks at no clock takes too long, as far as `alarm` can.

    >>> with contextlib.suppress(RaspLimitError), within_seconds(Limits(seconds=0.01)):
    ...     time.sleep(30)
    """
    try:
        with alarm(max(limits.seconds - limits.spent, SNOOZE), _Rang):
            yield
    except _Rang:
        raise out_of_time(limits.seconds) from None


def limit_memory(most: int) -> None:
    """Bound the data of this process, where the system knows how to; more is a MemoryError."""
    try:
        import resource
    except ImportError:  # not on Windows: there only the time is bounded
        return
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
