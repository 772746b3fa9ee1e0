"""`rasp compile FILE NAME --alphabet … --max-length … -o DIR`: an s-op as weights."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from rasp.apps.cli.arguments import CommandParser, options
from rasp.apps.cli.patience import working
from rasp.apps.cli.program_files import find_handle, find_handles, run_program
from rasp.apps.cli.prose import print_json, tell

if TYPE_CHECKING:
    from rasp.models.compiler import Transformer


def configure(parser: CommandParser) -> None:
    parser.take_program("the s-op to compile", several=True)
    parser.take_alphabet(required=True)
    parser.take_length("the model takes no longer ones", required=True)
    parser.take_bos()
    parser.flag("--causal", "positions see only earlier ones")
    parser.flag("--next-token", "token by token: outputs are tokens of the alphabet, or "
                '"", the end (causal)')  # fmt: skip
    parser.flag("--no-sink", "put no hidden token before the input")
    parser.take("--where", "a promise: this bool s-op of the program is true at every position of "
                "every input (default: none)", metavar="NAME")  # fmt: skip
    more = "allow up to N feed-forward blocks without attention"
    parser.take("--extra-feed-forwards", more, int, default=0, metavar="N")
    parser.flag("--split-heads", "allow one more head where that saves much")
    parser.take("--style", "how weights are made: robust (moderate, and they bear noise), compact "
                "(the smallest model), or auto (robust where it can be done, else compact)",
                choices=("auto", "robust", "compact"), default="auto")  # fmt: skip
    parser.flag("--tested", "also a model that the checker cannot follow: tested, not proved, "
                "and says so")  # fmt: skip
    parser.take_output("a new folder, or an older model (default: nowhere)", metavar="DIR")
    parser.take_json("the sizes and the certificate")
    parser.take_running()


def run(arguments: argparse.Namespace) -> int:
    from rasp.models.compiler import compile
    from rasp.models.compiler.model.store import check_free

    if arguments.output:
        check_free(arguments.output)
    session = run_program(arguments)
    handles = find_handles(session, arguments.name)
    asked = options(arguments, "max_length bos causal next_token style extra_feed_forwards tested")
    with working(f"compiling {', '.join(handles)}", session.rest()) as progress:
        model = compile(
            handles,
            vocabulary=arguments.alphabet,
            sink=not arguments.no_sink,
            where=find_handle(session, arguments.where) if arguments.where else None,
            heads="split" if arguments.split_heads else "paper",
            progress=progress,
            **asked,
        )
    if arguments.output:
        model.save(arguments.output)
    if arguments.json:
        print_json(_record(model))
        return 0
    print(model)
    if model.why_compact:
        print(f"compact, not robust: {model.why_compact}")
    tell(model.certificate)
    if arguments.output:
        print(f"written to {arguments.output}")
    return 0


def _record(model: Transformer) -> dict[str, Any]:
    names = ("layers", "extra_feed_forwards", "heads_per_layer", "input_feed_forward",
             "hidden_per_layer", "d_model")  # fmt: skip
    return {name: getattr(model, name) for name in names} | {
        "parameters": model.parameter_count,
        "style": model.settings.style,
        "why_compact": model.why_compact,
        "certificate": model.certificate.to_json(),
    }
