"""Write a page for each kind of error: `python scripts/make_error_pages.py`.

In: `tests/errors/*.rasp`, each a program that goes wrong with the exact message it gives, and some
commands that refuse a program which is right. Out: `docs/errors/`. A test checks that the pages
are up to date.
"""

from __future__ import annotations

import io
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr
from dataclasses import dataclass
from pathlib import Path

from rasp.apps.cli import main as run_command
from rasp.base.errors import RaspError
from rasp.base.source import Source
from rasp.language.meaning.session import Session

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "errors"
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


def main() -> None:
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote {path.relative_to(ROOT)}\n")


def pages() -> dict[Path, str]:
    """Each page, and the text it should have."""
    found = list(examples())
    return {PAGES / f"{kind}.md": _page(kind, found) for kind in INTRODUCTIONS}


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


if __name__ == "__main__":
    main()
