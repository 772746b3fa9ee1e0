"""A time and a seed in, a report out: random cases before every judge, failures made small."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import rasp
from rasp.apps.fuzzing.cases import Case, random_case, save_replay
from rasp.apps.fuzzing.judges import HOMES, Judgement, find_judge, verdict
from rasp.apps.fuzzing.shrink import shrink

MOST_FAILURES = 5
"""Failures of one judge that are looked into: more are often the same again."""
PACKAGES = ("numpy", "scipy", "torch")


@dataclass
class Tally:
    """How often a judge looked at a case, and what came of it."""

    agreed: int = 0
    refused: int = 0
    failed: int = 0
    seconds: float = 0.0

    def add(self, told: Judgement, seconds: float) -> None:
        self.agreed += told.kind == "agreed"
        self.refused += told.kind == "refused"
        self.failed += told.is_failure
        self.seconds += seconds


@dataclass(frozen=True)
class ShrunkFailure:
    """A disagreement, made as small as it would go."""

    judge: str
    case: Case
    detail: str
    replay: str


@dataclass
class Campaign:
    """What was tried so far."""

    seed: int
    programs: int = 0
    seconds: float = 0.0
    tallies: dict[str, Tally] = field(default_factory=dict)
    failures: list[ShrunkFailure] = field(default_factory=list)

    @property
    def failed(self) -> int:
        return sum(tally.failed for tally in self.tallies.values())


def fuzz(
    seconds: float,
    seed: int = 0,
    only: Sequence[str] = (),
    replays: Path = Path("fuzz-replays"),
    most_programs: int | None = None,
    most_failures: int = MOST_FAILURES,
    told: Callable[[ShrunkFailure], None] = lambda failure: None,
    progress: Callable[[Campaign], None] = lambda campaign: None,
) -> Campaign:
    """Try random programs for a time; failures are written to `replays` as they are found.

    The last case is left unfinished; what is done after the time is making a failure small.
    A judge that has found `most_failures` rests, and when all rest, the campaign is over.
    """
    judges = {name: find_judge(name) for name in (only or HOMES)}
    campaign = Campaign(seed, tallies={name: Tally() for name in judges})
    began = time.monotonic()
    end = began + seconds
    while time.monotonic() < end and campaign.programs != most_programs:
        case = random_case(seed + campaign.programs)
        campaign.programs += 1
        for name, judge in judges.items():
            tally = campaign.tallies[name]
            start = time.monotonic()
            if tally.failed >= most_failures or start >= end:
                continue
            judgement = verdict(judge, case, left=end - start)
            tally.add(judgement, time.monotonic() - start)
            if judgement.is_failure:
                failure = _small(name, case, replays)
                campaign.failures.append(failure)
                told(failure)
        campaign.seconds = time.monotonic() - began
        progress(campaign)
        if all(tally.failed >= most_failures for tally in campaign.tallies.values()):
            break
    return campaign


def _small(name: str, case: Case, replays: Path) -> ShrunkFailure:
    """Make a failure small, and keep it."""
    small, judgement = shrink(case, find_judge(name))
    path = replays / f"{name.rpartition(':')[2]}-{case.seed}.json"
    save_replay(path, small, name, judgement.detail)
    return ShrunkFailure(name, small, judgement.detail, str(path))


def record(campaign: Campaign) -> dict[str, Any]:
    """A campaign as JSON-able data: what ran, where, and what came of it."""
    return {
        "what": "rasp fuzz",
        "seed": campaign.seed,
        "programs": campaign.programs,
        "minutes": round(campaign.seconds / 60, 2),
        "judges": {
            name: {
                "agreed": tally.agreed,
                "refused": tally.refused,
                "disagreed": tally.failed,
                "seconds": round(tally.seconds, 1),
            }
            for name, tally in campaign.tallies.items()
        },
        "disagreements": [
            {"judge": failure.judge, "program": failure.case.text, "detail": failure.detail[:2000],
             "inputs": [[str(atom) for atom in tokens] for tokens in failure.case.inputs]}
            for failure in campaign.failures
        ],
        "versions": {"rasp": rasp.__version__, "python": sys.version.split()[0], **_versions()},
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
    }  # fmt: skip


def _versions() -> dict[str, str]:
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions
