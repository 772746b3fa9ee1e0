"""One request in, one answer out, both plain dicts that JSON can hold.

The whole playground behind the page, in a process of its own or under Pyodide. An answer is
what was asked for, or holds `error`: a mistake in RASP's words with a hint.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from rasp.errors import RaspError, RaspUnsupportedError
from rasp.limits import too_deep, too_much_memory
from rasp.playground import (
    cheat_sheet,
    examples,
    explaining,
    gallery,
    generating,
    matrices,
    model_run,
    own_exercises,
    pictures,
    structure,
    teaching,
    trained,
    values,
    weights,
)
from rasp.playground.records import error_record

KINDS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "run": values.run,
    "explain": explaining.explain,
    "flow": pictures.flow,
    "picture": pictures.picture,
    "next_token": generating.next_token,
    "examples": examples.check_examples,
    "edit_token": examples.edit_token,
    "architecture": structure.architecture,
    "fit": structure.fits,
    "dialects": structure.dialect_badges,
    "weights": weights.weights,
    "model_run": model_run.model_run,
    "matrix": matrices.matrix,
    "trained": trained.trained,
    "gallery": gallery.gallery,
    "program": gallery.program,
    "exercises": teaching.exercises,
    "exercise": teaching.exercise,
    "make_exercise": own_exercises.make_exercise,
    "own_exercise": own_exercises.check_own,
    "words": teaching.words,
    "cheat_sheet": cheat_sheet.cheat_sheet,
    "format": teaching.formatted,
}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Answer a request.

    >>> answer({"kind": "format", "program": "x=1 ;"})
    {'program': 'x = 1;\\n'}
    """
    kind = request.get("kind")
    if kind not in KINDS:
        unknown = RaspUnsupportedError(f"there is no request `{kind}`", hint="reload the page")
        return {"error": error_record(unknown)}
    try:
        return KINDS[kind](request)
    except RaspError as error:
        return {"error": error_record(error)}
    except MemoryError:
        weights.compiled.cache_clear()  # models that are kept must not starve the next request
        return {"error": error_record(too_much_memory())}
    except RecursionError:
        return {"error": error_record(too_deep())}


def answer_text(text: str) -> str:
    """Answer a request written as JSON."""
    return json.dumps(answer(json.loads(text)), ensure_ascii=True, separators=(",", ":"))
