"""The exercises and the words of the language, as the page lists them; answers are checked."""

from __future__ import annotations

from typing import Any

from rasp import programs
from rasp.equivalence import Verdict, equivalent
from rasp.equivalence.verdict import show_answer
from rasp.errors import RaspTypeError
from rasp.frontend.calls import signature
from rasp.frontend.session import Session
from rasp.frontend.values import BuiltIn, Function, kind_name
from rasp.graph import SOp
from rasp.playground.budgets import AT_RANDOM, EXHAUSTIVE, LIMITS, LONGEST_DRAWN
from rasp.playground.exercises import EXERCISES, Exercise, find_exercise
from rasp.playground.gallery import FROM_GALLERY, check_entry
from rasp.playground.requests import example_text, find_handle, run_text
from rasp.source import Source
from rasp.syntax import format_program
from rasp.words import BUILT_IN_DOCS, KEYWORDS


def exercises(request: dict[str, Any]) -> dict[str, Any]:
    """List the exercises in the order in which they teach."""
    return {
        "exercises": [
            {
                "name": each.name,
                "title": each.title,
                "story": list(each.story),
                "shows": [
                    {"input": given, "answer": show_answer(each.specification(list(given)))}
                    for given in each.shown
                ],
                "start": each.start,
                "example": each.example,
                "output": each.output,
                "hints": list(each.hints),
                "solution": each.solution,
            }
            for each in EXERCISES
        ]
    }


def exercise(request: dict[str, Any]) -> dict[str, Any]:
    """Check an answer to an exercise: right on every small input, or wrong on a shortest one."""
    name = str(request.get("name"))
    is_from_gallery = name.startswith(FROM_GALLERY)
    if is_from_gallery:
        entry = programs.entry(name.removeprefix(FROM_GALLERY))
        output = entry.name
    else:
        asked = find_exercise(name)
        output = asked.output
    handle = find_handle(run_text(request.get("program")), output)
    if not isinstance(handle.node, SOp):
        raise RaspTypeError(
            f"`{output}` is a {kind_name(handle.node)}, but should be an s-op",
            hint="use the selector in `aggregate` or `selector_width` to make an s-op",
        )
    return check_entry(entry, handle.node) if is_from_gallery else check(asked, handle)


def check(asked: Exercise, handle: object) -> dict[str, Any]:
    """Compare an answer with what is asked for."""
    verdict = equivalent(
        handle,
        asked.specification,
        alphabet=asked.alphabet,
        max_length=longest_tried(len(asked.alphabet)),
        random=AT_RANDOM,
        random_length=LONGEST_DRAWN,
    )
    if verdict.difference is None:
        return {"is_right": True, "proof": proof(verdict)}
    difference = verdict.difference
    return {
        "is_right": False,
        "input": example_text(difference.input),
        "got": show_answer(difference.left),
        "wanted": show_answer(difference.right),
        "is_shortest": difference.is_shortest,
    }


def proof(verdict: Verdict) -> str:
    """Say on how many inputs an answer was tried."""
    return (
        f"right on all {verdict.tried:,} inputs up to length {verdict.all_up_to}"
        f" and on {verdict.at_random:,} longer ones"
    )


def longest_tried(letters: int) -> int:
    """How long inputs can be so that all of them can be tried.

    >>> longest_tried(2), longest_tried(3)
    (10, 7)
    """
    length = 1
    while sum(letters**each for each in range(1, length + 2)) <= EXHAUSTIVE:
        length += 1
    return length


def words(request: dict[str, Any]) -> dict[str, Any]:
    """List every word that the editor can complete, with what it is for."""
    session = Session(LIMITS)
    found = [{"name": word, "kind": "keyword", "detail": "", "doc": ""} for word in KEYWORDS]
    for name in sorted({*session.library.every_name(), *BUILT_IN_DOCS}):
        value = session.scope.find(name)
        is_function = isinstance(value, (Function, BuiltIn))
        found.append(
            {
                "name": name,
                "kind": kind_name(value),
                "detail": signature(value) if is_function else "",
                "doc": session.doc(name),
            }
        )
    return {"words": found}


def formatted(request: dict[str, Any]) -> dict[str, Any]:
    """Lay a program out."""
    return {"program": format_program(Source("program", str(request.get("program"))), LIMITS)}
