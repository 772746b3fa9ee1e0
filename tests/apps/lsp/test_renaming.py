"""Renaming keeps the meaning: the renamed program is run, and must give what the old one gave."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pygls", reason="needs the extra `lsp`")

import rasp.teaching.gallery
from rasp.apps.lsp.document import Document
from rasp.apps.lsp.renaming import rename
from rasp.base.errors import RaspError
from rasp.base.source import Source
from rasp.language.graph import Node
from rasp.language.meaning.session import Session
from rasp.language.syntax.bindings import definition_before

pytestmark = pytest.mark.slow

TRICKY = {
    "closures": """
        def outer(x) { def inner(y) { return x + y + later; } later = 10; return inner; }
        later = 5;
        a = outer(1)(2);
    """,
    "a name before and after its own definition": """
        x = 1;
        x = x + 1;
        def f() { x = x + 10; return x; }
        a = f() + x;
    """,
    "the library's name, then one's own": """
        a = length + 1;
        length = length - 1;
        b = length;
    """,
    "loops that read what they bind later": """
        x = 1;
        def f() { for i in [1, 2, 3] { y = x; x = y + i; } return x; }
        a = f() + x;
    """,
    "a loop that may not run": """
        y = 1;
        def f(items) { for i in items { y = i; } return y; }
        a = f([]) + 10 * f([7]);
    """,
    "comprehensions have names of their own": """
        x = 3;
        a = [x + y for x, y in [[1, 2], [3, 4]]];
        b = {x: [y for y in range(x)] for x in range(3)};
        c = x;
    """,
    "keyword arguments": """
        def f(low, high=2) { return low - high; }
        def high(low) { return low; }
        a = f(high=high(low=1), low=5);
    """,
    "recursion and functions as values": """
        def count(n) { return n if n == 0 else 1 + count(n - 1); }
        def twice(f, x) { return f(f(x)); }
        a = twice(count, 3);
    """,
}


def values(text: str) -> dict[str, Any]:
    """Run a program and return what it defines, functions left aside."""
    session = Session()
    session.run(Source("demo", text))
    kinds = (Node, bool, int, str, list, dict)  # equal nodes are one object
    return {name: value for name, value in session.names().items() if isinstance(value, kinds)}


def renamed_everywhere(text: str) -> int:
    """Rename each variable of a text in turn, and compare the values; return how many."""
    document = Document(Source("demo", text))
    before = values(text)
    done = 0
    for occurrence in document.bindings.occurrences:
        definition = definition_before(occurrence)
        if definition is None or definition.place < 0:
            continue
        edits = rename(document, occurrence.start, "fresh_name")
        after = values(apply_edits(document, edits))
        expected = {
            ("fresh_name" if _is_renamed(document, name, occurrence) else name): value
            for name, value in before.items()
        }
        assert after == expected, f"{occurrence.name} at {occurrence.start}"
        done += 1
    return done


def _is_renamed(document: Document, name: str, occurrence: Any) -> bool:
    main = document.bindings.scopes[0][1]
    return name in main.variables and main.variables[name].root is occurrence.variable


def apply_edits(document: Document, edits: list[Any]) -> str:
    text = document.source.text
    for edit in reversed(edits):
        start = document.places.offset(edit.range.start)
        end = document.places.offset(edit.range.end)
        text = text[:start] + edit.new_text + text[end:]
    return text


@pytest.mark.parametrize("text", TRICKY.values(), ids=list(TRICKY))
def test_a_renamed_program_means_the_same(text: str) -> None:
    assert renamed_everywhere(text)


def test_every_name_of_a_gallery_program_can_be_renamed() -> None:
    for name in ("reverse", "dyck3_pure", "long_addition", "set_inference", "most_freq"):
        assert renamed_everywhere(rasp.programs.source(name))


@pytest.mark.parametrize(
    ("text", "at", "new_name", "why"),
    [
        ("x = 1; y = x;", "x", "y", "is taken"),
        ("x = 1; y = tokens + x;", "x", "tokens", "is taken"),
        ("def f(a) { b = a; return b; }", "a", "b", "is taken"),
        ("x = 1;", "x", "else", "cannot be a name"),
        ("x = 1;", "x", "a b", "cannot be a name"),
        ("x = length;", "length", "size", "belongs to the language"),
        ("x = nothing;", "nothing", "y", "no name here"),
        ("x = 1; y = ;", "x", "z", "fix them first"),
        ("def f(a) { return a; } g = f; y = g(a=1);", "a", "b", "some call says `a=`"),
    ],
)
def test_a_rename_that_would_change_the_meaning_is_refused(
    text: str, at: str, new_name: str, why: str
) -> None:
    document = Document(Source("demo", text))
    with pytest.raises(RaspError, match=why):
        rename(document, text.index(at) if at != "a" else text.index("(a") + 1, new_name)
