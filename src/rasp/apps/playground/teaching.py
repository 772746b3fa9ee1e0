"""The exercises and the words of the language, as the page lists them; answers are checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rasp.apps.playground.budgets import AT_RANDOM, EXHAUSTIVE, LIMITS, LONGEST_DRAWN
from rasp.apps.playground.exercises import EXERCISES, Lesson, find_exercise
from rasp.apps.playground.gallery_list import FROM_GALLERY, check_entry, wrong
from rasp.apps.playground.requests import find_s_op, run_text
from rasp.apps.playground.shown import name_record
from rasp.base.source import Source
from rasp.insight.equivalence import Equivalence, equivalent
from rasp.insight.equivalence.tried_inputs import InputsToTry
from rasp.language.embedding.handles import Handle
from rasp.language.meaning.session import Session
from rasp.language.meaning.shown_values import show_answer
from rasp.language.syntax import format_program
from rasp.language.words import BUILT_IN_DOCS, KEYWORDS
from rasp.teaching import gallery as programs


def exercises(request: dict[str, Any]) -> dict[str, Any]:
    """List the exercises in the order in which they teach."""
    return {"exercises": [vars(lesson) | {"shows": _shows(lesson)} for lesson in EXERCISES]}


def _shows(lesson: Lesson) -> list[dict[str, str]]:
    solution = find_s_op(run_text(lesson.solution), lesson.output)
    return [{"input": given, "answer": show_answer(solution(given))} for given in lesson.shown]


def exercise(request: dict[str, Any]) -> dict[str, Any]:
    """Check an answer to an exercise: right on every small input, or wrong on a shortest one."""
    name, ran = str(request.get("name")), run_text(request.get("program"))
    if name.startswith(FROM_GALLERY):
        entry = programs.entry(name.removeprefix(FROM_GALLERY))
        return check_entry(entry, find_s_op(ran, entry.name).node)
    asked = find_exercise(name)
    solution = find_s_op(run_text(asked.solution), asked.output)
    return told(compare(find_s_op(ran, asked.output), solution, asked.alphabet))


def compare(answer: Handle, wanted: Handle, alphabet: Sequence[Any]) -> Equivalence:
    """Compare an answer with what is asked for: on all small inputs, and on some larger ones."""
    return equivalent(
        answer,
        wanted,
        alphabet=alphabet,
        max_length=max(1, InputsToTry(tuple(alphabet)).longest(None, EXHAUSTIVE, EXHAUSTIVE)),
        random=AT_RANDOM,
        random_length=LONGEST_DRAWN,
    )


def told(verdict: Equivalence) -> dict[str, Any]:
    """Say what came of a comparison."""
    difference = verdict.difference
    if difference is None:
        return {"is_right": True, "proof": proof(verdict)}
    return wrong(difference.input, difference.left, difference.right, difference.is_shortest)


def proof(verdict: Equivalence) -> str:
    """Say on how many inputs an answer was tested."""
    if verdict.same_graph:
        return "right on every input: it computes what the author's does"
    return (
        f"right on all {verdict.tested:,} inputs up to length {verdict.all_up_to}"
        f" and on {verdict.at_random:,} longer ones"
    )


def words(request: dict[str, Any]) -> dict[str, Any]:
    """List every word that the editor can complete, with what it is for."""
    session = Session(LIMITS)
    keywords = [{"name": word, "kind": "keyword", "detail": "", "doc": ""} for word in KEYWORDS]
    names = sorted({*session.library.every_name(), *BUILT_IN_DOCS})
    return {"words": [*keywords, *(name_record(name, session) for name in names)]}


def formatted(request: dict[str, Any]) -> dict[str, Any]:
    """Format a program."""
    return {"program": format_program(Source("program", str(request.get("program"))), LIMITS)}
