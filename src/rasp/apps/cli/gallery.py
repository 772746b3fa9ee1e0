"""`rasp gallery`: the programs that come with rasp: list them, show, run, draw and check one."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from rasp.apps.cli.arguments import THEMES, CommandParser
from rasp.apps.cli.program_files import read_given
from rasp.apps.cli.prose import print_json_line, tell
from rasp.base.errors import RaspError, RaspValueError
from rasp.base.input_text import HELP
from rasp.base.spelling import did_you_mean
from rasp.teaching.gallery import entries, entry, families, load, names, source
from rasp.teaching.gallery.catalogue import Entry
from rasp.teaching.gallery.dialects import read_dialect, stored_dialects

ACTIONS = {
    "list": "list [WORD]          the programs, or those that mention a word",
    "show": "show NAME            a program's text",
    "run": "run NAME [INPUT…]    what it gives, on its own example or on inputs",
    "draw": "draw NAME [INPUT]    how it is computed, layer by layer",
    "check": "check [NAME…]        programs against their specifications, on random inputs",
}


def configure(parser: CommandParser) -> None:
    parser.epilog = "\n".join(["actions:", *(f"  {line}" for line in ACTIONS.values())])
    action = f"{', '.join(ACTIONS)}: see below"
    parser.take("action", action, nargs="?", metavar="ACTION", default="list")
    parser.take("words", f"what it needs; inputs are {HELP}", nargs="*")
    parser.take_text()
    parser.take_json("one value a line (list, run)")
    files = ".svg, .html, .png, .pdf or .txt, for draw (default: the terminal)"
    parser.take_output(files, metavar="FILE")
    parser.take("--theme", "the colours (draw)", choices=THEMES, default="auto")
    kinds = "list: only programs of causal, sparse, rasp-l, c-rasp or b-rasp (default: all)"
    parser.take("--dialect", kinds)
    parser.take("--count", "check: random inputs for each", int, default=100)


def run(arguments: argparse.Namespace) -> int:
    words: list[str] = arguments.words
    if arguments.action not in ACTIONS:
        raise _unknown(arguments.action)
    match arguments.action, words:
        case "list", []:
            return _list("", arguments)
        case "list", [word]:
            return _list(word, arguments)
        case "show", [name]:
            sys.stdout.write(source(name))
            return 0
        case "run", [name, *inputs]:
            return _run(name, [read_given(text, arguments.text) for text in inputs], arguments.json)
        case "draw", [name]:
            return _draw(name, entry(name).example, arguments)
        case "draw", [name, given]:
            return _draw(name, read_given(given, arguments.text), arguments)
        case "check", _:
            from rasp.teaching.gallery.gallery_check import check_programs

            chosen = [entry(name) for name in words] or entries()
            return 0 if check_programs(chosen, arguments.count) else 1
    usage = " ".join(ACTIONS[arguments.action].split("  ")[0].split())
    raise RaspValueError(
        f"`rasp gallery {arguments.action}` does not take {len(words)} words",
        hint=f"write `rasp gallery {usage}`",
    )


def _unknown(action: str) -> RaspError:
    """Somebody wrote a program's name where an action belongs, or mistyped one."""
    hint = f"did you mean `rasp gallery show {action}`?"
    if action not in names():
        more = "`rasp gallery` lists the programs; `rasp gallery --help` says what it does with one"
        hint = did_you_mean(action, ACTIONS, more, "rasp gallery ")
    return RaspValueError(f"`{action}` is not something that `rasp gallery` does", hint=hint)


def _list(word: str, arguments: argparse.Namespace) -> int:
    chosen = [member for member in entries() if word.lower() in _described(member)]
    if arguments.dialect is not None:
        dialect, stored = read_dialect(arguments.dialect), stored_dialects()
        chosen = [member for member in chosen if dialect in stored[member.name]]
    if arguments.json:
        for member in chosen:
            print_json_line(_record(member))
        return 0
    if not chosen:
        of_dialect = "" if arguments.dialect is None else f" of {dialect}"
        print(f"no program{of_dialect} mentions `{word}`; `rasp gallery` lists all of them")
        return 0
    for family, members in families().items():
        shown = [member for member in members if member in chosen]
        if shown:
            print(family)
            for member in shown:
                heads = " ".join(map(str, member.heads_per_layer)) or "-"
                tell(f"  {member.name:28}{heads:16}{member.summary}")
            print()
    print(
        f"{len(chosen)} program{'s' * (len(chosen) != 1)}. After the name: the heads in each layer."
    )
    print("rasp gallery show NAME prints one; run NAME, draw NAME and check NAME use it.")
    return 0


def _described(member: Entry) -> str:
    return f"{member.family} {member.name} {member.summary}".lower()


def _record(member: Entry) -> dict[str, Any]:
    return {
        "name": member.name,
        "family": member.family,
        "summary": member.summary,
        "example": member.example,
        "heads_per_layer": member.heads_per_layer,
        "dialects": stored_dialects()[member.name],
    }


def _run(name: str, inputs: list[Any], as_json: bool) -> int:
    from rasp.apps.cli.eval import print_answer
    from rasp.language.evaluator import apply

    handle = load(name)
    for given in inputs or [entry(name).example]:
        print_answer({name: apply(handle.node, given, handle.program)}, given, as_json)
    return 0


def _draw(name: str, given: Any, arguments: argparse.Namespace) -> int:
    from rasp.apps.cli.draw import show_drawing
    from rasp.insight.drawing import draw

    return show_drawing(draw(load(name), given, theme=arguments.theme), arguments.output)
