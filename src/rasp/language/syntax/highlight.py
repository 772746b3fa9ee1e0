"""A Pygments lexer for RASP, made from the word table; prompts and docs use it."""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

from rasp.language.words import BUILT_IN_DOCS, CONSTANTS, KEYWORDS, WORD_OPERATORS


class RaspLexer(RegexLexer):
    """Colours RASP."""

    name = "RASP"
    aliases: ClassVar = ["rasp"]
    filenames: ClassVar = ["*.rasp"]
    url = ""
    version_added = ""
    tokens: ClassVar = {
        "root": [
            (r"\s+", Whitespace),
            (r"#[^\n]*", Comment.Single),
            (words(CONSTANTS, prefix=r"\b", suffix=r"\b"), Keyword.Constant),
            (words(WORD_OPERATORS, prefix=r"\b", suffix=r"\b"), Operator.Word),
            (words(KEYWORDS, prefix=r"\b", suffix=r"\b"), Keyword),
            (words(tuple(BUILT_IN_DOCS), prefix=r"\b", suffix=r"\b"), Name.Builtin),
            (r"\d+(\.\d+)?([eE][+-]?\d+)?", Number),
            (r'"(\\.|[^"\\\n])*"', String.Double),
            (r"'(\\.|[^'\\\n])*'", String.Single),
            (r"[^\W\d]\w*(?=\s*\()", Name.Function),
            (r"[^\W\d]\w*", Name),
            (r"==|!=|<=|>=|//|[-+*/%^<>=]", Operator),
            (r"[()\[\]{},;:]", Punctuation),
        ]
    }
