"""A finished run's record in, a line of JSON out, and back: checked before anybody uses it.

A record's line carries its checksum. What is not a number (the loss of a run that
diverged) is `null`, since JSON knows no NaN.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from rasp.base.errors import RaspValueError
from rasp.base.file_reading import ABSENT, fingerprint, parse_json, read_file

Record = dict[str, Any]
LARGEST_RECORDS = 1_000_000_000


class Changed(ValueError):
    """A record that is not what was written."""


def record_line(record: Record) -> str:
    """Write a record as one line, with its checksum.

    >>> line = record_line({"id": "a", "loss": [0.5, float("nan")]})
    >>> read_record(line)
    {'id': 'a', 'loss': [0.5, None]}
    >>> read_record(line.replace("0.5", "0.4"))
    Traceback (most recent call last):
    rasp.models.training.records.Changed
    """
    finite: Record = without_nan(record)
    return json.dumps(finite | {"checksum": _checksum(finite)}, ensure_ascii=False) + "\n"


def read_record(line: str | bytes) -> Record:
    """Read a line; `ValueError` where it is not a record, `Changed` where the checksum differs."""
    record = parse_json(line)
    if not isinstance(record, dict) or not isinstance(record.get("id"), str):
        raise ValueError
    if record.pop("checksum", _checksum(record)) != _checksum(record):
        raise Changed
    return record


def read_records(path: Path) -> dict[str, Record]:
    """Return the records of a file by id, of no file none.

    A line that is not a record does not count. A record that was changed after it was written is
    refused.
    """
    try:
        lines = read_file(path, LARGEST_RECORDS).splitlines()
    except ABSENT:
        return {}
    records: dict[str, Record] = {}
    for number, line in enumerate(lines, 1):
        try:
            record = read_record(line)
        except Changed:
            raise RaspValueError(
                f"`{path}`, line {number}: this record was changed after it was written",
                hint="its checksum is another one: take the line out, and the run is trained again",
            ) from None
        except ValueError:
            continue
        records[record["id"]] = record
    return records


def _checksum(record: Record) -> str:
    kept = {key: value for key, value in record.items() if key != "checksum"}
    return fingerprint(json.dumps(kept, sort_keys=True))


def without_nan(value: Any) -> Any:
    """Return JSON-able data with None where a float is not a number.

    >>> without_nan({"loss": [1.0, float("inf")]})
    {'loss': [1.0, None]}
    """
    match value:
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {key: without_nan(item) for key, item in value.items()}
        case list() | tuple():
            return [without_nan(item) for item in value]
    return value


def is_record(record: Record, config: dict[str, Any]) -> bool:
    """Tell whether a record says everything that tables and pictures read from it."""
    try:
        curves, match = record["curves"], record.get("match", {})
        epochs = len(curves["loss"])
        return (
            isinstance(record["name"], str)
            and record["config"] == config
            and _is_count(record["best_epoch"], epochs)
            and _is_count(record.get("diverged", 0), epochs)
            and all(_is_share(record[split][what])
                    for split in ("test", "longer") for what in ("tokens", "sequences"))
            and all(loss is None or _is_number(loss) for loss in curves["loss"])
            and all(map(_is_share, curves["validation"]))
            and len(curves["validation"]) == epochs
            and all(_is_number(match.get(what) or 0) for what in ("agreement", "swapped"))
            and all(map(_is_match, match.get("selectors", ())))
        )  # fmt: skip
    except (LookupError, TypeError, AttributeError):
        return False


def _is_match(selector: Any) -> bool:
    layer, head = selector["model"]
    numbers = (layer, head, *(selector[what] for what in ("agreement", "uniform", "swapped")))
    return isinstance(selector["selector"], str) and all(map(_is_number, numbers))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _is_share(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= 1


def _is_count(value: Any, most: int) -> bool:
    return type(value) is int and 0 <= value <= most
