"""Each message is that of a file in `errors/`, which pytest runs by itself (`program_files.py`).

`python tests/test_errors.py` writes the messages anew and prints those that changed.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from program_files import split, told
from rasp.base.source import Source
from rasp.language.meaning.session import Session

HERE = Path(__file__).parent
FILES = sorted((HERE / "errors").glob("*.rasp"))
CORE = HERE.parent / "src" / "rasp"
CHECKED = (
    "base/atoms.py", "language/operators", "language/syntax", "language/graph",
    "language/meaning", "language/evaluator/plain.py",
)  # fmt: skip

# Messages that no program text can bring about, and the test that brings them about instead.
ELSEWHERE = {
    "is not a number that RASP has": "tests/base/test_atoms.py",
    "a float is too large to be shown as one": "tests/base/test_atoms.py",
    "tokens is over the limit of": "tests/base/test_atoms.py",
    "characters is over the limit of": "tests/base/test_limits.py",
    "characters, which is over the limit": "tests/base/test_limits.py",
    "cells is over the limit of": "tests/base/test_limits.py",
    "the program makes more than": "tests/base/test_limits.py",
    "the program is nested too deeply to run": "tests/base/test_limits.py",
    "files load one another more than 50 deep": "tests/language/meaning/test_load.py",
    "loads itself, by way of": "tests/language/meaning/test_load.py",
    "cannot be read: ": "tests/language/meaning/test_load.py",
    "is switched off here": "tests/language/meaning/test_load.py",
    "is the program that this one is compared with": "tests/apps/cli/test_cli.py",
    "takes a program's text, but this is": "tests/language/embedding/test_namespaces.py",
}


def raised_messages() -> list[tuple[str, str]]:
    """Find, in the source, the longest fixed part of each message that is raised."""
    found: list[tuple[str, str]] = []
    files = [path for part in CHECKED for path in sorted((CORE / part).rglob("*.py"))]
    files += [CORE / part for part in CHECKED if part.endswith(".py")]
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(ast.Name(name), [message, *_]):
                    if name.startswith("Rasp") and name.endswith("Error"):
                        found.append((f"{path.name}:{node.lineno}", longest_part(message)))
    return [(place, part) for place, part in found if part]


def longest_part(message: ast.expr) -> str:
    texts = [
        each.value
        for each in ast.walk(message)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    ]
    return max(texts, key=len, default="")


def test_no_message_is_untested() -> None:
    corpus = "\n".join(split(path.read_text(encoding="utf-8"))[1] for path in FILES)
    missing = [
        f"{place}: {part!r}"
        for place, part in raised_messages()
        if part not in corpus and not any(known in part for known in ELSEWHERE)
    ]
    assert not missing, (
        "write a program that brings it about into tests/errors/NAME.rasp, then run scripts/update"
    )


if __name__ == "__main__":
    for path in FILES:
        before = path.read_text(encoding="utf-8")
        program, _ = split(before)
        message = told(Session().check(Source(path.name, program))[1])
        lines = "".join(f"#! {line}".rstrip() + "\n" for line in message.split("\n"))
        after = program.rstrip("\n") + "\n" + lines
        if after != before:
            path.write_text(after, encoding="utf-8")
            sys.stdout.write(f"{path.name}\n{message}\n\n")
