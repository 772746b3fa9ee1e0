"""A finished run as data, and as a line of JSON: read with its types, so that nothing is missing.

A loss that is not a number (its run diverged) is `null`, since JSON has no NaN. Reading needs the
extra `models`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rasp.base.errors import RaspError, RaspValueError
from rasp.base.file_reading import ABSENT, read_file
from rasp.models.training.config import RunConfig, read_config

LARGEST_RECORDS = 1_000_000_000


@dataclass(frozen=True)
class Shares:
    """How well a run does: right tokens, and wholly right inputs."""

    tokens: float
    sequences: float


@dataclass(frozen=True)
class Curves:
    """A number per epoch; `None` where a loss was not a number."""

    loss: list[float | None]
    validation: list[float]


@dataclass(frozen=True)
class SelectorMatch:
    """A selector of the program, and the head that imitates it best; layers and heads from 1."""

    selector: str
    program: tuple[int, int]
    model: tuple[int, int]
    agreement: float
    uniform: float
    """The agreement that uniform attention would reach."""
    swapped: float
    """The accuracy with the selection in the head's place."""


@dataclass(frozen=True)
class Match:
    """How a model's attention agrees with the program's selections."""

    inputs: int
    agreement: float
    accuracy: float
    swapped: float
    selectors: list[SelectorMatch]


@dataclass(frozen=True)
class Record:
    """Everything about a finished run."""

    id: str
    name: str
    config: dict[str, Any]
    best_epoch: int
    test: Shares
    longer: Shares
    curves: Curves
    seconds: float = 0.0
    versions: dict[str, str] | None = None
    machine: dict[str, str] | None = None
    match: Match | None = None
    diverged: int = 0
    """The first epoch whose loss is not a number; 0 where there is none."""

    @property
    def run(self) -> RunConfig:
        """The configuration that was trained."""
        return read_config(self.name, self.config)


def record_line(record: Record) -> bytes:
    """Write a record as one line."""
    import msgspec

    return msgspec.json.encode(record) + b"\n"


def read_records(path: Path, is_strict: bool = True) -> dict[str, Record]:
    """Return the records of a file by id; of no file none.

    A kill can cut a line short, so a line that is not JSON does not count. JSON that is not a
    record is an error; without `is_strict`, it is skipped.
    """
    import msgspec

    try:
        lines = read_file(path, LARGEST_RECORDS, "a file of records").splitlines()
    except ABSENT:
        return {}
    decoder = msgspec.json.Decoder(Record)
    records: dict[str, Record] = {}
    for number, line in enumerate(lines, 1):
        try:
            record = decoder.decode(line)
        except msgspec.ValidationError as error:
            if is_strict:
                raise _wrong(path, number, str(error)) from None
            continue
        except (msgspec.DecodeError, RecursionError):
            continue
        records[record.id] = record
    return records


def _wrong(path: Path, number: int, why: str) -> RaspError:
    return RaspValueError(
        f"`{path}`, line {number}: this is not the record of a run: {why[0].lower()}{why[1:]}",
        hint="take the line out, and that run is trained again",
    )
