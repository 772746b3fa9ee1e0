"""Each file of `programs/` is one behaviour, with what it must give in `#>` comments.

Every program goes through `rasp test`, and through the printer and back.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rasp.source import Source
from rasp.syntax import parse, print_program
from rasp.testing import check_program

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.rasp"))


def source(path: Path) -> Source:
    return Source(path.name, path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_gives_what_it_promises(path: Path) -> None:
    report = check_program(source(path))
    assert not report.failures
    assert report.held, "a program without a promise tests nothing"


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_printing_and_parsing_again_changes_nothing(path: Path) -> None:
    tree = parse(source(path))
    text = print_program(tree)
    assert parse(Source("printed", text)) == tree
    assert print_program(parse(Source("printed", text))) == text
    assert check_program(Source("printed", text)).held == check_program(source(path)).held
