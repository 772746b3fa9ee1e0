"""A next-token program and what there is so far in, the next token and the longer example out.

One step is one request, so that the page can show how each token came about.
"""

from __future__ import annotations

from typing import Any

from rasp.apps.playground.requests import example_text, find_handle, read_example, run_text
from rasp.insight.generation import steps


def next_token(request: dict[str, Any]) -> dict[str, Any]:
    """Append the value at the last position to the example, unless it ends the generation.

    >>> asked = {"program": "next = length;", "name": "next", "example": "ab"}
    >>> next_token(asked)
    {'token': '2', 'example': 'ab2'}
    >>> next_token(asked | {"program": 'next = "" if length > 1 else tokens;'})
    {'token': None, 'example': 'ab'}
    """
    handle = find_handle(run_text(request.get("program")), request.get("name"))
    tokens = read_example(request.get("example"))
    [step] = steps(handle, list(tokens), most=1)
    longer = tokens if step.token is None else (*tokens, step.token)
    text = example_text(longer)
    read_example(text)
    return {"token": None if step.token is None else str(step.token), "example": text}
