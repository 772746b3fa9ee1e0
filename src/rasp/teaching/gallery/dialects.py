"""Which dialects each program of the gallery is in, as `scripts/make_dialects.py` found it."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from rasp.base.errors import RaspValueError
from rasp.base.spelling import did_you_mean

if TYPE_CHECKING:
    from rasp.insight.dialect import Dialects

RECORD = "dialects.json"
AS_WRITTEN, EQUAL = "as written", "equal"


@cache
def stored_dialects() -> dict[str, dict[str, str]]:
    """For each program, the dialects that it is in, and how.

    >>> stored_dialects()["dyck1"]["C-RASP"]
    'as written'
    """
    text = files("rasp.teaching.gallery").joinpath(RECORD).read_text(encoding="utf-8")
    record: dict[str, dict[str, str]] = json.loads(text)
    return record


def record_of(answer: Dialects) -> dict[str, str]:
    """What is stored of a program: the dialects that it is in."""
    return {
        standing.dialect: AS_WRITTEN if standing.is_as_written else EQUAL
        for standing in answer.standings
        if standing.holds
    }


def read_dialect(text: str) -> str:
    """The name of a dialect as it is written.

    >>> read_dialect("c-rasp")
    'C-RASP'
    """
    names = {name.lower(): name for name in ("causal", "sparse", "RASP-L", "C-RASP", "B-RASP")}
    if text.lower() not in names:
        hint = did_you_mean(text.lower(), names, f"there are {', '.join(names.values())}")
        raise RaspValueError(f"there is no dialect `{text}`", hint=hint)
    return names[text.lower()]
