"""What an editor can show: every expression has its type, and wrong ones are underlined."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

api = pytest.importorskip("mypy.api", reason="types are checked with mypy")

PROGRAM = """
from rasp import aggregate, equivalent, indices, length, lib, select, table, tokens, where

flip = select(indices, length - 1 - indices, "==").named("flip")
reveal_type(flip)                                    # SelectorHandle
reveal_type(aggregate(flip, tokens))                 # SOpHandle
reveal_type(1 - indices)                             # SOpHandle
reveal_type("a" + tokens)                            # SOpHandle
reveal_type((tokens == "a") & ~(indices > 2))        # SOpHandle
reveal_type(where(tokens == "a", 1, "b"))            # SOpHandle
reveal_type(where(True, flip, flip))                 # SelectorHandle
reveal_type(lib.sort(tokens, tokens))                # SOpHandle
reveal_type(table({"a": 1})[tokens])                 # SOpHandle
reveal_type(round(indices / 2))                      # SOpHandle
reveal_type(~flip | flip)                            # SelectorHandle
reveal_type(equivalent(flip, flip))                  # Equivalence
flip + 1                                             # error
flip & tokens                                        # error
select(tokens, tokens, "=")                          # error
aggregate(tokens, tokens)                            # error
lib.sort(flip, tokens)                               # error
"""


@pytest.mark.slow
def test_types_are_what_an_editor_should_show(tmp_path: Path) -> None:
    file = tmp_path / "typed.py"
    file.write_text(PROGRAM, encoding="utf-8")
    told = api.run(["--strict", "--no-error-summary", str(file)])[0]
    by_line: dict[int, str] = {}
    for line in told.splitlines():
        if found := re.search(
            r"typed\.py:(\d+): (?:note: Revealed type is \"(.*)\"|(error))", line
        ):
            by_line[int(found[1])] = (found[2] or found[3]).rpartition(".")[2]
    expected = {
        number: line.partition("#")[2].strip()
        for number, line in enumerate(PROGRAM.splitlines(), 1)
        if "#" in line
    }
    assert by_line == expected, told
