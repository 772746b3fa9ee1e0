"""`rasp compile FILE NAME --alphabet … --max-length … -o DIR`: an s-op as weights."""

from __future__ import annotations

import argparse

from rasp.cli.files import find_handle, read_names, run_program
from rasp.cli.parser import CommandParser
from rasp.cli.patience import working
from rasp.cli.prose import print_json, tell


def configure(parser: CommandParser) -> None:
    parser.take_program("the s-op to compile", several=True)
    parser.take_alphabet("every token of an input", "--vocab", "--vocabulary", required=True)
    parser.add_argument("--max-length", type=int, required=True, metavar="N",
                        help="the length of the longest input")  # fmt: skip
    parser.add_argument(
        "--bos", metavar="TOKEN", help="the token that every input begins with (default: none)"
    )
    parser.flag("--causal", "positions see only earlier ones")
    parser.add_argument(
        "--next-token", action="store_true",
        help="a model that generates: outputs are tokens of the alphabet, or \"\", the end "
        "(causal)",
    )  # fmt: skip
    parser.flag("--no-sink", "put no hidden token before the input")
    parser.add_argument(
        "--where", metavar="NAME",
        help="a promise: this bool s-op of the program is true at every position of every input "
        "(default: none)",
    )  # fmt: skip
    parser.add_argument(
        "--extra-feed-forwards", type=int, default=0, metavar="N",
        help="allow so many feed-forward blocks without heads",
    )  # fmt: skip
    parser.add_argument("--heads", choices=("paper", "split"), default="paper",
                        help="split: one more head where that saves much")  # fmt: skip
    parser.add_argument("--style", choices=("auto", "robust", "compact"), default="auto",
                        help="robust: moderate weights that bear noise; compact: the smallest "
                        "model; auto: robust where it can be done, else compact")  # fmt: skip
    parser.add_argument(
        "-o", "--output", metavar="DIR", help="write the model there (default: nowhere)"
    )
    parser.take_json("the sizes and the certificate as JSON")
    parser.take_running()


def run(arguments: argparse.Namespace) -> int:
    from rasp.compiler import compile

    session = run_program(arguments)
    handles = {name: find_handle(session, name) for name in read_names(arguments.name)}
    with working(f"compiling {', '.join(handles)}", session.rest()):
        model = compile(
            handles,
            vocabulary=arguments.alphabet,
            max_length=arguments.max_length,
            bos=arguments.bos,
            causal=arguments.causal,
            sink=not arguments.no_sink,
            heads=arguments.heads,
            next_token=arguments.next_token,
            style=arguments.style,
            extra_feed_forwards=arguments.extra_feed_forwards,
            where=find_handle(session, arguments.where) if arguments.where else None,
        )
    if arguments.output:
        model.save(arguments.output)
    assert model.certificate is not None
    if arguments.json:
        record = {
            "layers": model.layers,
            "extra_feed_forwards": model.extra_feed_forwards,
            "heads_per_layer": model.heads_per_layer,
            "input_feed_forward": model.input_feed_forward,
            "hidden_per_layer": model.hidden_per_layer,
            "d_model": model.d_model,
            "parameters": model.parameter_count,
            "style": model.settings.style,
            "why_compact": model.why_compact,
            "certificate": model.certificate.to_json(),
        }
        print_json(record)
    else:
        print(model)
        if model.why_compact:
            print(f"compact, not robust: {model.why_compact}")
        tell(model.certificate)
        if arguments.output:
            print(f"written to {arguments.output}")
    return 0
