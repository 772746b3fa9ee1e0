"""The house keeps its order: folders use only those before them, and starting is cheap."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "src" / "rasp"
COMPILER = PACKAGE / "models" / "compiler"
CHECKER = PACKAGE / "models" / "certificate"

# Each room may import itself, those before it on its floor, and every floor below.
FLOORS = {
    "base": (
        "terminal_text", "source", "errors", "tracebacks", "spelling", "limits", "meter",
        "installing", "cluster", "progress", "atoms", "input_text", "file_reading",
        "file_writing",
    ),
    "language": ("operators", "words", "syntax", "graph", "evaluator", "meaning", "embedding"),
    "insight": ("equivalence", "schedule", "generation", "dialect", "finding", "drawing"),
    "models": ("certificate", "checker", "compiler", "export", "training", "testbed", "proving"),
    "teaching": ("sandbox", "testing", "gallery", "grading"),
    "apps": ("shown_results", "notebook", "repl", "playground", "lsp", "cli"),
}  # fmt: skip
ORDER = tuple(f"{floor}.{room}" for floor, rooms in FLOORS.items() for room in rooms)
NEVER_TOGETHER = {
    ("language.syntax", "language.graph"), ("language.graph", "language.syntax"),
}  # fmt: skip


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path) -> Iterator[str]:
    """Give the part of the package that each import of a file reaches into."""
    tree = tree_of(path)
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("rasp."):
            floor, *rooms = node.module.split(".")[1:]
            inner = rooms[:1] or [name.name for name in node.names]
            yield from (f"{floor}.{room}" for room in inner)
        elif isinstance(node, ast.Import):
            yield from (".".join(name.name.split(".")[1:3]) for name in node.names
                        if name.name.startswith("rasp."))  # fmt: skip


FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if len(path.relative_to(PACKAGE).parts) > 2
         or (path.parent != PACKAGE and path.stem != "__init__")]  # fmt: skip


def room_of(path: Path) -> str:
    floor, room, *_ = path.relative_to(PACKAGE).parts
    return f"{floor}.{room.removesuffix('.py')}"


def test_the_package_has_six_floors() -> None:
    assert {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()} == {*FLOORS}
    assert {path.stem for path in PACKAGE.glob("*.py")} == {"__init__", "__main__"}


def test_a_room_uses_only_what_is_before_it() -> None:
    for path in FILES:
        room = room_of(path)
        assert room in ORDER, "give the new room its place in the order"
        for reached in imports(path):
            assert ORDER.index(reached) <= ORDER.index(room), f"{path} must not use {reached}"
            assert (room, reached) not in NEVER_TOGETHER, path


# Folders of tests that are about no one folder of the package.
ACROSS = {"docs_site", "editors", "errors", "faults", "golden", "paper", "programs", "strategies"}
FILES_ACROSS = {"docs", "english", "errors", "structure", "work_budgets"}


def test_the_tests_mirror_the_package() -> None:
    folders = {path.name for path in TESTS.iterdir() if path.is_dir() and any(path.iterdir())}
    assert folders - {"__pycache__"} == {*FLOORS} | ACROSS
    assert {path.stem.removeprefix("test_") for path in TESTS.glob("test_*.py")} <= FILES_ACROSS
    for floor, rooms in FLOORS.items():
        tested = {path.name for path in (TESTS / floor).iterdir() if any(path.rglob("test_*.py"))}
        folders = {
            path.name for path in (PACKAGE / floor).iterdir() if (path / "__init__.py").exists()
        }
        assert tested == folders, "a room's tests have its name"
        alone = {path.stem.removeprefix("test_") for path in (TESTS / floor).glob("test_*.py")}
        assert alone <= {*rooms}, "a test of a room belongs in the room's tests"
    chapters = {path.parent.name for path in COMPILER.glob("*/__init__.py")}
    tested = {path.parent.name for path in (TESTS / "models" / "compiler").glob("*/test_*.py")}
    assert tested == chapters, "the compiler's tests have its chapters"


def test_contributors_are_shown_the_same_order() -> None:
    page = (TESTS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = page.partition("## Six floors")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| \*\*(\w+)\*\* \| `([a-z_/ ]+)` \|", table, re.MULTILINE)
    told = [f"{floor}.{room}" for floor, rooms in rows for room in rooms.replace("/", "").split()]
    assert tuple(told) == ORDER


def test_the_checker_knows_nothing_of_what_it_checks() -> None:
    allowed = {
        "models.certificate", "language.graph", "language.operators", "language.words",
        "base.atoms", "base.errors",
    }  # fmt: skip
    for path in sorted(CHECKER.rglob("*.py")):
        assert set(imports(path)) <= allowed, path.name


@pytest.mark.parametrize(
    "command",
    [
        "import rasp",
        "from rasp.apps.cli import main; main(['--version'])",
        "import rasp; rasp.run('x = indices + 1;')['x']('hello')",
    ],
)
def test_starting_imports_nothing_heavy(command: str) -> None:
    heavy = ("numpy", "torch", "prompt_toolkit", "pygments", "scipy", "pathlib")
    check = f"{command}\nimport sys; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{check}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip().endswith("[]")


def test_evaluating_loads_no_back_end() -> None:
    check = """
from rasp.apps.cli import main
main(["eval", "-e", "histf(tokens)", "aab"])
import sys
print([name for name in sys.modules if name.startswith(("rasp.insight.", "rasp.models."))])
"""
    done = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, check=True
    )  # fmt: skip
    assert done.stdout.splitlines() == ['histf(tokens)("aab") = [2, 2, 1]', "[]"]


CHAPTERS = (
    "settings", "compile_refusals", "analysis", "heads", "planning", "emitting", "robust", "model",
    "assemble", "compact", "build",
)  # fmt: skip


def test_a_chapter_of_the_compiler_uses_only_those_before_it() -> None:
    for path in sorted(COMPILER.rglob("*.py")):
        place = path.relative_to(COMPILER)
        if str(place) == "__init__.py":
            continue
        own = CHAPTERS.index(place.parts[0].removesuffix(".py"))
        for node in ast.walk(tree_of(path)):
            module = str(node.module) if isinstance(node, ast.ImportFrom) else ""
            if module.startswith("rasp.models.compiler."):
                used = module.split(".")[3]
                assert CHAPTERS.index(used) <= own, f"{path} must not use {module}"
                assert (place.parts[0], used) != ("robust", "planning"), "styles are apart"


LISTS_OF_THEIR_OWN = {"apps/cli", "teaching/gallery/specifications"}
"""The commands, and the families of the gallery."""
MANY = 9


def named_in(folder: Path) -> set[str]:
    """The files that the first words of a folder name: as `file`, `*_ending`, or in a list."""
    tree = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    told = ast.get_docstring(tree) or ""
    listed = re.findall(r"^ *([a-z_]+)(?:\.py|/) +", told, re.MULTILINE)
    alike = {path.stem for ending in re.findall(r"`\*(_[a-z_]+)`", told)
             for path in folder.glob(f"*{ending}.py")}  # fmt: skip
    return {*re.findall(r"`([a-z_]+)/?`", told), *listed, *alike} - {"rasp"}


def test_a_folder_tells_what_its_files_are_for() -> None:
    for init in sorted(PACKAGE.rglob("*/__init__.py")):
        folder = init.parent
        inside = {path.stem for path in folder.iterdir() if path.suffix == ".py" or
                  (path / "__init__.py").exists()} - {"__init__", "__main__"}  # fmt: skip
        assert named_in(folder) <= inside, f"{folder} names what is not there"
        if len(inside) > MANY and str(folder.relative_to(PACKAGE)) not in LISTS_OF_THEIR_OWN:
            assert inside <= named_in(folder), (
                f"{folder}: say in `__init__` what the others are for"
            )


PATH = r"(src|tests|scripts|docs|bench|results)/[\w./*-]*\w|[\w./*-]*\w(/|\.(py|md|toml|lark))"


def exists(name: str, *roots: Path) -> bool:
    return any(any(root.glob(name.rstrip("/"))) for root in roots)


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/compiler-map.md"])
def test_what_a_map_names_is_there(page: str) -> None:
    text = (TESTS.parent / page).read_text(encoding="utf-8")
    roots = (
        TESTS.parent, TESTS.parent / "docs", PACKAGE, *PACKAGE.glob("*/"), COMPILER,
        *COMPILER.glob("*/"), CHECKER, *CHECKER.glob("*/"), *PACKAGE.glob("*/*/"),
    )  # fmt: skip
    words = re.split(r"[\s`()|,;:#]+", text)
    paths = {word for word in words if re.fullmatch(PATH, word)}
    assert len(paths) > 20
    missing = {path for path in paths if "yours" not in path and not exists(path, *roots)}
    assert not missing
    classes = set(re.findall(r"`(_?[A-Z][a-z]\w+)`", text))
    sources = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    assert not {name for name in classes if not re.search(rf"^(class )?{name}\b", sources, re.M)}


def test_files_that_pages_and_sources_name_are_there() -> None:
    root = TESTS.parent
    pages = [root / "README.md", *root.glob("docs/*.md"), *PACKAGE.rglob("*.py"),
             *root.glob("scripts/*"), *root.glob("bench/*.py")]  # fmt: skip
    for page in filter(Path.is_file, pages):
        text = page.read_text(encoding="utf-8")
        for name in re.findall(
            r"\b(?:tests|scripts|bench|src/rasp)/[\w/.-]*\w\.(?:py|rasp)\b", text
        ):
            assert (root / name).exists(), f"{page} names {name}"


def test_functions_are_short_and_finished() -> None:
    sizes = []
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "NotImplementedError" not in text, path
        for node in ast.walk(tree_of(path)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                start = node.body[1 if ast.get_docstring(node) and len(node.body) > 1 else 0]
                sizes.append((node.end_lineno or 0) - start.lineno + 1)
    assert sorted(sizes)[len(sizes) * 9 // 10] <= 20
    assert max(sizes) <= 40


def names_in_comprehensions(function: ast.AST) -> set[str]:
    return {
        inner.id
        for node in ast.walk(function) if isinstance(node, ast.comprehension)
        for inner in ast.walk(node.target) if isinstance(inner, ast.Name)
    }  # fmt: skip


def names_of_module(tree: ast.Module) -> set[str]:
    imported = {name.name for node in tree.body if isinstance(node, ast.ImportFrom)
                for name in node.names}  # fmt: skip
    return imported | {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def called_in(function: ast.AST) -> set[str]:
    return {node.func.id for node in ast.walk(function)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}  # fmt: skip


def test_no_function_calls_a_name_that_a_comprehension_of_its_own_has() -> None:
    """Python 3.12.1 puts comprehensions into the function around them, and may take one for the
    other: `[x for number in …]` beside `[number(x) for …]` ends in an UnboundLocalError.
    """
    for path in PACKAGE.rglob("*.py"):
        names = names_of_module(tree_of(path))
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef):
                both = names_in_comprehensions(node) & called_in(node) & names
                assert not both, (path.name, node.name, both)


def test_files_are_short() -> None:
    for path in PACKAGE.rglob("*.py"):
        lines = path.read_text(encoding="utf-8").count("\n")
        assert lines <= 360, f"{path} has {lines} lines: does it have two jobs?"


def test_a_class_name_means_one_thing() -> None:
    homes: dict[str, list[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(f"{path.relative_to(PACKAGE)}")
    assert not {name: places for name, places in homes.items() if len(places) > 1}


def test_an_error_is_never_edited_as_a_string() -> None:
    """What is learnt later is a field of the error; `message` and `hint` are put together once."""
    edits = re.compile(r"\.(message|hint) *\+?= |\.(message|hint)\.(r?partition|replace|r?split)\(")
    makers = {"base/errors.py", "models/compiler/compile_refusals.py"}  # their own attributes
    for path in PACKAGE.rglob("*.py"):
        if path.relative_to(PACKAGE).as_posix() not in makers:
            assert not edits.search(path.read_text(encoding="utf-8")), path


def test_lower_floors_do_not_know_the_upper_ones() -> None:
    upper = re.compile("playground|grading|compiled model|language server|notebook", re.IGNORECASE)
    for floor in ("base", "language"):
        for path in (PACKAGE / floor).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            assert not (known := upper.search(text)), f"{path} knows of {known}"
