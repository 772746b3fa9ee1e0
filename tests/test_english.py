"""Plain words: what we decided not to write does not come back."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from repository import ROOT

COMPARED = r"(?:longer|other|two|use|more|less|\w+er)\b"
"""After `is no`, what may be said: it is no longer there, and no wider."""
UNWANTED = {
    r"stands?(?!\s+(?:in\s+)?for\b)": "say `is`; only `stands for` is fine",
    r"stood(?!\s+(?:in\s+)?for\b)": "say `was`",
    r"mend(?:s|ed|ing)?": "say `fix`",
    r"(?:lays?|laid|laying) out": "say `format` or `arrange`",
    r"talks? to": "say `use`, or name the REPL",
    r"to be had": "say `supported` or `available`",
    r"runs? away": "say `expanded` or `endless`",
    r"before every back end": "say `through every back end`",
    r"look(?:s|ed)? whether": "say `check`",
    r"(?:gives?|gave) back": "say `return`",
    rf"(?<!here )(?:is|are|was|were) no\s+(?!{COMPARED})[a-z`]+": "say `is not a`",
    r"(?<!here )(?:is|are) (?-i:none)\b(?! of\b)": "say `is not one`",
}
SENTENCES = (
    "run away while the program",
    "no figure stands",
    "of what each part of a model is a function",
    "go on beyond the lengths",
    "has no circle",
    "its doors",
    "the misfit is shown",
    "that do not need one another share",
    "where nothing else is said",
    "and you are told why",
    "says which of them it is in",
    "that no array has to have",
    "says more of a command",
    "there is no value to call",
    "no answer is changed by noise",
    "itself has a value",
    "most models at a time",
    "stop after so many",
    "allow so many",
    "where it is not named",
    "to complain of in,",
    "a terminal only shows out",
    "called wrongly in,",
    "Who wants something in",
)
"""Sentences that a reader struck out, each with a plain one in its place now."""
PATTERN = re.compile("|".join(rf"\b(?:{words})\b" for words in UNWANTED), re.IGNORECASE)
FOLDERS = ("bench", "docs", "editors", "examples", "scripts", "src", "tests", "web")
KINDS = {".py", ".md", ".js", ".css", ".html", ".rasp", ".lark", ".lua", ".toml", ".mjs", ".ipynb"}
LEFT_OUT = {"node_modules", "bundle", "dist", "__pycache__"}


def texts() -> Iterator[Path]:
    """List everything that people read, but this file."""
    yield from (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            is_ours = not LEFT_OUT & set(path.parts) and path != Path(__file__)
            if path.suffix in KINDS and is_ours and path.is_file():
                yield path


def read(path: Path) -> str:
    """Return what was written by hand: of a notebook, its cells without their outputs."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text
    return "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])


def test_docs_messages_and_comments_say_the_common_word() -> None:
    found = []
    for path in texts():
        text = read(path)
        for unwanted in PATTERN.finditer(text):
            line = text.count("\n", 0, unwanted.start()) + 1
            found.append(f"{path.relative_to(ROOT)}:{line}: {unwanted[0]}")
    assert not found, "\n".join([*found, *(f"{why}" for why in UNWANTED.values())])


def test_a_sentence_that_was_struck_out_does_not_come_back() -> None:
    found = []
    for path in texts():
        text = " ".join(read(path).split())
        found += [f"{path.relative_to(ROOT)}: {told}" for told in SENTENCES if told in text]
    assert not found, "say it plainly, as the text does now"


def test_the_pattern_finds_what_it_should() -> None:
    for wrong in ("it stands alone", "mend it", "laid out", "is to be had", "run away",
                  "`x` is no list", "this is none"):  # fmt: skip
        assert PATTERN.search(wrong)
    for right in (
        "a code stands for an atom",
        "it stands in\n    for a sink",
        "recommended",
        "there is no list",
        "it is no longer there",
        "there is none",
        "is none of these",
        "standings",
    ):
        assert not PATTERN.search(right)
