"""`rasp train FILE NAME`: train a transformer of the size a program says to do what it does."""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path
from typing import Any

from rasp.apps.cli.arguments import CommandParser, options
from rasp.apps.cli.program_files import naming_file, read_given, text_alone
from rasp.base.atoms import to_python
from rasp.base.errors import RaspValueError

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
    parser.take("--device", "auto, cpu or cuda", default="auto")
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
    parser.flag("--next-token", "token by token: train a decoder on what a causal program says at "
                "each position, and test it on longer inputs (uses --alphabet, --seed, --rate, "
                "--batch, --train, --test, --width)")  # fmt: skip
    parser.take("--after", "with --next-token: the program generates; prompts end with this token "
                "(default: it answers at every position)", metavar="TOKEN")  # fmt: skip
    steps = "with --next-token: steps of training (default: 2000)"
    parser.take("--steps", steps, int, metavar="N")


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
    from rasp.models.training.devices import choose_device

    device = choose_device(arguments.device)
    program = text_alone(arguments)
    with naming_file(arguments.file, program):
        if arguments.next_token:
            return _train_decoder(program, arguments, device)
        return _train_encoder(program, arguments)


def _train_encoder(program: str, arguments: argparse.Namespace) -> int:
    """`rasp train FILE NAME`: one run, its record and its drawings."""
    from rasp.models.training import own
    from rasp.models.training.live import Live
    from rasp.models.training.run_store import Store
    from rasp.models.training.sweep import SweepSettings, sweep

    task = own.own_task(
        program, arguments.name,
        arguments.alphabet, _lengths(arguments),
        bos=arguments.bos, way=arguments.distribution, clip=arguments.clip,
    )  # fmt: skip
    config = own.own_config(task, arguments.run_name, not arguments.paper, **_given(arguments))
    if arguments.save_data:
        count = own.write_data(task, config, arguments.save_data)
        print(f"{count} examples are in {arguments.save_data}")
    store = Store(arguments.results)
    settings = SweepSettings(device=arguments.device, budget=arguments.budget, report=Live())
    print(f"training {config.name}: {config.size}, width {config.width}, {config.epochs} epochs")
    if not sweep([config], store, settings):
        print("The budget is used up; the same command goes on from here.")
        return 0
    record = store.finished([config])[config.id]
    print(own.describe_record(record))
    _draw(arguments, store, record)
    return 1 if "diverged" in record else 0


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    from rasp.models.training.paper_tables import ATTENTION_WEIGHT

    names = "layers heads width feed_forward epochs batch train validation test seed rate decay"
    said = options(arguments, names)
    given = {name: value for name, value in said.items() if value is not None}
    return given | ({"attention": ATTENTION_WEIGHT} if arguments.supervise else {})


def _train_decoder(program: str, arguments: argparse.Namespace, device: str) -> int:
    """`rasp train FILE NAME --next-token`: one decoder, its accuracy by length."""
    from rasp.base.input_text import read_alphabet
    from rasp.models.training.next_token.config import DecoderRun
    from rasp.models.training.next_token.tasks import own_task
    from rasp.models.training.next_token.trainer import BINS, train

    alphabet = [to_python(token) for token in read_alphabet(arguments.alphabet)]
    task = own_task(program, arguments.name, alphabet, arguments.after)
    mark = hashlib.sha256(repr((program, alphabet, arguments.after)).encode()).hexdigest()[:6]
    said = options(arguments, "layers heads width batch rate train test steps")
    given = {name: value for name, value in said.items() if value is not None}
    run = DecoderRun(f"{arguments.name}-{mark}", arguments.seed or 0,
                     **({"steps": 2_000, "train": 5_000, "test": 500} | given))  # fmt: skip
    print(f"training {run.name}: a decoder of {run.layers} layers, width {run.width}")
    record = train([run], {run.task: task}, Path(arguments.results), device, print)[run.id]
    for low, high in BINS:
        exact, single = (100 * record[part][f"{low}-{high}"] for part in ("exact", "tokens"))
        seen = "as trained" if (low, high) == BINS[0] else "longer"
        print(f"{low:3} to {high:3} tokens ({seen}): {exact:.1f} % of inputs wholly right, "
              f"{single:.1f} % of what it says")  # fmt: skip
    return 0


def _draw(arguments: argparse.Namespace, store: Any, record: dict[str, Any]) -> None:
    from rasp.models.training.run_pictures import attention_drawing, save_curves

    if arguments.curves:
        save_curves(record, arguments.curves)
        print(f"the curves are in {arguments.curves}")
    if arguments.heads_on:
        drawing = attention_drawing(store, record, read_given(arguments.heads_on))
        if arguments.heads_to:
            print(f"the heads are in {drawing.save(arguments.heads_to)}")
        else:
            print(drawing.text())
