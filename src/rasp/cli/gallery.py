"""`rasp gallery`: the programs that come with rasp: list them, show, run, draw and check one."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from rasp.atoms import read_input, show_input
from rasp.cli.files import read_given
from rasp.programs import entries, entry, families, load, source
from rasp.programs.catalogue import Entry


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    _configure_list(actions.add_parser("list", help="name the programs, family by family"))
    show = actions.add_parser("show", help="print a program")
    show.add_argument("name", help="the program")
    run = actions.add_parser("run", help="apply a program to inputs")
    run.add_argument("name", help="the program")
    run.add_argument("input", nargs="*", help="text, or a JSON list; else the program's example")
    run.add_argument("--text", action="store_true", help="take inputs as text, even `[1, 2]`")
    run.add_argument("--json", action="store_true", help="one JSON list a line")
    draw = actions.add_parser("draw", help="draw how a program computes its answer")
    draw.add_argument("name", help="the program")
    draw.add_argument("input", nargs="?", help="text, or a JSON list; else the program's example")
    draw.add_argument("-o", "--output", help="the picture: .svg, .html, .png, .pdf or .txt")
    draw.add_argument("--theme", choices=("auto", "light", "dark"), default="auto")
    draw.add_argument("--text", action="store_true", help="take the input as text, even `[1]`")
    check = actions.add_parser("check", help="compare programs with their specifications")
    check.add_argument("names", nargs="*", help="programs; all of them where none is named")
    check.add_argument("--count", type=int, default=100, help="random inputs for each program")


def _configure_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("word", nargs="?", default="", help="only programs that mention it")
    parser.add_argument("--json", action="store_true", help="one JSON object a program")


def run(arguments: argparse.Namespace) -> int:
    match arguments.action:
        case "show":
            sys.stdout.write(source(arguments.name))
            return 0
        case "run":
            return _run(arguments)
        case "draw":
            return _draw(arguments)
        case "check":
            return _check(arguments)
        case _:
            return _list(getattr(arguments, "word", ""), getattr(arguments, "json", False))


def _list(word: str, as_json: bool) -> int:
    found = [each for each in entries() if word.lower() in _described(each)]
    if as_json:
        for each in found:
            print(json.dumps(_record(each), ensure_ascii=False))
        return 0
    for family, members in families().items():
        chosen = [each for each in members if each in found]
        if chosen:
            print(family)
            for each in chosen:
                heads = " ".join(map(str, each.heads_per_layer)) or "-"
                print(f"  {each.name:28}{heads:16}{each.summary}")
            print()
    print(f"{len(found)} programs. After the name: the heads in each layer.")
    print("rasp gallery show NAME prints one; run NAME, draw NAME and check NAME use it.")
    return 0


def _described(each: Entry) -> str:
    return f"{each.family} {each.name} {each.summary}".lower()


def _record(each: Entry) -> dict[str, Any]:
    return {
        "name": each.name,
        "family": each.family,
        "summary": each.summary,
        "example": each.example,
        "heads_per_layer": each.heads_per_layer,
    }


def _run(arguments: argparse.Namespace) -> int:
    from rasp.evaluator import apply
    from rasp.frontend.handles import plain_lists
    from rasp.frontend.show import show_sequence

    handle = load(arguments.name)
    inputs = [read_given(text, arguments.text) for text in arguments.input]
    for given in inputs or [entry(arguments.name).example]:
        values = apply(handle.node, given, handle.program)
        if arguments.json:
            print(json.dumps(plain_lists(values), ensure_ascii=False))
        else:
            called = f"{arguments.name}({show_input(read_input(given))})"
            print(f"{called} = {show_sequence(values, full=True)}")
    return 0


def _draw(arguments: argparse.Namespace) -> int:
    from rasp.drawing import draw

    given = entry(arguments.name).example
    if arguments.input is not None:
        given = read_given(arguments.input, arguments.text)
    drawing = draw(load(arguments.name), given, theme=arguments.theme)
    if arguments.output is None:
        sys.stdout.write(drawing.text())
    else:
        print(f"wrote {drawing.save(arguments.output)}")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from rasp.programs.check import main

    return main([*arguments.names, "--count", str(arguments.count)])
