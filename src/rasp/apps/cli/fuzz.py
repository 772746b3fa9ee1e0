"""`rasp fuzz`: random programs through every back end, for a time; failures come out small."""

from __future__ import annotations

import argparse
from pathlib import Path

from rasp.apps.cli.arguments import CommandParser
from rasp.apps.cli.patience import ProgressLine
from rasp.apps.fuzzing.campaign import Campaign, ShrunkFailure, fuzz, record
from rasp.apps.fuzzing.cases import read_replay, save_json
from rasp.apps.fuzzing.judges import HOMES, find_judge, verdict
from rasp.base.errors import RaspValueError


def configure(parser: CommandParser) -> None:
    parser.take("--minutes", "how long", float, default=1.0)
    parser.take("--programs", "stop after N programs (default: never)", int)
    parser.take("--seed", "seed of what is random: the first program's", int, default=0)
    judges = f"judges, with commas, or module:function (default: {','.join(HOMES)})"
    parser.take("--only", judges, default="", metavar="JUDGES")
    again = "try a replay file again, and nothing else (default: none)"
    parser.take("--replay", again, Path, metavar="FILE")
    folder = "the folder that replay files go to"
    parser.take("--replays", folder, Path, default=Path("fuzz-replays"))
    kept = "write what was tried to this file, as JSON (default: none)"
    parser.take("--record", kept, Path, metavar="FILE")


def run(arguments: argparse.Namespace) -> int:
    if arguments.replay:
        return _replay(arguments.replay)
    if not 0 < arguments.minutes < 100_000:
        raise RaspValueError("`--minutes` is a number above 0", hint="write `--minutes 10`")
    only = [name.strip() for name in arguments.only.split(",") if name.strip()]
    with ProgressLine() as line:

        def report(failure: ShrunkFailure) -> None:
            line.clear()
            _report(failure)

        campaign = fuzz(
            arguments.minutes * 60,
            arguments.seed,
            only,
            arguments.replays,
            most_programs=arguments.programs,
            told=report,
            progress=lambda campaign: line.show(lambda: _told(campaign)),
        )
    print(summary(campaign))
    if arguments.record:
        save_json(arguments.record, record(campaign))
    return 1 if campaign.failed else 0


def _replay(path: Path) -> int:
    case, name = read_replay(path)
    judgement = verdict(find_judge(name), case)
    print(case)
    print(f"{name}: {judgement.kind}")
    if judgement.detail:
        print(judgement.detail)
    return 1 if judgement.is_failure else 0


def summary(campaign: Campaign) -> str:
    """What was tried, a line for each judge."""
    lines = [f"{campaign.programs:,} programs in {campaign.seconds / 60:.1f} minutes, "
             f"seeds from {campaign.seed}"]  # fmt: skip
    width = max(map(len, campaign.tallies))
    lines.append(f"{'judge':<{width}} {'agreed':>9} {'refused':>9} {'disagreed':>9}")
    for name, tally in campaign.tallies.items():
        lines.append(f"{name:<{width}} {tally.agreed:>9,} {tally.refused:>9,} {tally.failed:>9,}")
    return "\n".join(lines)


def _report(failure: ShrunkFailure) -> None:
    print(f"{failure.judge} disagrees on\n\n{failure.case}\n\n{failure.detail[:3000]}\n")
    print(f"again: rasp fuzz --replay {failure.replay}\n", flush=True)


def _told(campaign: Campaign) -> str:
    rate = campaign.programs / max(campaign.seconds, 1e-6)
    return f"{campaign.programs:,} programs, {rate:.0f} a second, {campaign.failed} failures"
