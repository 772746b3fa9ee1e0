"""`rasp testbed OUT [PROGRAM…]`: models to study, whose circuits are known and checked."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from rasp.apps.cli.arguments import CommandParser
from rasp.apps.cli.prose import print_json_line
from rasp.base.errors import RaspValueError
from rasp.base.installing import missing


def configure(parser: CommandParser) -> None:
    parser.take("folder", "the folder of the models", metavar="OUT")
    which = "of the gallery; all of them if none is named"
    parser.take("programs", which, nargs="*", metavar="PROGRAM")
    parser.take("--dials", "as in `rotation,noise=0.001,heads=2`; several times for several models "
                "of each program (default: none turned)", action="append", default=[],
                metavar="DIALS")  # fmt: skip
    parser.take_length("the models take no longer ones", default=8)
    styles = ("robust", "compact")
    parser.take(
        "--style", "how weights are made: as in `rasp compile`", choices=styles, default="robust"
    )
    parser.flag("--check", "write nothing: check every model that is there")
    parser.take_json("one line for each model")
    parser.epilog = "\n".join([
        "dials (0 unless given):",
        "  heads=N, units=N     idle heads in each layer, idle hidden units in each feed-forward",
        "  layers=N             empty layers between the others",
        "  rotation             a random rotation of the residual stream",
        "  noise=X              noise on every weight, relative to the size of its array",
        "  superposition=X      leave out a share of the dimensions, less if 99 % is not reached,",
        "                       and train the rest: not exact, and says how many answers are right",
        "  seed=N               of everything random",
        "",
        "A model is written when it answers as the program does, when replacing everything outside",
        "its circuit changes no answer, and when each edge has a witness that it matters.",
    ])  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    try:
        from rasp.models.compiler.settings import LONGEST
        from rasp.models.testbed.many import check_many, write_many
    except ImportError:
        raise missing("torch", "models", "a test bed") from None
    from rasp.models.testbed.dials import Dials, read_dials
    from rasp.teaching.gallery import names, study_program

    if not 1 <= arguments.max_length <= LONGEST:
        raise RaspValueError(
            f"`--max-length` is between 1 and {LONGEST}, not {arguments.max_length}",
            hint="give the length of the longest input that the models must take",
        )
    folder = Path(arguments.folder)
    if arguments.check:
        return _check(check_many(folder), folder, arguments.json)
    settings = [read_dials(text) for text in arguments.dials] or [Dials()]
    sources = (study_program(name) for name in arguments.programs or names())
    written = 0
    for outcome in write_many(sources, settings, folder, arguments.max_length, arguments.style):
        written += outcome.kind != "refused"
        if arguments.json:
            print_json_line(vars(outcome), flush=True)
        else:
            tail = f": {outcome.detail}" if outcome.detail else ""
            kind = {"there": "already there, kept"}.get(outcome.kind, outcome.kind)
            print(f"{outcome.name}: {kind}{tail}", flush=True)
    if not written:
        raise RaspValueError("no model was written", hint="name other programs, or other dials")
    return 0


def _check(checked: Iterator[tuple[str, list[str]]], folder: Path, as_json: bool) -> int:
    wrong = count = 0
    for name, problems in checked:
        count, wrong = count + 1, wrong + bool(problems)
        if as_json:
            print_json_line({"name": name, "problems": problems}, flush=True)
        elif problems:
            print(f"{name}: " + "; ".join(problems), flush=True)
    if not count:
        raise RaspValueError(f"`{folder}` holds no models", hint="`rasp testbed OUT` writes some")
    if not as_json:
        print(f"{count} models checked, {wrong} with problems")
    return 1 if wrong else 0
