"""`rasp prove MODEL FILE NAME`: is a model the program? proved, run, tested or different."""

from __future__ import annotations

import argparse
from typing import Any

from rasp.apps.cli.arguments import CommandParser
from rasp.apps.cli.dialect import automaton_asked_for
from rasp.apps.cli.program_files import find_handle, new_session, read_program
from rasp.apps.cli.prose import print_json_line, tell
from rasp.base.errors import RaspNameError, RaspTypeError, RaspValueError
from rasp.base.input_text import read_alphabet
from rasp.base.progress import ProgressLine, bar
from rasp.language.meaning.session import Session

PATIENCE = 0.5
GALLERY = "gallery:"
EXIT_CODES = {"proved": 0, "run": 0, "different": 1, "tested": 3}
"""What the command ends with; 2 where the two could not be compared."""
MODEL_HELP = (
    "a folder of `rasp compile`, `rasp export` or Hugging Face (GPT-2, BERT); FOLDER:RUN of "
    "`rasp train`; or the JSON of verified-circuits"
)


def configure(parser: CommandParser) -> None:
    parser.epilog = (
        "exit code: 0 proved, or run on every input; 1 different; 2 not compared;\n"
        "3 tested on samples, or undecided somewhere"
    )
    parser.take("model", MODEL_HELP, metavar="MODEL")
    what = "the program: a file, `gallery:NAME`, `-` for standard input, or a .py file"
    parser.take("file", what, nargs="?")
    parser.take("name", "its s-op or function (default: the gallery's name)", nargs="?")
    parser.take(
        "--regex", "a regular expression instead of a program: yes where it matches (default: none)"
    )
    parser.take("--automaton", "an automaton instead of a program: JSON as for `rasp dialect` "
                "(default: none)", metavar="FILE")  # fmt: skip
    parser.heading("inputs")
    parser.take("--up-to", "compare every input up to this length (default: as far as is quick)",
                int, metavar="N")  # fmt: skip
    parser.take_alphabet("all that the model has")
    parser.take("--where", "a promise: inputs fulfil this bool s-op at every position "
                "(default: none)", metavar="NAME")  # fmt: skip
    parser.take("--where-regex", "a regular expression that inputs match (default: none)")
    parser.take("--samples", "test N random inputs instead, and prove nothing (default: no)", int,
                metavar="N")  # fmt: skip
    parser.take_seed("the random inputs", 0)
    parser.flag("--run", "run the model in float32 instead, and prove nothing")
    parser.heading("the model")
    parser.take("--of", "which output, where the model has several (default: NAME)",
                metavar="OUTPUT")  # fmt: skip
    parser.take("--adapter", "what ids and logits mean, as JSON: the fields of rasp.Adapter "
                "(default: guessed, and printed)", metavar="FILE")  # fmt: skip
    parser.take("--device", "where to run: with --run, such as cuda (default: NumPy)")
    parser.heading("answers")
    parser.take_output("the proof, to be checked again (default: nowhere)", metavar="FILE.json")
    parser.take("--draw", "draw the difference, or margins by length (default: no drawing)",
                metavar="FILE.svg")  # fmt: skip
    parser.take_json("the verdict")
    parser.take_running()


def run(arguments: argparse.Namespace) -> int:
    from rasp.models.proving import prove

    program, where = _asked(arguments)
    how = "run" if arguments.run else "test" if arguments.samples else "prove"
    with ProgressLine(PATIENCE, not arguments.json) as line:

        def show(done: int, total: int, length: int) -> None:
            share = done / max(1, total)
            line.show(lambda: f"{bar(share)} length {length}: {done:,} of {total:,} inputs")

        found = prove(
            _model(arguments.model), program, adapter=_adapter(arguments),
            output=arguments.of or arguments.name, up_to=arguments.up_to,
            alphabet=arguments.alphabet, where=where, how=how, samples=arguments.samples or 0,
            seed=arguments.seed, device=arguments.device, progress=show,
        )  # fmt: skip
    if arguments.output and found.same:
        found.write(arguments.output)
    place = found.draw().save(arguments.draw) if arguments.draw else None
    if arguments.json:
        print_json_line(found.as_dict())
    else:
        tell(found)
        if place is not None:
            print(f"the drawing is in {place}")
    return EXIT_CODES[found.verdict]


def _model(text: str) -> object:
    """A path; or a run of `rasp train`, as FOLDER:RUN."""
    import os

    folder, colon, name = text.partition(":")
    if not colon or os.path.exists(text) or not os.path.isdir(folder):
        return text
    from rasp.models.proving.trained_models import run_of

    return run_of(folder, name)


def _asked(arguments: argparse.Namespace) -> tuple[Any, Any]:
    """The program, and the promise about inputs."""
    given = [arguments.regex, arguments.automaton, arguments.file]
    if sum(one is not None for one in given) != 1:
        raise RaspValueError(
            "give one program: a file and a name, `--regex` or `--automaton`",
            hint="`rasp prove MODEL FILE NAME`, or `rasp prove MODEL --regex '(ab)*'`",
        )
    where = arguments.where_regex
    if arguments.regex is not None:
        return arguments.regex, where
    if arguments.automaton is not None:
        return automaton_asked_for(arguments), where
    return _program(arguments)


def _program(arguments: argparse.Namespace) -> tuple[Any, Any]:
    """What FILE and NAME mean."""
    file, name = arguments.file, arguments.name
    if file.endswith(".py"):
        return _python(file, name), arguments.where_regex
    session: Session = new_session(arguments)
    if name is None and file.startswith(GALLERY):
        name = file.removeprefix(GALLERY)
    session.run(read_program(file, arguments.limits))
    if name is None:
        raise RaspValueError("no name was given", hint="name an s-op: `rasp prove MODEL FILE NAME`")
    where = find_handle(session, arguments.where) if arguments.where else arguments.where_regex
    return find_handle(session, name), where


def _python(file: str, name: str | None) -> Any:
    """A function of a Python file, which is run."""
    import runpy

    names = runpy.run_path(file)
    if name is None or name not in names:
        raise RaspNameError(f"`{file}` has no `{name or ''}`", hint="name a function of the file")
    if not callable(names[name]):
        raise RaspTypeError(
            f"`{name}` is not a function", hint="it takes a list of tokens, and gives the answer"
        )
    return names[name]


def _adapter(arguments: argparse.Namespace) -> Any:
    if arguments.adapter is None:
        return None
    from dataclasses import fields

    from rasp.base.file_reading import read_json
    from rasp.models.proving.adapter import Adapter

    data = read_json(arguments.adapter, 10_000_000)
    known = {field.name for field in fields(Adapter)} - {"where", "source"}
    if not isinstance(data, dict) or not {"tokens", "ids", "answers"} <= {*data} <= known:
        raise RaspValueError(
            f"`{arguments.adapter}` does not describe an adapter",
            hint="it is a JSON object with `tokens`, `ids` and `answers`, and perhaps "
            + ", ".join(sorted(known - {"tokens", "ids", "answers"})),
        )
    tokens = read_alphabet(data["tokens"])
    rest: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value
            for name, value in data.items() if name != "tokens"}  # fmt: skip
    return Adapter(tokens, **rest, source=arguments.adapter)
