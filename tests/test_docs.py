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
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

import rasp
import rasp.drawing
import rasp.programs
from rasp.cli import main
from rasp.frontend.session import Session
from rasp.frontend.show import show_value
from rasp.source import Source
from rasp.syntax.tree import Evaluate
from rasp.words import BUILT_IN_DOCS, KEYWORDS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Snippet:
    language: str
    text: str
    line: int


def snippets(page: Path) -> list[Snippet]:
    text = page.read_text(encoding="utf-8")
    return [
        Snippet(match[1], match[2], text[: match.start()].count("\n") + 1)
        for match in FENCE.finditer(text)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_snippet_of_a_page_is_true(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    for program in (ROOT / "src" / "rasp" / "programs").rglob("*.rasp"):
        shutil.copy(program, tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    session = Session()
    for snippet in snippets(page):
        where = f"{page.name}:{snippet.line}"
        match snippet.language:
            case "rasp":
                run_rasp(snippet, session, where)
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
    assert words - used == {"tokens_asis", "full_s", "False", "draw"}  # in the text around them


def run_rasp(snippet: Snippet, session: Session, where: str) -> None:
    """Run a block; blocks of one page go on from one another, unless they are files."""
    first = snippet.text.split("\n", 1)[0]
    if re.fullmatch(r"# [\w.]+\.rasp", first):
        Path(first[2:]).write_text(snippet.text, encoding="utf-8")
        session = Session()
    if first.startswith("# mistaken"):
        assert session.check(Source(where, snippet.text))[1], f"{where}: there is no mistake"
        return
    for result in session.run_each(Source(where, snippet.text)):
        wanted = result.statement.trailing or ""
        if wanted.startswith("#>") and isinstance(result.statement, Evaluate):
            shown = show_value(result.value, full=True).replace("\n      ", " ")
            assert shown == wanted[2:].strip(), f"{where}: {result.statement.span.text}"


def run_doctest(snippet: Snippet, names: dict[str, Any], where: str) -> None:
    test = doctest.DocTestParser().get_doctest(snippet.text, names, where, where, snippet.line)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    told: list[str] = []
    runner.run(test, out=told.append, clear_globs=False)
    names.update(test.globs)
    assert not told, "".join(told)


def run_console(snippet: Snippet, where: str, capsys: Any) -> None:
    """Run each `$ rasp …` and compare what it prints with what the page says it prints."""
    for part in re.split(r"^\$ ", snippet.text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        words = shlex.split(command, comments=True)
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
        if ">>>" in path.read_text(encoding="utf-8") and path.parent.name != "specifications"
    ),
]


@pytest.mark.parametrize("name", dict.fromkeys(MODULES))
def test_examples_in_docstrings_hold(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except (ImportError, rasp.RaspUnsupportedError) as missing:
        pytest.skip(f"needs an extra: {missing}")
    told = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert told.attempted
    assert not told.failed
    assert name in sys.modules


CALLED_BY_NOTEBOOKS = ("load_ipython_extension", "unload_ipython_extension")
KINDS_OF_ERROR = {kind.__name__ for kind in rasp.RaspError.__subclasses__()}
PUBLIC = [
    (home, name)
    for home in (rasp, rasp.lib, rasp.drawing, rasp.programs)
    for name in home.__all__
    if name not in CALLED_BY_NOTEBOOKS and name not in KINDS_OF_ERROR
    if isinstance(getattr(home, name), (type, FunctionType))
]


@pytest.mark.parametrize(("home", "name"), PUBLIC, ids=lambda each: getattr(each, "__name__", each))
def test_every_public_function_has_an_example(home: ModuleType, name: str) -> None:
    documentation = inspect.getdoc(getattr(home, name)) or ""
    assert ">>>" in documentation, "an example that runs: `>>> …`"
    assert documentation[0].isupper()
