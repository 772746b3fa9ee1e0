"""Why there is no answer, in words: each is an answer of its own, `{"error": …}`."""

from __future__ import annotations

from typing import Any

from rasp.errors import RaspError, RaspLimitError, RaspUnsupportedError, error_record


def refusal(error: RaspError) -> dict[str, Any]:
    """Return an error as an answer.

    >>> refusal(RaspLimitError("too long", hint="make it shorter"))["error"]["kind"]
    'limit'
    """
    return {"error": error_record(error) | {"text": str(error)}}


def too_slow(seconds: float) -> RaspError:
    return RaspLimitError(
        f"this took longer than {seconds:g} seconds and was stopped",
        hint="look for a loop or a recursion that never ends, or try a shorter input",
    )


def broken() -> RaspError:
    return RaspLimitError(
        "the program used up what it was given, and was stopped",
        hint="make its lists smaller, its numbers shorter or the input shorter",
    )


def too_busy() -> RaspError:
    return RaspLimitError(
        "the workers are busy with other programs", hint="wait a moment, and try again"
    )


def closed() -> RaspError:
    return RaspLimitError("the sandbox was closed", hint="open another one")


def no_worker() -> RaspError:
    return RaspUnsupportedError(
        "no worker process can be started", hint="is the memory it is given too small?"
    )


def our_own(error: BaseException) -> RaspError:
    return RaspUnsupportedError(
        f"rasp itself made a mistake: {type(error).__name__}: {error}",
        hint="change the program a little; and please report this one",
    )
