"""One request in, one answer out, both plain dicts that JSON can hold.

The whole playground behind the page, in a process of its own or under Pyodide. An answer is
what was asked for, or holds `error`: a mistake in RASP's words with a hint.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from rasp.apps.playground import (
    cell_links,
    cell_values,
    cheat_sheet,
    examples,
    flow_pictures,
    gallery_list,
    matrices,
    model_run,
    next_token_page,
    own_exercises,
    structure,
    teaching,
    trained,
    weights,
)
from rasp.apps.playground.page_records import error_record
from rasp.base.errors import RaspError, RaspUnsupportedError
from rasp.base.limits import too_deep, too_much_memory

KINDS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "run": cell_values.run,
    "explain": cell_links.explain,
    "flow": flow_pictures.flow,
    "picture": flow_pictures.picture,
    "next_token": next_token_page.next_token,
    "examples": examples.check_examples,
    "edit_token": examples.edit_token,
    "architecture": structure.architecture,
    "fit": structure.fits,
    "dialects": structure.dialect_badges,
    "weights": weights.weights,
    "model_run": model_run.model_run,
    "matrix": matrices.matrix,
    "trained": trained.trained,
    "gallery": gallery_list.gallery,
    "program": gallery_list.program,
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
