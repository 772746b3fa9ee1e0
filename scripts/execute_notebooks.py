"""Run the notebooks in `examples/` from top to bottom and keep what they show.

`python scripts/execute_notebooks.py` needs nbclient, nbformat and ipykernel. Nothing is kept
of a notebook that fails, nor when it was run.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[1] / "examples"


def execute(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    language = dict(notebook.metadata["language_info"])
    NotebookClient(notebook, timeout=300, record_timing=False).execute()
    notebook.metadata["language_info"] = {"name": language["name"]}
    nbformat.validate(notebook)
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for chosen in map(Path, sys.argv[1:]) if sys.argv[1:] else sorted(EXAMPLES.glob("*.ipynb")):
        execute(chosen)
        print(chosen)
