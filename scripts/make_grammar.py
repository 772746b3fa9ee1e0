"""Write what editors need from the one table of words: `python scripts/make_grammar.py`.

In: `rasp.language.words` and the library. Out: the TextMate grammar and the language configuration
in `editors/vscode/`. A test checks that the files are up to date.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from rasp.language.meaning.session import Session
from rasp.language.words import (
    BINDING,
    BUILT_IN_DOCS,
    COMMANDS,
    COMPARISONS,
    CONSTANTS,
    KEYWORDS,
    SYMBOLS,
    WORD_OPERATORS,
)

FOLDER = Path(__file__).parents[1] / "editors" / "vscode"
NAME = r"[^\W\d]\w*"
BASE_S_OPS = tuple(name for name, doc in BUILT_IN_DOCS.items() if not doc.startswith(f"{name}("))
COMMANDS_OF_A_WORD = tuple(word for word in COMMANDS if word.isidentifier())
BRACKETS = ("()", "[]", "{}")


def main() -> None:
    for path, text in files().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote {path.relative_to(FOLDER.parents[1])}\n")


def files() -> dict[Path, str]:
    """Each file, and the text it should have."""
    return {
        FOLDER / "syntaxes" / "rasp.tmLanguage.json": _json(grammar()),
        FOLDER / "language-configuration.json": _json(configuration()),
    }


def grammar() -> dict[str, Any]:
    """Return the TextMate grammar: the first pattern that fits, colours."""
    operators = [each for each in SYMBOLS if each not in (*COMPARISONS, "=") and BINDING.get(each)]
    commands = _any(COMMANDS_OF_A_WORD)
    statement_end = r"(?:^|(?<=[;{}]))\s*"
    return {
        "name": "RASP",
        "scopeName": "source.rasp",
        "fileTypes": ["rasp"],
        "patterns": [
            _match("comment.line.number-sign", "#.*$"),
            _string('"', "double"),
            _string("'", "single"),
            {
                "match": rf"\b(def)\s+({NAME})",
                "captures": {
                    "1": {"name": "storage.type.function.rasp"},
                    "2": {"name": "entity.name.function.rasp"},
                },
            },
            {
                "match": rf"{statement_end}({commands})\b(?=[ \t]+[^\W\d]|[ \t]*;?[ \t]*$)",
                "captures": {"1": {"name": "keyword.other.command.rasp"}},
            },
            _match("keyword.control.import", r"\bload\b(?=\s*[\"'])"),
            _match("constant.language", _words(CONSTANTS)),
            _match("keyword.operator.word", _words(WORD_OPERATORS)),
            _match("keyword.control", _words(_others(KEYWORDS, CONSTANTS, WORD_OPERATORS))),
            _match("support.variable.base", _words(BASE_S_OPS)),
            _match("support.function.builtin", _words(_others(BUILT_IN_DOCS, BASE_S_OPS))),
            _match("support.function.library", _words(library_names())),
            _match("constant.numeric", r"\b[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?\b"),
            _match("entity.name.function.call", rf"\b{NAME}(?=\s*\()"),
            _match("variable.other", rf"\b{NAME}"),
            _match("keyword.operator.comparison", _any(COMPARISONS)),
            _match("keyword.operator.assignment", "="),
            _match("keyword.operator.arithmetic", _any(operators)),
            _match("punctuation.terminator.statement", ";"),
            _match("punctuation.separator", "[,:]"),
            _match("punctuation.bracket", r"[()\[\]{}]"),
        ],
    }


def configuration() -> dict[str, Any]:
    """Return what VS Code needs to know about comments, brackets and indentation."""
    quotes = ('""', "''")
    return {
        "comments": {"lineComment": "#"},
        "brackets": [list(pair) for pair in BRACKETS],
        "autoClosingPairs": [
            *({"open": a, "close": b} for a, b in BRACKETS),
            *({"open": a, "close": b, "notIn": ["string", "comment"]} for a, b in quotes),
        ],
        "surroundingPairs": [list(pair) for pair in (*BRACKETS, *quotes)],
        "wordPattern": NAME,
        "indentationRules": {
            "increaseIndentPattern": r"^[^#]*\{[^}]*$",
            "decreaseIndentPattern": r"^\s*\}",
        },
    }


def library_names() -> list[str]:
    """Every name that the library defines, private ones left aside."""
    names = Session().library.names
    return sorted(name for name in names if not name.startswith("_") and name not in BUILT_IN_DOCS)


def _match(scope: str, pattern: str) -> dict[str, Any]:
    return {"name": f"{scope}.rasp", "match": pattern}


def _string(quote: str, scope: str) -> dict[str, Any]:
    return {
        "name": f"string.quoted.{scope}.rasp",
        "begin": quote,
        "end": f"{quote}|$",
        "patterns": [
            _match("constant.character.escape", r"\\[\\\"'nt]"),
            _match("invalid.illegal.escape", r"\\."),
        ],
    }


def _any(words: Any) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=lambda each: (-len(each), each)))


def _words(words: Any) -> str:
    return rf"\b(?:{_any(words)})\b"


def _others(words: Any, *without: Any) -> list[str]:
    left_out = {word for each in without for word in each} | {"def"}
    return [word for word in words if word not in left_out]


def _json(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    main()
