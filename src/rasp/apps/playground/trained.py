"""A program's s-op in, the records of models that were trained on that very s-op out.

Records lie where `rasp play` was started, in `results/records.jsonl`. The s-op of a record is
the same one if both are one graph, whatever their names.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rasp.apps.playground.requests import find_handle, run_text
from rasp.base.errors import RaspError

if TYPE_CHECKING:
    from rasp.models.training.records import Record

MOST_SHOWN = 12


def trained(request: dict[str, Any]) -> dict[str, Any]:
    """List the trained models of an s-op, the most accurate first."""
    handle = find_handle(run_text(request.get("program")), request.get("name"))
    is_same: dict[tuple[str, str], bool] = {}
    summaries = []
    for record in _records(request.get("records")):
        with contextlib.suppress(LookupError, TypeError, ValueError, AttributeError):  # no record
            task = record.config["task"]
            key = (task["program"], task["output"])
            if key not in is_same:
                is_same[key] = _makes(handle.node, *key)
            if is_same[key]:
                summaries.append(_summary(record))
    summaries.sort(key=lambda summary: -summary["tokens"])
    return {"trained": summaries[:MOST_SHOWN]}


def _records(path: object) -> Iterable[Record]:
    """Read the records, if there are any."""
    if not isinstance(path, str):
        return ()
    with contextlib.suppress(RaspError, ImportError):  # the edition in a tab has no records
        from rasp.models.training.records import read_records

        return read_records(Path(path), is_strict=False).values()
    return ()


def _makes(node: object, program: str, output: str) -> bool:
    try:
        return find_handle(run_text(program), output).node is node
    except RaspError:
        return False


def _summary(record: Record) -> dict[str, Any]:
    config = record.config
    return {
        "name": record.name,
        "layers": config["layers"],
        "heads": config["heads"],
        "width": config["width"],
        "epochs": config["epochs"],
        "tokens": record.test.tokens,
        "sequences": record.test.sequences,
        "longer": record.longer.tokens,
    }
