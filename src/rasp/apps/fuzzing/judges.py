"""Every judge by name, and what it makes of a case."""

from __future__ import annotations

import math
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pkgutil import resolve_name

from rasp.apps.fuzzing.cases import Case
from rasp.apps.fuzzing.outcomes import Disagreement, NothingToCompare
from rasp.base.errors import RaspNameError
from rasp.base.limits import SNOOZE, alarm
from rasp.base.spelling import did_you_mean

Judge = Callable[[Case], None]
HOMES = {
    "schedule": "rasp.apps.fuzzing.judge_schedule:judge_schedule",
    "fast": "rasp.apps.fuzzing.judge_evaluators:judge_fast",
    "strained": "rasp.apps.fuzzing.judge_evaluators:judge_strained",
    "batch": "rasp.apps.fuzzing.judge_evaluators:judge_batch",
    "compiled": "rasp.apps.fuzzing.judge_compiler:judge_compiled",
    "exported": "rasp.apps.fuzzing.judge_compiler:judge_exported",
}
"""What each judge compares is said in the first line of its docstring."""
LONGEST = 60.0
"""Seconds that a judge may take over one case: more is a disagreement about what a budget is."""


@dataclass(frozen=True)
class Judgement:
    """What a judge says of a case."""

    kind: str
    """`agreed`, `refused` (there was nothing to compare), `disagreed`, `crashed`, or `unfinished`
    (the time for all cases was up)."""
    detail: str = ""
    signature: str = ""
    """What a smaller case must have in common to be the same failure."""

    @property
    def is_failure(self) -> bool:
        return self.kind in ("disagreed", "crashed")


def find_judge(name: str) -> Judge:
    """Return a judge by its name, or any other as `module:function`."""
    if name not in HOMES and ":" not in name:
        hint = did_you_mean(name, HOMES, f"the judges are {', '.join(HOMES)}")
        raise RaspNameError(f"there is no judge `{name}`", hint=hint)
    try:
        judge: Judge = resolve_name(HOMES.get(name, name))
    except (ImportError, AttributeError, ValueError) as error:
        raise RaspNameError(
            f"there is no judge `{name}`: {error}", hint="give a function of a case"
        ) from None
    return judge


class _TimeIsUp(BaseException):
    """There is no time left for a case; no judge takes it for an error of the program."""


def verdict(
    judge: Judge, case: Case, seconds: float = LONGEST, left: float = math.inf
) -> Judgement:
    """Let a judge look at a case; anything that it raises by mistake is a failure too.

    A case that takes too many `seconds` is one as well, but not one that only has few `left`.
    """

    def too_slow() -> BaseException:
        if left < seconds:
            return _TimeIsUp()
        return Disagreement(f"it takes more than {seconds:g} seconds")

    try:
        with alarm(max(min(seconds, left), SNOOZE), too_slow), warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)  # numpy's overflows and the like
            judge(case)
    except NothingToCompare:
        return Judgement("refused")
    except _TimeIsUp:
        return Judgement("unfinished")
    except Disagreement as found:
        return Judgement("disagreed", str(found), "disagreed")
    except Exception as crash:
        where = traceback.extract_tb(crash.__traceback__)[-1]
        said = "".join(traceback.format_exception(crash)[-4:])
        return Judgement("crashed", said, f"{type(crash).__name__} in {where.name}")
    return Judgement("agreed")
