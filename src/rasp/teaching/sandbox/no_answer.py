"""Why there is no answer, in words: each is an answer of its own, `{"error": …}`."""

from __future__ import annotations

from typing import Any, TypeAlias

from rasp.base.errors import RaspError, RaspLimitError, RaspUnsupportedError, error_record

Answer: TypeAlias = dict[str, Any]


def refusal(error: RaspError) -> Answer:
    """Return an error as an answer.

    >>> refusal(RaspLimitError("too long", hint="make it shorter"))["error"]["kind"]
    'limit'
    """
    return {"error": error_record(error) | {"text": str(error)}}


def too_slow(seconds: float) -> Answer:
    return refusal(RaspLimitError(
        f"this took longer than {seconds:g} seconds and was stopped",
        hint="look for a loop or a recursion that never ends, or try a shorter input",
    ))  # fmt: skip


def our_own(error: BaseException) -> Answer:
    return refusal(RaspUnsupportedError(
        f"rasp itself made a mistake: {type(error).__name__}: {error}",
        hint="change the program a little; and please report this one",
    ))  # fmt: skip


BROKEN = refusal(RaspLimitError(
    "the program used up what it was given, and was stopped",
    hint="make its lists smaller, its numbers shorter or the input shorter",
))  # fmt: skip
TOO_BUSY = refusal(RaspLimitError(
    "the workers are busy with other programs", hint="wait a moment, and try again"
))  # fmt: skip
CLOSED = refusal(RaspLimitError("the sandbox was closed", hint="open another one"))
NO_WORKER = refusal(RaspUnsupportedError(
    "no worker process can be started", hint="is the memory it is given too small?"
))  # fmt: skip
