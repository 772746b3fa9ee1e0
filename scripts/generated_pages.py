"""Pages of the site that follow from the code: one for each kind of error, and the gallery.

The errors come from `tests/errors/*.rasp`, each a program that goes wrong, and from some commands
that refuse a program which is right.
"""

from __future__ import annotations

import io
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr
from dataclasses import dataclass
from pathlib import Path

from rasp.apps.cli import main as run_command
from rasp.base.errors import RaspError
from rasp.base.source import Source
from rasp.language.meaning.session import Session
from rasp.teaching.gallery import families
from rasp.teaching.gallery.catalogue import Entry
from rasp.teaching.gallery.dialects import AS_WRITTEN, stored_dialects

ROOT = Path(__file__).parents[1]
INTRODUCTIONS = {
    "syntax": ("Syntax", "The text is not RASP. One run reports every such mistake."),
    "name": ("Names", "A name that nobody defined, here or in the library."),
    "type": ("Types", "A value of the wrong kind for what is done with it."),
    "value": ("Values", "A value of the right kind that cannot be used."),
    "limit": (
        "Limits",
        "A program is untrusted input, so what it may use is bounded. Each budget that is exceeded "
        "is one of these errors, never a hang. `rasp.Limits` holds the budgets.",
    ),
    "unsupported": (
        "Unsupported",
        "The program is right, but this part of `rasp` cannot do it, or an extra is not installed. "
        "Back ends (the compiler, the exports) refuse before they build anything and list every "
        "reason with its place in the source; the hint names what to change or to install. "
        "The program of the examples:",
    ),
}
REFUSED_PROGRAM = """\
flip = select(indices, length - 1 - indices, ==);
reverse = aggregate(flip, tokens);
"""
REFUSED = {
    "Compile a selector": "rasp compile reverse.rasp flip --alphabet abc --max-length 5",
    "Look ahead in a causal model": (
        "rasp compile reverse.rasp reverse --alphabet abc --max-length 5 --causal"
    ),
    "Save a picture as something else": "rasp draw reverse.rasp reverse abc -o flow.jpg",
}
"""What is tried, by title: commands that cannot do what they are asked to."""


@dataclass(frozen=True)
class Example:
    """A program that goes wrong, and the mistakes it has."""

    title: str
    program: str
    errors: tuple[RaspError, ...]


def write(docs: Path) -> None:
    """Write the pages into a folder that holds those written by hand."""
    found = list(examples())
    (docs / "errors").mkdir()
    for kind in INTRODUCTIONS:
        (docs / "errors" / f"{kind}.md").write_text(_page(kind, found), encoding="utf-8")
    (docs / "all-programs.md").write_text(gallery(), encoding="utf-8")


def gallery() -> str:
    """Every program of the gallery, by family, with its heads and dialects."""
    parts = ["# All programs\n\nA star marks a dialect that only an equal program belongs to."]
    for family, members in families().items():
        head = "| program | heads | [dialects](dialects.md#the-definitions) | computes |"
        rows = [head, "|---|---|---|---|", *map(_row, members)]
        parts.append("\n".join([f"## {family[0].upper()}{family[1:]}\n", *rows]))
    return "\n\n".join(parts) + "\n"


def _row(entry: Entry) -> str:
    heads = " ".join(map(str, entry.heads_per_layer)) or "-"
    dialects = " ".join(
        f"`{dialect}`" + ("" if how == AS_WRITTEN else "*")
        for dialect, how in stored_dialects()[entry.name].items()
    )
    summary = entry.summary.replace("|", "\\|")
    return f"| `{entry.name}` | {heads} | {dialects} | {summary} |"


def examples() -> Iterator[Example]:
    """Run every program of `tests/errors`."""
    for path in sorted((ROOT / "tests" / "errors").glob("*.rasp")):
        lines = path.read_text(encoding="utf-8").split("\n")
        program = "\n".join(line for line in lines if not line.startswith("#!"))
        _, errors = Session().check(Source(path.name, program))
        title = path.stem.replace("_", " ").replace("s op", "s-op").capitalize()
        yield Example(title, program.strip("\n"), tuple(errors))


def _page(kind: str, found: list[Example]) -> str:
    title, introduction = INTRODUCTIONS[kind]
    parts = [f"# {title}\n\n{introduction}"]
    parts += [_example(each) for each in found if each.errors[0].kind == kind]
    if kind == "unsupported":
        parts += [f"```rasp\n{REFUSED_PROGRAM}```", *refusals()]
    return "\n\n".join(parts) + "\n"


def refusals() -> Iterator[str]:
    """Run every command of `REFUSED`, and show what it says."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("reverse.rasp").write_text(REFUSED_PROGRAM, encoding="utf-8")
        for title, command in REFUSED.items():
            said = io.StringIO()
            with redirect_stderr(said):
                assert run_command(shlex.split(command)[1:]) == 2
            yield f"## {title}\n\n```console\n$ {command}\n{said.getvalue()}```"


def _example(example: Example) -> str:
    said = "\n\n".join(str(error) for error in example.errors)
    program = "\n".join(_cut(line) for line in example.program.split("\n"))
    return f"## {example.title}\n\n```rasp\n{program}\n```\n\n```text\n{said}\n```"


def _cut(line: str) -> str:
    printable = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)
    return printable if len(printable) <= 100 else printable[:99] + "…"
