"""Two rules of the source: files are replaced in one step, and none is ever run to read it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PACKAGE = Path(__file__).parents[2] / "src" / "rasp"
# Who may write to a file in place, and why that is safe.
WRITERS = {
    "base/file_writing.py": "writes beside the file, then moves it into place",
    "models/training/run_store.py": "appends records, and passes over a last one cut short",
    "models/compiler/model/store.py": "writes into a folder that is moved into place as a whole",
    "models/export": "writes into a folder that is moved into place as a whole",
    "models/testbed/folder.py": "writes into a folder that is moved into place as a whole",
    "apps/cli/standard.py": "opens nothing but the null device",
    "apps/playground/weights.py": "packs an archive in memory",
}
RUNNERS = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """The calls in a file, each with the name of what is called."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(ast.Name(name)) | ast.Call(ast.Attribute(attr=name)):
                yield name, node


def writes(name: str, call: ast.Call) -> bool:
    """Tell whether a call writes to a file under the name it is given."""
    if name in ("write_text", "write_bytes", "ZipFile"):
        return True
    words = [*call.args, *(keyword.value for keyword in call.keywords)]
    modes = [each.value for each in words if isinstance(each, ast.Constant)]
    return name == "open" and any(
        isinstance(mode, str) and len(mode) <= 3 and set(mode) & set("wax") for mode in modes
    )


def test_files_are_written_by_those_who_do_it_in_one_step() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        for name, call in calls(path)
        if writes(name, call)
    }
    assert "base/file_writing.py" in found, "the rule has lost its eyes"
    strangers = {path for path in found if not any(path.startswith(each) for each in WRITERS)}
    assert not strangers, "use rasp.base.file_writing"


def test_nothing_that_is_read_is_run() -> None:
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            match node:
                case ast.Import(names):
                    assert not {each.name.split(".")[0] for each in names} & RUNNERS, path
                case ast.ImportFrom(module=str(module)):
                    assert module.split(".")[0] not in RUNNERS, path
                case ast.Call(ast.Name("eval" | "exec" | "__import__")):
                    raise AssertionError(f"{path}:{node.lineno}: no text is run as Python")
                case ast.Call(ast.Attribute(ast.Name("torch" | "np" | "numpy"), "load")):
                    raise AssertionError(f"{path}:{node.lineno}: weights are safetensors")
