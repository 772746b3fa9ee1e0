"""The gallery's programs, as the page lists them; each is an exercise too."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

from rasp.apps.playground.budgets import AT_RANDOM, EXHAUSTIVE, LONGEST_DRAWN
from rasp.apps.playground.requests import example_text
from rasp.base.atoms import read_input
from rasp.insight.equivalence.sides import Compared
from rasp.language.graph import Node
from rasp.language.meaning.shown_values import show_answer
from rasp.teaching import gallery as programs
from rasp.teaching.gallery.catalogue import Entry
from rasp.teaching.gallery.gallery_check import random_inputs

FROM_GALLERY = "gallery:"
"""Before the name of a gallery program, where it is an exercise."""


def gallery(request: dict[str, Any]) -> dict[str, Any]:
    """List the programs of the gallery, family by family."""
    return {
        "families": [
            {
                "family": family,
                "programs": [
                    {
                        "name": entry.name,
                        "summary": entry.summary,
                        "heads_per_layer": list(entry.heads_per_layer),
                    }
                    for entry in entries
                ],
            }
            for family, entries in programs.families().items()
        ]
    }


def program(request: dict[str, Any]) -> dict[str, Any]:
    """Return one program of the gallery, with an example it is for."""
    entry = programs.entry(str(request.get("name")))
    example = example_text(entry.example)
    heading = takewhile(lambda line: line.startswith("#"), entry.source.text.splitlines())
    return {
        "name": entry.name,
        "program": entry.source.text,
        "example": example,
        "exercise": {
            "name": f"{FROM_GALLERY}{entry.name}",
            "title": f"Write {entry.name} yourself",
            "story": [" ".join(line.lstrip("# ") for line in heading)],
            "shows": [{"input": example, "answer": _answer_to_example(entry)}],
            "start": f"{entry.name} = tokens;\n",
            "example": example,
            "output": entry.name,
            "hints": [],
            "solution": entry.source.text,
        },
    }


def _answer_to_example(entry: Entry) -> str:
    return show_answer(entry.wanted(read_input(entry.example)))


def wrong(given: object, answered: Any, wanted: Any, is_shortest: bool) -> dict[str, Any]:
    """Say of an answer on which input it is wrong."""
    return {
        "is_right": False,
        "input": example_text(given),
        "got": show_answer(answered),
        "wanted": show_answer(wanted),
        "is_shortest": is_shortest,
    }


def check_entry(entry: Entry, node: Node) -> dict[str, Any]:
    """Compare an answer with a gallery program's specification, on the inputs it is for."""
    tiny = [read_input(tokens) for tokens in entry.inputs.tiny(EXHAUSTIVE)]
    drawn = [read_input(tokens) for tokens in random_inputs(entry, AT_RANDOM, LONGEST_DRAWN)]
    pair = Compared(node, entry.wanted)
    for at, (tokens, (answered, wanted)) in enumerate(
        zip([*tiny, *drawn], pair.answers([*tiny, *drawn]), strict=True)
    ):
        if not pair.agree(answered, wanted):
            return wrong(list(tokens), answered, wanted, at < len(tiny))
    longest = max(map(len, tiny), default=0)
    proof = f"right on all {len(tiny):,} inputs up to length {longest} and on {len(drawn)} longer"
    return {"is_right": True, "proof": proof + " ones"}
