"""A class in, what it predicts of a trained transformer out, with the record of that prediction.

Membership in C-RASP is the best predictor known of whether a decoder that was trained on short
inputs goes on being right on longer ones. It is not a guarantee: not even for C-RASP of two layers
is there a computable bound on the length up to which one must train.
"""

from __future__ import annotations

RECORD = (
    "of 125 published regular languages, membership predicted generalisation right for 97.6 % "
    "(arXiv:2608.13433)"
)
CAVEAT = (
    "no guarantee: how a decoder knows positions matters, and no computable bound on the length "
    "exists even for C-RASP of two layers"
)


def forecast(is_in_c_rasp: bool | None) -> str:
    """Say what to expect of a program or language, and how good such expectations were.

    >>> print(forecast(True).splitlines()[0])
    forecast: C-RASP, so likely to go on beyond the lengths it was trained on
    """
    if is_in_c_rasp is None:
        return "forecast: none: it is not in C-RASP as written, and its language is not known"
    expected = (
        "C-RASP, so likely to go on beyond the lengths it was trained on"
        if is_in_c_rasp
        else "not in C-RASP, so unlikely to go on beyond the lengths it was trained on"
    )
    return f"forecast: {expected}\n  record: {RECORD}\n  {CAVEAT}"
