"""Where runs are kept: finished ones as lines of JSON, unfinished ones as snapshots to go on from.

A folder holds `records.jsonl`, one line for each finished run; `weights/`, the best weights of
each; and `snapshots/`, which come and go. A file is written beside its place and then moved there,
so that a kill at any moment leaves the old one or the new one, never half of one. Records and
tensors have checksums, which are compared when they are read.
"""

from __future__ import annotations

import errno
import hashlib
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from rasp.base.errors import RaspError, RaspLimitError, RaspValueError
from rasp.base.file_reading import ABSENT, file_size, read_part
from rasp.models.training.config import RunConfig, differences
from rasp.models.training.records import Record, is_record, read_records, record_line, without_nan
from rasp.models.training.stack import Progress, Stack
from rasp.models.training.tensors import Damaged, TensorFile, open_tensors, write_tensors

PARTS = ("rows", "first_moment", "second_moment", "best")


@dataclass(frozen=True)
class SavedPlace:
    """An unfinished run's place in a snapshot."""

    snapshot: TensorFile
    model: int
    epoch: int
    progress: Progress


@dataclass(frozen=True)
class Snapshot:
    """A stack between two epochs, on its way to disk."""

    about: dict[str, Any]
    """The epoch, and of each run what it is and how far it is."""
    tensors: Mapping[str, torch.Tensor]


class Store:
    """A folder of runs."""

    def __init__(self, folder: str | os.PathLike[str], records: str = "records.jsonl") -> None:
        self.folder = Path(folder)
        self.path = self.folder / records

    def make_folders(self) -> None:
        """Make the folders to write into, or say why not."""
        try:
            (self.folder / "snapshots").mkdir(parents=True, exist_ok=True)
            (self.folder / "weights").mkdir(exist_ok=True)
        except OSError as error:
            raise _unwritable(self.folder, error) from None

    def records(self) -> dict[str, Record]:
        """Return the finished runs by id. A line that is not a record does not count.

        A kill can cut the last line short, and a stranger's file can hold anything. A record that
        was changed after it was written is refused.
        """
        return read_records(self.path)

    def finished(self, configs: Sequence[RunConfig]) -> dict[str, Record]:
        """Return the records of some runs, those that there are, each with all it should say."""
        records = self.records()
        finished = {config.id: records[config.id] for config in configs if config.id in records}
        for config in configs:
            if config.id in finished and not is_record(finished[config.id], config.content):
                raise RaspValueError(
                    f"the record of `{config.name}` in {self.folder} does not say what a record "
                    "should",
                    hint="was it written by another version, or by hand? take its line out, and "
                    "the run is trained again",
                )
        return finished

    def add_record(self, record: Record) -> None:
        """Append a finished run."""
        self.make_folders()
        path = self.path
        try:
            size = file_size(path) if path.exists() else 0
            torn = size and read_part(path, size - 1, 1) != b"\n"
            with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write("\n" * bool(torn) + record_line(record))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise _unwritable(path, error) from None

    def snapshots(self) -> list[TensorFile]:
        """Return every snapshot, with its header read and checked."""
        return [_snapshot(path)
                for path in sorted((self.folder / "snapshots").glob("*.safetensors"))]  # fmt: skip

    def unfinished(self) -> dict[str, SavedPlace]:
        """Return every run that a snapshot holds, by id: its furthest place."""
        furthest: dict[str, SavedPlace] = {}
        for snapshot in self.snapshots():
            for model, run in enumerate(snapshot.about["runs"]):
                other = furthest.get(run["id"])
                place = SavedPlace(
                    snapshot, model, snapshot.about["epoch"], _progress(run["progress"])
                )
                if other is None or other.epoch < place.epoch:
                    furthest[run["id"]] = place
        return furthest

    def check_names(self, configs: Sequence[RunConfig]) -> None:
        """Raise where a run's name belongs to another configuration here."""
        content_of: dict[str, dict[str, Any]] = {}
        for snapshot in self.snapshots():
            content_of |= {run["name"]: run["config"] for run in snapshot.about["runs"]}
        for record in self.records().values():
            if "name" in record and isinstance(record.get("config"), dict):
                content_of[str(record["name"])] = record["config"]
        for config in configs:
            old = content_of.get(config.name)
            if old is not None and old != config.content:
                changes = "; ".join(differences(old, config.content)) or "the recipe"
                raise RaspValueError(
                    f"the run `{config.name}` in {self.folder} is another one: {changes}",
                    hint="nothing was changed; give the new run another name, or another folder "
                    "with `--results`",
                )

    def save_snapshot(self, snapshot: Snapshot) -> Path:
        """Write a snapshot in place of the stack's last one."""
        self.make_folders()
        ids = "".join(run["id"] for run in snapshot.about["runs"])
        together = hashlib.sha256(ids.encode()).hexdigest()[:16]
        path = self.folder / "snapshots" / f"{together}.safetensors"
        _write(path, snapshot.tensors, without_nan(snapshot.about))
        return path

    def load_part(self, place: SavedPlace, part: str) -> torch.Tensor:
        """Read one model's row from a snapshot."""
        try:
            return place.snapshot.read(f"{place.model}.{part}")
        except Damaged as error:
            raise damaged(place.snapshot.path, str(error)) from None

    def save_weights(self, config: RunConfig, weights: Mapping[str, torch.Tensor]) -> None:
        """Write a finished run's best weights."""
        self.make_folders()
        _write(self.folder / "weights" / f"{config.id}.safetensors", weights, {"name": config.name})

    def load_weights(self, run_id: str) -> dict[str, torch.Tensor] | None:
        """Read a finished run's best weights, if they were kept."""
        path = self.folder / "weights" / f"{run_id}.safetensors"
        try:
            file = open_tensors(path)
            return {name: file.read(name) for name in file.places}
        except ABSENT:
            return None
        except Damaged as error:
            raise RaspValueError(
                f"`{path}` holds no weights that can be read: {error}", hint="train the run again"
            ) from None

    def tidy(self) -> None:
        """Remove snapshots in which every run is finished."""
        finished = self.records()
        for snapshot in self.snapshots():
            if all(run["id"] in finished for run in snapshot.about["runs"]):
                snapshot.path.unlink(missing_ok=True)


def snapshot_of(stack: Stack) -> Snapshot:
    """Copy a stack's state, so that training can go on while it is written."""
    tensors = {}
    for part in PARTS:
        rows = getattr(stack, part).cpu()
        for model in range(len(stack)):
            tensors[f"{model}.{part}"] = stack.own_row(rows, model)
    runs = [
        {"id": config.id, "name": config.name, "config": config.content, "progress": asdict(so_far)}
        for config, so_far in zip(stack.configs, stack.progress, strict=True)
    ]
    return Snapshot({"epoch": stack.epoch, "runs": runs}, tensors)


def restore(stack: Stack, store: Store, places: Sequence[SavedPlace]) -> None:
    """Put a stack where its runs' snapshots left them; all must be at the same epoch."""
    for place, config in zip(places, stack.configs, strict=True):
        if not place.epoch < config.epochs:
            raise damaged(place.snapshot.path, "its run is longer than it should be")
    for part in PARTS:
        own_rows = [store.load_part(place, part) for place in places]
        for place, row, shape in zip(places, own_rows, stack.own_shapes, strict=True):
            if row.shape != (shape.row,):
                raise damaged(place.snapshot.path, "its models have another size")
        getattr(stack, part).copy_(stack.widen(own_rows))
    stack.epoch = places[0].epoch
    stack.steps.fill_(stack.epoch * stack.batches)
    stack.progress = [place.progress for place in places]


def _snapshot(path: Path) -> TensorFile:
    """Read a snapshot's header; everything that it says of its runs is checked here."""
    try:
        snapshot = open_tensors(path)
        runs, epoch = snapshot.about["runs"], snapshot.about["epoch"]
        if type(epoch) is not int or epoch < 1 or not isinstance(runs, list):
            raise Damaged("it says nothing of its epoch and its runs")
        for run in runs:
            if not isinstance(run["id"], str) or not isinstance(run["config"], dict):
                raise Damaged("a run in it has no id or configuration")
            progress = _progress(run["progress"])
            if not isinstance(run["name"], str) or len(progress.loss) != epoch:
                raise Damaged("a run in it has no name, or not as many losses as epochs")
    except Damaged as error:
        raise damaged(path, str(error)) from None
    except (*ABSENT, LookupError, TypeError, ValueError, AttributeError):
        raise damaged(path, "it does not say what a snapshot says") from None
    return snapshot


def _progress(kept: dict[str, Any]) -> Progress:
    """Read a run's progress; a loss that was not a number was written as `null`."""
    loss = [math.nan if number is None else float(number) for number in kept["loss"]]
    validation = [float(number) for number in kept["validation"]]
    best, seconds = kept["best_epoch"], float(kept["seconds"])
    whole = len(loss) == len(validation) and type(best) is int and 0 <= best <= len(loss)
    if not whole or not all(0 <= share <= 1 for share in validation) or not seconds >= 0:
        raise ValueError
    return Progress(loss, validation, best, seconds)


def damaged(path: Path, why: str) -> RaspError:
    return RaspValueError(
        f"`{path}` is not a snapshot that can be read: {why}",
        hint="remove it: its runs then begin again; finished runs are not touched",
    )


def _write(path: Path, tensors: Mapping[str, torch.Tensor], about: dict[str, Any]) -> None:
    try:
        write_tensors(path, tensors, about)
    except OSError as error:
        raise _unwritable(path, error) from None
    except Exception as error:  # the writer's own type for what the system refused
        raise _unwritable(path, OSError(getattr(error, "errno", None), str(error))) from None


def _unwritable(path: Path, error: OSError) -> RaspError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT) or "No space" in str(error):
        return RaspLimitError(
            f"the disk is full: `{path}` could not be written",
            hint="what was written before is still whole; make room and run the same command "
            "again, and it goes on from there",
        )
    return RaspValueError(
        f"`{path}` cannot be written: {(error.strerror or str(error)).lower()}",
        hint="check the folder and its permissions; `--results` names another",
    )
