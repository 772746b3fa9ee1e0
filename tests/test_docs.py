"""What README and docs show is run: RASP with its `#>` lines, Python, and commands with output.

A `rasp` block whose first line is `# name.rasp` is saved under that name; the gallery's programs
lie beside it, so commands can use either. One called `# mistaken….rasp` must have mistakes.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import shlex
import shutil
import sys
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

import rasp
from rasp.apps.cli import main
from rasp.base.source import Source
from rasp.language.meaning.session import Session
from rasp.language.operators import written
from rasp.language.words import BUILT_IN_DOCS, KEYWORDS
from rasp.teaching.testing import check_page
from rasp.teaching.testing.pages import FILE, Snippet, blocks_of

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def snippets(page: Path) -> list[Snippet]:
    return blocks_of(page.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_snippet_of_a_page_is_true(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    for program in (ROOT / "src" / "rasp" / "teaching" / "gallery").rglob("*.rasp"):
        shutil.copy(program, tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    report = check_page(Source(page.name, page.read_text(encoding="utf-8")))
    assert not report.failures, "\n".join(map(str, report.failures))
    for snippet in snippets(page):
        where = f"{page.name}:{snippet.line}"
        match snippet.language:
            case "rasp":
                save(snippet)
            case "python" if ">>>" in snippet.text:
                run_doctest(snippet, names, where)
            case "python":
                exec(compile(snippet.text, where, "exec"), names)
            case "console":
                run_console(snippet, where, capsys)
    capsys.readouterr()


def test_every_word_of_the_language_has_an_example_that_runs() -> None:
    page = ROOT / "docs" / "language.md"
    shown = "\n".join(each.text for each in snippets(page) if each.language == "rasp")
    used = set(re.findall(r"\w+", re.sub(r"#[^\n]*", "", shown)))
    words = {*KEYWORDS, *BUILT_IN_DOCS, *Session().library.every_name()}
    in_the_text_around = {"full_s", "False", "draw"}
    missing = words - used - in_the_text_around
    assert not missing, "show it in a ```rasp block of docs/language.md, with what it gives"
    assert not in_the_text_around & used, "these have an example now"


def test_what_python_calls_otherwise_is_in_the_guide() -> None:
    guide = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    for row in written("call"):
        if row.python not in (f"rasp.{row.name}", f"builtins.{row.name}"):
            call = f"`{row.python}({', '.join(row.parameters)})`"
            assert call in guide, "write it into the table of docs/python.md"


def save(snippet: Snippet) -> None:
    """Write a block that is a file, for the commands of the page."""
    if named := FILE.fullmatch(snippet.text.split("\n", 1)[0]):
        Path(named[1]).write_text(snippet.text, encoding="utf-8")


def run_doctest(snippet: Snippet, names: dict[str, Any], where: str) -> None:
    test = doctest.DocTestParser().get_doctest(snippet.text, names, where, where, snippet.line)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    told: list[str] = []
    runner.run(test, out=told.append, clear_globs=False)
    names.update(test.globs)
    assert not told, "".join(told)


def run_console(snippet: Snippet, where: str, capsys: Any) -> None:
    """Run each `$ rasp …` and compare what it prints; write the files that `$ cat` shows."""
    for part in re.split(r"^\$ ", snippet.text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        words = shlex.split(command, comments=True)
        if words[0] == "cat" and len(words) == 2:
            Path(words[1]).write_text(expected, encoding="utf-8")
        if words[0] != "rasp" or len(words) == 1:
            continue
        capsys.readouterr()
        main(words[1:])
        printed = capsys.readouterr()
        if expected.strip():
            out = "\n".join(line.rstrip() for line in (printed.out + printed.err).split("\n"))
            assert out.strip() == expected.strip(), f"{where}: {command}"


MODULES = [
    "rasp",
    *sorted(
        ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        for path in (ROOT / "src" / "rasp").rglob("*.py")
        if ">>>" in path.read_text(encoding="utf-8")
    ),
]


IMPORT_TORCH = ("rasp.models.training", "rasp.models.testbed", "rasp.models.export")


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[pytest.mark.slow] if name.startswith(IMPORT_TORCH) else [])
    for name in dict.fromkeys(MODULES)
])  # fmt: skip
def test_examples_in_docstrings_hold(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except (ImportError, rasp.RaspUnsupportedError) as missing:
        pytest.skip(f"needs an extra: {missing}")
    told = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert told.attempted
    assert not told.failed
    assert name in sys.modules


TRAINING = {
    "config": ("RunConfig", "miniature", "read_config"),
    "data": ("draw_examples", "draw_inputs", "make_data", "targets_of"),
    "devices": ("choose_device", "require_torch"),
    "own": ("describe_record", "own_config", "own_task", "write_data"),
    "run_pictures": ("attention_drawing", "save_curves"),
    "sweep": ("sweep",),
    "paper_tables": ("cells_of", "configs_of", "render", "summarise", "table_lines"),
    "tasks": ("TrainingTask",),
}  # fmt: skip
"""What training is used by: its `__init__` hands nothing out, to work without PyTorch."""
NEEDS_NO_EXAMPLE = {
    *(kind.__name__ for kind in rasp.RaspError.__subclasses__()),
    *("SOp", "Selector", "Scorer"),  # what nodes are kinds of
    *("load_ipython_extension", "unload_ipython_extension"),  # only a notebook calls these
}
PUBLIC = [
    *(
        ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        for path in sorted((ROOT / "src" / "rasp").rglob("*.py"))
        if "\n__all__ = " in path.read_text(encoding="utf-8")
    ),
    *(f"rasp.models.training.{home}" for home in TRAINING),
]


@pytest.mark.parametrize("home", PUBLIC)
def test_every_public_function_has_an_example(home: str) -> None:
    try:
        module = importlib.import_module(home)
    except (ImportError, rasp.RaspUnsupportedError) as missing:
        pytest.skip(f"needs an extra: {missing}")
    names = getattr(module, "__all__", None) or TRAINING[home.rpartition(".")[2]]
    public = {name: getattr(module, name) for name in names if name not in NEEDS_NO_EXAMPLE}
    for name, each in public.items():
        if isinstance(each, (type, FunctionType)):
            assert_example(name, each)
        for method, function in (
            inspect.getmembers(each, is_method) if inspect.isclass(each) else ()
        ):
            if not method.startswith("_"):
                assert_example(f"{name}.{method}", function)


def is_method(member: object) -> bool:
    return inspect.isfunction(member) or inspect.ismethod(member)


def assert_example(name: str, each: object) -> None:
    documentation = inspect.getdoc(each) or ""
    assert ">>>" in documentation, f"`{name}` needs an example that runs: `>>> …`"
    assert documentation[0].isupper(), f"`{name}` begins with a sentence"
