"""A program's text and an input in, its values and its mistakes out, all of it plain data."""

from __future__ import annotations

from typing import Any

from rasp.base.atoms import read_input
from rasp.base.errors import RaspError, error_record
from rasp.base.limits import Limits
from rasp.base.source import Source
from rasp.language.embedding.handles import Handle
from rasp.language.graph import Node, SOp
from rasp.language.meaning.loader import Loader
from rasp.language.meaning.session import Session

MOST_NAMES = 1_000
"""Names that one request is told the values of."""


def run_program(request: dict[str, Any]) -> dict[str, Any]:
    """Run a text, apply what it defines, and say what went wrong.

    >>> run_program({"text": "double = indices * 2; x = 1 / 0;", "given": "ab"})["values"]
    {'double': [0, 2]}
    """
    limits = Limits(**request.get("limits", {}))
    folder = request.get("folder")
    loader = Loader(root=folder, enabled=folder is not None)
    session = Session(limits, loader=loader)
    _, errors = session.check(Source("program", request["text"]))
    answer: dict[str, Any] = {"values": {}, "errors": [error_record(error) for error in errors]}
    if request.get("given") is not None:
        _apply(answer, session, request["given"], request.get("names"))
    return answer


def _apply(
    answer: dict[str, Any], session: Session, given: object, wanted: list[str] | None
) -> None:
    """Add the values of the names that are wanted, or of every s-op that the program defines."""
    own = session.names()
    s_ops = [name for name, value in own.items() if isinstance(value, SOp)]
    try:
        tokens = list(read_input(given, session.limits))
        for name in (s_ops if wanted is None else wanted)[:MOST_NAMES]:
            value = own[name] if name in own else session.find(name)
            if isinstance(value, Node):
                handle = Handle(value, session.program_of(name), limits=session.limits)
                answer["values"][name] = handle(tokens)
    except RaspError as error:
        answer["errors"].append(error_record(error))
