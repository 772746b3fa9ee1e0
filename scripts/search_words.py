"""The items of the site's search in, better ones out: each name of the language is one of them.

Without that, a name is found where it occurs most often, which is on a page of error messages.
"""

from __future__ import annotations

from html import escape
from typing import Any

import rasp
from rasp.language.meaning.session import Session
from rasp.language.words import BUILT_IN_DOCS

PAGES = {
    "install": ("pip install, and the first program", "start.html"),
    "compile": ("rasp compile: a program becomes the weights of a transformer", "compiling.html"),
    "verify": ("rasp verify: check the certificate of a model", "compiling.html"),
    "export": ("rasp export: to torch, Hugging Face, ONNX and others", "compiling.html"),
    "arch": ("rasp arch: layers and heads, and why", "architecture.html"),
    "fit": ("rasp fit: does a program fit a given transformer?", "architecture.html"),
    "train": ("rasp train: a transformer of the predicted size", "training.html"),
    "diff": ("rasp diff: are two programs the same?", "equivalence.html"),
    "grade": ("rasp grade: marks for a folder of submissions", "grading.html"),
    "generate": ("rasp generate: next-token programs", "generating.html"),
    "playground": ("rasp play: RASP in the browser", "playground.html"),
    "s-op": ("a sequence operator: one value for each position", "language.html"),
}
"""What people look for, what it is, and the page about it."""
Item = dict[str, Any]
PAGE = "language.html"
ERROR = "An error, explained"
LIBRARY = "language.html#the-library"


def improved(items: list[Item]) -> list[Item]:
    """Add the names of the language; a message of an error is found by its text, not its title."""
    kept = [
        item
        | {"title": ERROR, "text": f"<p>{escape(item['title'], quote=False)}</p>{item['text']}"}
        if item["location"].startswith("errors/") and "#" in item["location"]
        else item
        for item in items
    ]
    return [*_names(items), *kept]


def _names(items: list[Item]) -> list[Item]:
    sections = [item for item in items if item["location"].startswith(f"{PAGE}#")]
    session = Session()
    library = {name: (session.doc(name), LIBRARY) for name in rasp.lib.__all__}
    built_in = {name: (doc, _section_of(name, sections)) for name, doc in BUILT_IN_DOCS.items()}
    return [
        {
            "location": place, "level": 1, "title": name, "tags": [], "path": [],
            "text": f"<p>{escape(doc, quote=False)}</p>",
        }
        for name, (doc, place) in sorted((PAGES | library | built_in).items())
    ]  # fmt: skip


def _section_of(name: str, sections: list[Item]) -> str:
    """Return the first section of the language that speaks of a name."""
    speaking = (item["location"] for item in sections if f"<code>{name}" in item["text"])
    return next(speaking, PAGE)
