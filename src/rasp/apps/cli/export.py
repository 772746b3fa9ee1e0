"""`rasp export DIR --to TARGET -o OUT`: a compiled model for another library."""

from __future__ import annotations

import argparse

from rasp.apps.cli.arguments import CommandParser
from rasp.apps.cli.patience import working
from rasp.apps.cli.prose import print_json

CHECKED = """\
The model is verified, written, loaded again by the other library and compared with the
program; only then does OUT appear. OUT/rasp.json says which id is which token and which
answer each logit is for."""


def configure(parser: CommandParser) -> None:
    from rasp.models.export import TARGETS

    parser.take("folder", "what `rasp compile -o` wrote", metavar="DIR")
    parser.take("--to", "a target of those below", required=True, metavar="TARGET")
    parser.take_output("a new folder, or an older export", required=True, metavar="OUT")
    parser.take_json("what was written and checked")
    lines = [f"  {name:<18}{target.title}" for name, target in TARGETS.items()]
    parser.epilog = "\n".join(["targets:", *lines, "", CHECKED])


def run(arguments: argparse.Namespace) -> int:
    from rasp.models.export.targets import write_export

    with working("exporting"):
        checked = write_export(arguments.folder, arguments.to, arguments.output)
    if arguments.json:
        print_json({"output": arguments.output, "target": arguments.to, "inputs": checked.inputs,
                    "layer_norms": checked.layer_norms})  # fmt: skip
        return 0
    print(f"written to {arguments.output}; loaded again, it agrees with the program on "
          f"{checked.inputs} inputs")  # fmt: skip
    if checked.layer_norms:
        print(f"LayerNorms: {checked.layer_norms}")
    return 0
