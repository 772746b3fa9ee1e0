"""What fuzzing has found in the published grammar stays fixed."""

from __future__ import annotations

from pathlib import Path

import pytest

from rasp.base.source import Source
from rasp.language.syntax import parse

lark = pytest.importorskip("lark", reason="the published grammar is read with lark")

pytestmark = pytest.mark.slow
GRAMMAR = Path(__file__).parents[3] / "src" / "rasp" / "language" / "syntax" / "grammar.lark"


@pytest.mark.parametrize(
    "text",
    ["x, x;", "x, y + 1;", "a, b = 1, 2;", "a # so\n, b = f(x=1);", "def f(a) { return a, a; }"],
)
def test_names_with_commas_are_values_unless_an_equals_sign_follows(text: str) -> None:
    assert parse(Source("it", text))
    lark.Lark(GRAMMAR.read_text(encoding="utf-8"), parser="lalr", lexer="contextual").parse(text)
