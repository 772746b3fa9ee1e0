"""`rasp train FILE NAME`: train a transformer of the size a program says to do what it does."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from rasp.apps.cli.arguments import CommandParser, options
from rasp.apps.cli.program_files import naming_file, read_given, text_alone
from rasp.base.errors import RaspValueError
from rasp.base.progress import ProgressBar

if TYPE_CHECKING:
    from rasp.models.training.records import Record
    from rasp.models.training.run_store import Store
    from rasp.models.training.tasks import TrainingTask

LINES_EVERY = 20.0
"""Seconds between two lines, where there is no terminal."""

SIZES = {
    "width": ("numbers at each position", "64, or 256 with --paper"),
    "feed-forward": ("hidden units of each feed-forward", "128, or 512 with --paper"),
    "epochs": ("passes over the training examples", "15, or 100 with --paper"),
    "batch": ("examples of a step", "50"),
    "train": ("training examples", "5000, or 50000 with --paper"),
    "validation": ("examples that choose the best epoch", "500, or 1000 with --paper"),
    "test": ("examples for the final figures", "500, or 1000 with --paper"),
    "seed": ("seed of what is random: the first weights, the order of examples", "0"),
}


def configure(parser: CommandParser) -> None:
    parser.take_program("the s-op to learn")
    _take_inputs(parser)
    _take_model(parser)
    parser.heading("the run")
    parser.take("--run-name", "a name for the run (default: the task and a hash)")
    parser.take_loading()
    parser.take("--device", "where to run: auto, cpu or cuda", default="auto")
    parser.take("--budget", "minutes after which to stop, to go on later (default: none)", float)
    parser.take("--results", "the folder of records", default="results")
    curves = "draw loss and accuracy by epoch (default: no drawing)"
    parser.take("--curves", curves, metavar="FILE.svg")
    parser.take("--heads-on", "draw every head on an input (default: on none)", metavar="INPUT")
    place = "where that drawing goes (default: the terminal)"
    parser.take("--heads-to", place, metavar="FILE.svg")


def _take_inputs(parser: CommandParser) -> None:
    parser.heading("inputs")
    parser.take_alphabet("abcdefgh", default="abcdefgh")
    parser.take("--min-length", "fewest tokens of an input", int, default=1, metavar="N")
    parser.take_length("it learns from no longer ones", default=20)
    parser.take_bos()
    parser.take("--distribution", "uniform, or dyck for brackets", default="uniform")
    parser.take("--clip", "count targets above this number as this number (default: never)", int)
    parser.take("--save-data", "write the examples as JSON lines (default: nowhere)",
                metavar="FILE")  # fmt: skip


def _take_model(parser: CommandParser) -> None:
    parser.heading("the model and its training")
    parser.take("--layers", "how many layers: exactly these (default: the program's)", int)
    parser.take(
        "--heads", "how many heads a layer has: exactly these (default: the program's)", int
    )
    parser.flag("--paper", "the paper's recipe: for a GPU")
    for name, (what, usual) in SIZES.items():
        parser.take(f"--{name}", f"{what} (default: {usual})", int, metavar="N")
    parser.take("--rate", "the learning rate (default: 0.0003)", float)
    parser.take("--decay", "what the rate is multiplied by each epoch (default: 0.98)", float)
    parser.flag("--supervise", "teach it the program's attention")
    parser.flag("--next-token", "token by token: a causal model learns what a causal program says "
                "at each position")  # fmt: skip
    parser.take("--after", "with --next-token: the program generates; prompts end with this token "
                "(default: it answers at every position)", metavar="TOKEN")  # fmt: skip


def _lengths(arguments: argparse.Namespace) -> tuple[int, int]:
    """The fewest and most tokens of an input."""
    fewest, most = arguments.min_length, arguments.max_length
    if not 1 <= fewest <= most:
        raise RaspValueError(
            f"inputs of {fewest} to {most} tokens: there are none",
            hint="give `--min-length` and `--max-length`, from 1 on",
        )
    return fewest, most


def run(arguments: argparse.Namespace) -> int:
    from rasp.models.training.devices import require_torch

    require_torch()
    program = text_alone(arguments)
    with naming_file(arguments.file, program):
        return _train(program, arguments)


def _task(program: str, arguments: argparse.Namespace) -> TrainingTask:
    """What is to be learnt; options that say nothing here are refused."""
    from rasp.models.training import own

    if arguments.after is not None and not arguments.next_token:
        raise RaspValueError(
            "`--after` says where prompts of a next-token program end",
            hint="add `--next-token`, or leave it out",
        )
    if arguments.heads_to and not arguments.heads_on:
        raise RaspValueError(
            "`--heads-to` says where a drawing goes, and there is none",
            hint="say on which input to draw the heads: `--heads-on INPUT`",
        )
    return own.own_task(
        program, arguments.name, arguments.alphabet, _lengths(arguments),
        bos=arguments.bos, way=arguments.distribution, clip=arguments.clip,
        causal=arguments.next_token, after=arguments.after,
    )  # fmt: skip


def _train(program: str, arguments: argparse.Namespace) -> int:
    from rasp.models.training import own
    from rasp.models.training.run_store import Store
    from rasp.models.training.sweep import SweepSettings, sweep

    task = _task(program, arguments)
    config = own.own_config(task, arguments.run_name, not arguments.paper, **_given(arguments))
    if arguments.save_data:
        count = own.write_data(task, config, arguments.save_data)
        print(f"{count} examples are in {arguments.save_data}")
    store = Store(arguments.results)
    print(f"training {config.name}: {config.size}, width {config.width}, {config.epochs} epochs")
    with ProgressBar("training", lines_every=LINES_EVERY) as progress:
        settings = SweepSettings(arguments.device, arguments.budget, progress=progress)
        is_finished = sweep([config], store, settings)
    if not is_finished:
        print("The budget is used up; the same command goes on from here.")
        return 0
    record = store.finished([config])[config.id]
    print(own.describe_record(record))
    _prove(config, store)
    _draw(arguments, store, record)
    return 1 if record.diverged else 0


def _prove(config: Any, store: Any) -> None:
    """Say up to which length the trained model is the program, or where it first is not."""
    from rasp.base.errors import RaspError
    from rasp.models.proving.trained_models import prove_trained

    weights = store.load_weights(config.id)
    if weights is None:
        return
    try:
        print(prove_trained(config, {part: array.numpy() for part, array in weights.items()}
                            ).statement)  # fmt: skip
    except RaspError as error:  # a run that diverged holds no numbers
        print(f"not compared with the program: {error.message}")


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    from rasp.models.training.paper_tables import ATTENTION_WEIGHT

    names = "layers heads width feed_forward epochs batch train validation test seed rate decay"
    said = options(arguments, names)
    given = {name: value for name, value in said.items() if value is not None}
    return given | ({"attention": ATTENTION_WEIGHT} if arguments.supervise else {})


def _draw(arguments: argparse.Namespace, store: Store, record: Record) -> None:
    from rasp.models.training.run_pictures import attention_drawing, describe_run, save_curves

    if arguments.curves:
        save_curves(describe_run(record.run), record.curves, arguments.curves)
        print(f"the curves are in {arguments.curves}")
    if arguments.heads_on:
        drawing = attention_drawing(store, record, read_given(arguments.heads_on))
        if arguments.heads_to:
            print(f"the heads are in {drawing.save(arguments.heads_to)}")
        else:
            print(drawing.text())
