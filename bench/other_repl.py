"""A checkout of another RASP implementation in, its REPL as something to time out.

Written for the layout of the authors' repository of 2021: a package folder `RASP_support` with a
module `REPL` whose class `REPL` has `run_given_line`, run from the checkout's root. Nothing of it
is imported unless `--other` is given, and whatever goes wrong is said in one line.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

COMPLAINTS = ("!!", "something went wrong", "REPL failed")


class OtherRepl:
    """Their REPL with a program defined in it."""

    def __init__(self, checkout: Path, statements: Iterable[str]) -> None:
        if not (checkout / "RASP_support").is_dir():
            raise SystemExit(f"no folder RASP_support in {checkout}")
        os.chdir(checkout)  # it loads its library by a path relative to the root
        sys.path[:0] = [str(checkout), str(checkout / "RASP_support")]
        with contextlib.redirect_stdout(io.StringIO()):
            self.repl: Any = _module().REPL()
        for name in ("show_sequence_examples", "show_selector_examples"):
            if hasattr(self.repl, name):
                setattr(self.repl, name, False)
        for statement in statements:
            self._run(statement)

    def apply(self, name: str, tokens: str) -> None:
        """Apply an s-op; its value is computed, and thrown away."""
        self._run(f'{name}("{tokens}");')

    def _run(self, line: str) -> None:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.repl.run_given_line(line)
        if any(complaint in said.getvalue() for complaint in COMPLAINTS):
            raise SystemExit(f"{line[:60]}: {said.getvalue().strip()[:200]}")


def _module() -> Any:
    """The module, whether it imports its neighbours as a package or as plain files."""
    try:
        return importlib.import_module("RASP_support.REPL")
    except ImportError:
        return importlib.import_module("REPL")
