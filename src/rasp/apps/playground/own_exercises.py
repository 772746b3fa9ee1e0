"""Exercises of one's own: an author's program and settings in, a task that a link can hold out.

What students must not read at a glance (the reference program and the hidden inputs) is packed
into one opaque text. It is not a secret from somebody who is determined to unpack it: grade with
`rasp grade` where that matters.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

from rasp.apps.playground.budgets import LARGEST_TASK, MOST_EXAMPLES
from rasp.apps.playground.gallery_list import wrong
from rasp.apps.playground.requests import find_s_op, read_example, read_number, read_word, run_text
from rasp.apps.playground.teaching import compare, told
from rasp.base.errors import RaspError, RaspLimitError, RaspValueError
from rasp.base.input_text import read_alphabet
from rasp.insight.schedule import schedule
from rasp.language.embedding.handles import Handle
from rasp.language.meaning.shown_values import show_answer

MOST_LAYERS = 1_000
USUAL_TITLE = "An exercise"


def make_exercise(request: dict[str, Any]) -> dict[str, Any]:
    """Check an author's exercise, and pack what students should not see.

    `name` is the s-op asked for, the program on the page its reference; `tests` are hidden inputs
    and `shown` open ones, one a line.
    """
    output = str(request.get("name"))
    reference = find_s_op(run_text(request.get("program")), output)
    limit = read_number(request.get("layers"), "the number of layers", 0, MOST_LAYERS)
    needed = schedule([reference.node]).layers
    if limit is not None and needed > limit:
        raise RaspValueError(
            f"your own `{output}` needs {needed} layers, more than the limit of {limit}",
            hint="raise the limit, or save a layer yourself",
        )
    alphabet = read_word(request, "alphabet") or "abc"
    read_alphabet(alphabet)
    tests, shown = _lines(request, "tests"), _lines(request, "shown")
    for text in tests:
        reference(list(read_example(text)))
    hidden = {"reference": request.get("program"), "output": output, "alphabet": alphabet,
              "layers": limit, "tests": tests}  # fmt: skip
    return {
        "title": read_word(request, "title") or USUAL_TITLE,
        "story": (read_word(request, "story") or f"Write `{output}`.").split("\n"),
        "output": output,
        "layers": limit,
        "shows": [{"input": text, "answer": _answer(reference, text)} for text in shown],
        "hidden": _packed(hidden),
    }


def check_own(request: dict[str, Any]) -> dict[str, Any]:
    """Check a student's answer: too deep, wrong on a shortest input, or right as far as tested."""
    task = _unpacked(request.get("hidden"))
    output = str(task.get("output"))
    answer = find_s_op(run_text(request.get("program")), output)
    limit, needed = task.get("layers"), schedule([answer.node]).layers
    if isinstance(limit, int) and needed > limit:
        return {"is_right": False, "layers": needed, "limit": limit}
    reference = find_s_op(run_text(task.get("reference")), output)
    alphabet = read_alphabet(str(task.get("alphabet")))
    verdict = compare(answer, reference, list(alphabet))
    if verdict.difference is not None:
        return told(verdict)
    for text in sorted(map(str, task.get("tests") or []), key=len):
        given = list(read_example(text))
        wanted = reference(given)
        try:
            answered: Any = answer(given)
        except RaspError as error:
            answered = error
        if answered != wanted:
            return wrong(given, answered, wanted, False)
    return told(verdict)


def _answer(handle: Handle, text: str) -> str:
    return show_answer(handle(list(read_example(text))))


def _lines(request: dict[str, Any], field: str) -> list[str]:
    text = read_word(request, field) or ""
    return [line.strip() for line in text.split("\n") if line.strip()][:MOST_EXAMPLES]


def _packed(task: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(zlib.compress(json.dumps(task).encode(), 9)).decode()


def _unpacked(text: object) -> dict[str, Any]:
    """Read a packed task; one that inflates to more than a page may hold is refused early."""
    try:
        reader = zlib.decompressobj()
        raw = reader.decompress(base64.urlsafe_b64decode(str(text)), LARGEST_TASK)
        task = json.loads(raw)
    except (ValueError, zlib.error, RecursionError):
        raise RaspLimitError(
            "this link holds no exercise that can be read", hint="ask its author for the whole link"
        ) from None
    return task if isinstance(task, dict) else {}
