"""`rasp verify DIR`: check a compiled model again, from its files alone; and run it, where it can.

The certificate is proved from claims about the weights. Where there are few inputs, the model is
run on every one of them besides, by code that knows none of these rules.
"""

from __future__ import annotations

import argparse
from textwrap import indent
from typing import TYPE_CHECKING

from rasp.apps.cli.arguments import CommandParser
from rasp.apps.cli.patience import working
from rasp.apps.cli.program_files import find_handle, new_session, read_program
from rasp.apps.cli.prose import print_json, report, tell
from rasp.base.errors import RaspError, RaspNameError, RaspValueError
from rasp.base.progress import ProgressLine, bar
from rasp.language.embedding.handles import Handle
from rasp.language.embedding.program_text import to_rasp
from rasp.language.graph import Program

if TYPE_CHECKING:
    from rasp.insight.equivalence import Equivalence
    from rasp.models.compiler import Transformer
    from rasp.models.proving import ModelComparison

MOST = 2_000_000

TESTED = 3
"""The exit code for a model that was run or tested, and is not proved."""


def configure(parser: CommandParser) -> None:
    parser.take("folder", "what `rasp compile -o` wrote", metavar="DIR")
    parser.take_seed("the inputs that it is run on (default: a new one)")
    parser.take("--most-inputs", "run the model on every input it takes, where there are at most N",
                int, default=MOST, metavar="N")  # fmt: skip
    parser.take("--program", "compare the model's program with yours (default: print the model's)",
                metavar="FILE:NAME")  # fmt: skip
    parser.take_json("the certificate")
    parser.take_running()


def run(arguments: argparse.Namespace) -> int:
    from rasp.models.compiler import load, verify

    with working("verifying") as progress:
        certificate = verify(arguments.folder, arguments.seed, progress)
    if certificate.trust == "none":
        report(certificate, certificate.to_json, arguments.json)
        return 1
    model = load(arguments.folder)
    found = _run_everywhere(model, arguments)
    same = _beside(model, arguments) if arguments.program else None
    if arguments.json:
        runs = None if found is None else {name: one.as_dict() for name, one in found.items()}
        beside = {} if same is None else {"program": same.as_dict()}
        print_json(certificate.to_json() | {"run_everywhere": runs} | beside)
    else:
        tell(certificate)
        tell(_in_words(found, arguments.most_inputs))
        tell(_program(model) if same is None else f"the model's program beside yours: {same}")
    is_right = found is None or all(found.values())
    if not is_right or (same is not None and not same.same):
        return 1
    return 0 if certificate.trust == "proved" else TESTED


def _run_everywhere(
    model: Transformer, arguments: argparse.Namespace
) -> dict[str, ModelComparison] | None:
    from rasp.models.proving.search import run_everywhere

    with ProgressLine(is_on=not arguments.json) as line:

        def show(done: int, total: int, length: int) -> None:
            line.show(lambda: f"{bar(done / max(1, total))} {done:,} of {total:,} inputs")

        return run_everywhere(model, arguments.most_inputs, show)


def _in_words(found: dict[str, ModelComparison] | None, most: int) -> str:
    """Say how far the model was run, or where it went wrong."""
    if found is None:
        return f"not run on every input: there are more than {most:,}"
    wrong = [f"WRONG: `{name}` is {one.statement}" for name, one in found.items() if not one]
    if wrong:
        return "\n".join(wrong)
    inputs = max(one.inputs for one in found.values())
    return f"also run on {'its one input' if inputs == 1 else f'all {inputs:,} inputs'}, in float32"


def _beside(model: Transformer, arguments: argparse.Namespace) -> Equivalence:
    """Compare the program in the folder with the user's."""
    from rasp.insight.equivalence import equivalent

    file, colon, name = arguments.program.rpartition(":")
    if not colon:
        raise RaspValueError(
            f"`{arguments.program}` names no s-op", hint="write --program FILE.rasp:NAME"
        )
    if name not in model.outputs and len(model.outputs) > 1:
        raise RaspNameError(
            f"the model has no output `{name}`", hint=f"it has {', '.join(model.outputs)}"
        )
    session = new_session(arguments)
    session.run(read_program(file, arguments.limits))
    node = model.outputs.get(name, next(iter(model.outputs.values())))
    settings = model.settings
    return equivalent(
        node, find_handle(session, name), alphabet=list(settings.vocabulary), bos=settings.bos
    )


def _program(model: Transformer) -> str:
    """The program in the folder, as text."""
    program = Program.named(model.words.names, model.outputs)
    handles = {name: Handle(node, program) for name, node in model.outputs.items()}
    try:
        return "the program:\n" + indent(to_rasp(handles).rstrip(), "  ")
    except RaspError as error:
        return f"the program cannot be written as text: {error.message}"
