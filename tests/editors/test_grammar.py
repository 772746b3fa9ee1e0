"""The TextMate grammar: up to date with the table of words, and it colours as the lexer reads."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String

from rasp.base.source import Source
from rasp.language.syntax.highlight import RaspLexer
from rasp.language.syntax.lexer import lex
from repository import ROOT, script

EXTENSION = ROOT / "editors" / "vscode"
PROGRAMS = [
    *sorted((ROOT / "src" / "rasp").rglob("*.rasp")),
    *sorted((ROOT / "tests" / "programs").rglob("*.rasp")),
]
MAKER = script("make_grammar")
COLOURS = {
    "number": ("constant.numeric",),
    "string": ("string.quoted",),
    "keyword": ("keyword.", "constant.language", "storage.type"),
    "name": ("variable.", "support.", "entity.name.function"),
    "symbol": ("keyword.operator", "punctuation."),
}
PYGMENTS = {
    "number": (Number,),
    "string": (String,),
    "keyword": (Keyword, Operator.Word),
    "name": (Name,),
    "symbol": (Operator, Punctuation),
}


def scopes(text: str, patterns: list[dict[str, Any]]) -> list[str]:
    """Give each character its scope, as an editor does: line by line, the leftmost match first."""
    return [scope for line in text.split("\n") for scope in [*_line(line, patterns), ""]][:-1]


def _line(line: str, patterns: list[dict[str, Any]]) -> list[str]:
    found = [""] * len(line)
    at = 0
    while at < len(line):
        hits = [
            (hit.start(), number, hit, pattern)
            for number, pattern in enumerate(patterns)
            if (hit := re.compile(pattern.get("match") or pattern["begin"]).search(line, at))
        ]
        if not hits:
            break
        _, _, hit, pattern = min(hits, key=lambda each: each[:2])
        end = hit.end()
        if "begin" in pattern:
            inside = "|".join(each["match"] for each in pattern["patterns"])
            end = _string_end(line, end, inside, pattern["end"])
        found[hit.start() : end] = [pattern.get("name", "")] * (end - hit.start())
        for group, capture in pattern.get("captures", {}).items():
            start, stop = hit.span(int(group))
            found[start:stop] = [capture["name"]] * (stop - start)
        at = max(end, at + 1)
    return found


def _string_end(line: str, at: int, inside: str, closing: str) -> int:
    while True:
        end, escape = re.compile(closing).search(line, at), re.compile(inside).search(line, at)
        assert end is not None
        if escape is None or end.start() <= escape.start():
            return end.end()
        at = escape.end()


@pytest.fixture(scope="module")
def patterns() -> list[dict[str, Any]]:
    text = (EXTENSION / "syntaxes" / "rasp.tmLanguage.json").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(text)["patterns"]
    return found


def test_the_files_are_what_the_table_of_words_makes_them() -> None:
    for path, text in MAKER.files().items():
        assert path.read_text(encoding="utf-8") == text, "run: python scripts/make_grammar.py"


def test_every_token_is_coloured_as_what_the_lexer_reads(patterns: list[dict[str, Any]]) -> None:
    for path in PROGRAMS:
        text = path.read_text(encoding="utf-8")
        given = scopes(text, patterns)
        lexed = lex(Source(path.name, text))
        for comment in lexed.comments:
            colours = given[comment.start : comment.end]
            assert all(colour.startswith("comment.") for colour in colours), path
        for token in lexed.tokens[:-1]:
            kinds = COLOURS[token.kind] + (("keyword.",) if token.text in SOFT else ())
            colours = given[token.start : token.end]
            assert all(colour.startswith(kinds) for colour in colours), (path, token)


SOFT = ("load", *MAKER.COMMANDS)


@pytest.mark.parametrize(
    ("line", "word", "scope"),
    [
        ('set example "abc"', "set", "keyword.other.command"),
        ("x = 1; show example", "show", "keyword.other.command"),
        ("set = 3;", "set", "variable.other"),
        ("names;", "names", "keyword.other.command"),
        ('load "file";', "load", "keyword.control.import"),
        ("load = 3;", "load", "variable.other"),
        ("def again(x) { return x; }", "again", "entity.name.function"),
        ("x = not_a_keyword;", "not_a_keyword", "variable.other"),
        ('x = "# no comment";', "# no comment", "string.quoted"),
        ('x = "never closed', "never closed", "string.quoted"),
        ("größe = indices;", "größe", "variable.other"),
    ],
)
def test_words_mean_what_they_mean_where_they_stand(
    line: str, word: str, scope: str, patterns: list[dict[str, Any]]
) -> None:
    start = line.index(word)
    found = scopes(line, patterns)[start : start + len(word)]
    assert all(each.startswith(scope) for each in found), found


def test_pygments_agrees_with_the_lexer_too() -> None:
    for path in PROGRAMS:
        text = path.read_text(encoding="utf-8")
        given = [kind for _, kind, part in RaspLexer().get_tokens_unprocessed(text) for _ in part]
        lexed = lex(Source(path.name, text))
        for comment in lexed.comments:
            assert all(kind in Comment for kind in given[comment.start : comment.end]), path
        for token in lexed.tokens[:-1]:
            for kind in given[token.start : token.end]:
                assert any(kind in wanted for wanted in PYGMENTS[token.kind]), (path, token)


def test_the_extension_names_only_files_that_are_there() -> None:
    package = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    contributed = package["contributes"]
    named = ["extension.js", contributed["languages"][0]["configuration"]]  # main is built of it
    named += [grammar["path"] for grammar in contributed["grammars"]]
    assert all((EXTENSION / name).is_file() for name in named)
    assert contributed["grammars"][0]["scopeName"] == MAKER.grammar()["scopeName"]
    for name, setting in contributed["configuration"]["properties"].items():
        assert f'"{name.split(".")[1]}"' in (EXTENSION / "extension.js").read_text(encoding="utf-8")
        assert setting["default"]
