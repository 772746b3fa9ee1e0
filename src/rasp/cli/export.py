"""`rasp export DIR --to TARGET -o OUT`: a compiled model for another library."""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="what `rasp compile -o` wrote")
    parser.add_argument("--to", required=True, metavar="TARGET",
                        help="torch, hf-gpt2, hf-bert, transformer-lens or onnx")  # fmt: skip
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="write it there")


def run(arguments: argparse.Namespace) -> int:
    from rasp.export import export

    compared = export(arguments.folder, arguments.to, arguments.output)
    print(f"written to {arguments.output}; loaded again, it agrees with the program on "
          f"{compared} random inputs")  # fmt: skip
    return 0
