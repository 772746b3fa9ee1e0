"""The command line: `rasp` alone talks, `rasp COMMAND …` does one thing and ends.

Each command is a module of its own with `configure(parser)` and `run(arguments)`, imported only
when it is used, so that `rasp --version` starts as fast as Python does. Exit codes: 0 it worked;
1 the answer is no (mistakes found, not equal, does not fit); 2 it could not be done;
3 nothing speaks against it, and nothing proves it (`rasp diff`).
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import sys
from collections.abc import Sequence

import rasp
from rasp.apps.cli.arguments import CommandParser
from rasp.apps.cli.prose import in_flags, tell
from rasp.apps.cli.standard import OutputLost, give_up_output, standard_streams
from rasp.base.errors import RaspError, RaspValueError, error_record
from rasp.base.limits import too_deep, too_much_memory
from rasp.base.spelling import did_you_mean

COMMANDS = {
    "run": "run a program and show what the REPL would",
    "eval": "apply a program's s-op to inputs",
    "generate": "append what a next-token program gives, until it stops",
    "test": "do programs give what their `#>` lines say they give?",
    "check": "find every mistake, and what other readers would misread",
    "arch": "how many layers and heads an s-op needs, and why",
    "fit": "does an s-op fit into an architecture?",
    "dialect": "which dialects of RASP a program or language is in, and why",
    "diff": "are two programs the same? proves it, tests it, or shows a difference",
    "find": "the smallest program that does what examples show",
    "grade": "points for a folder of submissions, each in a sandbox",
    "compile": "compile an s-op to a transformer's weights, certified",
    "export": "a compiled model for another library, such as torch or ONNX",
    "verify": "check a compiled model again, from its files alone",
    "prove": "is a model a program? proves it, or shows a shortest difference",
    "testbed": "models to study, whose circuits are known and checked",
    "draw": "draw how an s-op is computed, layer by layer",
    "gallery": "programs to read, run and draw, each with a specification",
    "fmt": "format a program",
    "train": "train a transformer to do what a program does",
    "reproduce": "train the paper's experiments and print their tables",
    "play": "the playground: RASP in the browser, live",
    "completion": "a script with which your shell completes commands and options",
    "lsp": "the language server that editors start",
}
"""What each command does; `rasp.apps.cli.NAME` is its module."""
PROMPT_OPTIONS = ("--limit", "-i", "--interactive", "--no-load", "--load-from")
WITHOUT_COMMAND = """\
rasp                    the prompt (Ctrl-D ends it)
rasp -i FILE            the prompt, after a program was run"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        with standard_streams():
            return _run(words)
    except OutputLost as lost:
        if lost.reason is not None:
            with contextlib.suppress(OSError):
                print(lost.reason, file=sys.stderr, flush=True)
        give_up_output()
        return 2 if lost.reason is not None else 0
    except KeyboardInterrupt:
        if argv is None:
            _leave_at_once(130)
        return 130


def _leave_at_once(code: int) -> None:
    """End the process without taking a large program apart first, which can take seconds."""
    if "multiprocessing" in sys.modules and sys.modules["multiprocessing"].active_children():
        return  # whoever started them ends them
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def _run(words: list[str]) -> int:
    try:
        return _dispatch(words)
    except RaspError as error:
        _report(error, as_json="--json" in words)
    except UnicodeEncodeError:
        broken = RaspValueError(
            "a text holds half of a character, which cannot be written",
            hint="was it cut in the middle, or is it not UTF-8? take that part out",
        )
        _report(broken, as_json="--json" in words)
    except RecursionError:
        _report(too_deep(), as_json="--json" in words)
    except MemoryError:
        _report(too_much_memory(), as_json="--json" in words)
    return 2


def _dispatch(words: list[str]) -> int:
    if not words or words[0].startswith(PROMPT_OPTIONS):
        return _talk(words)
    if words[0] == "help" and len(words) > 1:
        words = [words[1], "--help"]
    first = words[0]
    if first in ("-h", "--help", "help"):
        print(_usage())
        return 0
    if first in ("-V", "--version"):
        print(f"rasp {rasp.__version__}")
        return 0
    if first not in COMMANDS:
        print(_unknown(first), file=sys.stderr)
        return 2
    import datetime  # noqa: F401  # numpy would take Ctrl-C during this import for a bad install

    gc.disable()  # nothing that is imported is garbage: looking for it takes a tenth of the start
    module = importlib.import_module(f"rasp.apps.cli.{first}")
    gc.enable()
    parser = CommandParser(prog=f"rasp {first}", description=_sentence(COMMANDS[first]))
    module.configure(parser)
    # options before, between and after the other words, as people type them
    exit_code: int = module.run(parser.parse_intermixed_args(words[1:]))
    return exit_code


def _sentence(summary: str) -> str:
    return summary[0].upper() + summary[1:] + ("" if summary.endswith("?") else ".")


def _talk(words: list[str]) -> int:
    """`rasp`, `rasp -i FILE`, `rasp --limit NAME=VALUE --no-load …`: the REPL."""
    from rasp.apps.repl import talk

    if not words:
        return talk()
    from rasp.apps.cli.program_files import new_session

    parser = CommandParser(prog="rasp", description="The prompt.")
    parser.take("-i --interactive", "run a program first (default: none)", metavar="FILE")
    parser.take_running()
    arguments = parser.parse_args(words)
    return talk(new_session(arguments), arguments.interactive)


def _usage() -> str:
    lines = ["RASP, the language of transformers.", "", "usage: rasp [COMMAND …]", ""]
    lines.append(WITHOUT_COMMAND)
    lines += [f"rasp {name:<19}{help_text}" for name, help_text in COMMANDS.items()]
    lines += [
        "",
        "`rasp help COMMAND` explains a command; `rasp --version` prints the version.",
    ]
    return "\n".join(lines)


def _unknown(word: str) -> str:
    if word.endswith(".rasp") or os.path.exists(word):
        return f"error: `{word}` is not a command\nhint: to run a file, write `rasp run {word}`"
    hint = did_you_mean(word, COMMANDS, "`rasp --help` lists the commands", "rasp ")
    return f"error: `{word}` is not a command\nhint: {hint}"


def _report(error: RaspError, as_json: bool) -> None:
    if as_json:
        records = [error_record(mistake, in_flags) for mistake in error.everything]
        print(json.dumps({"errors": records}))
    else:
        tell(error.text(in_flags), sys.stderr)
