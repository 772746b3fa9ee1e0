"""Where runs are kept: finished ones as lines of JSON, unfinished ones as snapshots to go on from.

A folder holds `records.jsonl`, one line for each finished run; `weights/`, the best weights of
each; and `snapshots/`, which come and go. A file is written beside its place and then moved there,
so that a kill at any moment leaves the old one or the new one, never half of one.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from rasp.errors import RaspError, RaspLimitError, RaspValueError
from rasp.replacing import replacing
from rasp.training.config import RunConfig, differences
from rasp.training.stack import Progress, Stack

Record = dict[str, Any]
LARGEST_RECORDS = 1_000_000_000
PARTS = ("rows", "first_moment", "second_moment", "best")


@dataclass(frozen=True)
class Place:
    """An unfinished run's place in a snapshot."""

    path: Path
    model: int
    epoch: int
    progress: Progress


@dataclass(frozen=True)
class Snapshot:
    """A stack between two epochs, on its way to disk."""

    names: tuple[str, ...]
    contents: tuple[dict[str, Any], ...]
    ids: tuple[str, ...]
    epoch: int
    progress: tuple[Progress, ...]
    tensors: Mapping[str, torch.Tensor]


class Store:
    """A folder of runs."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def make_folders(self) -> None:
        """Make the folders to write into, or say why not."""
        try:
            (self.folder / "snapshots").mkdir(parents=True, exist_ok=True)
            (self.folder / "weights").mkdir(exist_ok=True)
        except OSError as error:
            raise _unwritable(self.folder, error) from None

    def records(self) -> dict[str, Record]:
        """Return the finished runs by id. A line that is no record does not count.

        A kill can cut the last line short, and a stranger's file can hold anything.
        """
        path = self.folder / "records.jsonl"
        if not path.is_file():
            return {}
        if path.stat().st_size > LARGEST_RECORDS:
            raise RaspValueError(
                f"`{path}` is too large to be records of runs",
                hint="is it one of ours? give another folder with `--results`",
            )
        found: dict[str, Record] = {}
        for line in path.read_bytes().splitlines():
            try:
                record = json.loads(line)
                found[str(record["id"])] = record
            except (ValueError, TypeError, KeyError, IndexError, RecursionError):
                continue
        return found

    def add_record(self, record: Record) -> None:
        """Append a finished run."""
        self.make_folders()
        path = self.folder / "records.jsonl"
        line = json.dumps(record, ensure_ascii=False) + "\n"
        try:
            torn = path.exists() and not path.read_bytes().endswith(b"\n")
            with path.open("a", encoding="utf-8") as file:
                file.write("\n" + line if torn and path.stat().st_size else line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise _unwritable(path, error) from None

    def unfinished(self) -> dict[str, Place]:
        """Return every run that a snapshot holds, by id: its furthest place."""
        found: dict[str, Place] = {}
        for path in sorted((self.folder / "snapshots").glob("*.safetensors")):
            about = _about(path)
            for model, each in enumerate(about["runs"]):
                try:
                    place = Place(path, model, about["epoch"], Progress(**each["progress"]))
                    known = found.get(each["id"])
                except (TypeError, KeyError):
                    raise _damaged(path) from None
                if known is None or known.epoch < place.epoch:
                    found[each["id"]] = place
        return found

    def check_names(self, configs: Sequence[RunConfig]) -> None:
        """Raise where a run's name stands for another configuration here."""
        known: dict[str, dict[str, Any]] = {}
        for path in (self.folder / "snapshots").glob("*.safetensors"):
            known |= {each["name"]: each["config"] for each in _about(path)["runs"]}
        for record in self.records().values():
            if "name" in record and isinstance(record.get("config"), dict):
                known[str(record["name"])] = record["config"]
        for config in configs:
            old = known.get(config.name)
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
        about = {
            "epoch": snapshot.epoch,
            "runs": [
                {"id": id_, "name": name, "config": content, "progress": asdict(progress)}
                for id_, name, content, progress in zip(
                    snapshot.ids, snapshot.names, snapshot.contents, snapshot.progress, strict=True
                )
            ],
        }
        together = hashlib.sha256("".join(snapshot.ids).encode()).hexdigest()[:16]
        path = self.folder / "snapshots" / f"{together}.safetensors"
        _write(path, snapshot.tensors, {"about": json.dumps(about)})
        return path

    def load_part(self, place: Place, part: str) -> torch.Tensor:
        """Read one model's row from a snapshot."""
        try:
            with safe_open(str(place.path), framework="pt") as file:
                row: torch.Tensor = file.get_tensor(f"{place.model}.{part}")
        except SafetensorError:
            raise _damaged(place.path) from None
        return row

    def save_weights(self, config: RunConfig, weights: Mapping[str, torch.Tensor]) -> None:
        """Write a finished run's best weights."""
        self.make_folders()
        _write(self.folder / "weights" / f"{config.id}.safetensors", weights, {"name": config.name})

    def load_weights(self, run_id: str) -> dict[str, torch.Tensor] | None:
        """Read a finished run's best weights, if they were kept."""
        path = self.folder / "weights" / f"{run_id}.safetensors"
        if not path.exists():
            return None
        try:
            with safe_open(str(path), framework="pt") as file:
                return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except SafetensorError:
            raise RaspValueError(
                f"`{path}` holds no weights that can be read", hint="train the run again"
            ) from None

    def tidy(self) -> None:
        """Remove snapshots in which every run is finished."""
        finished = self.records()
        for path in (self.folder / "snapshots").glob("*.safetensors"):
            if all(each["id"] in finished for each in _about(path)["runs"]):
                path.unlink(missing_ok=True)


def snapshot_of(stack: Stack) -> Snapshot:
    """Copy a stack's state, so that training can go on while it is written."""
    tensors = {}
    for part in PARTS:
        rows = getattr(stack, part).cpu()
        for model in range(len(stack)):
            tensors[f"{model}.{part}"] = stack.own_row(rows, model)
    return Snapshot(
        tuple(config.name for config in stack.configs),
        tuple(config.content for config in stack.configs),
        tuple(config.id for config in stack.configs),
        stack.epoch,
        tuple(Progress(list(each.loss), list(each.validation), each.best_epoch, each.seconds)
              for each in stack.progress),
        tensors,
    )  # fmt: skip


def restore(stack: Stack, store: Store, places: Sequence[Place]) -> None:
    """Put a stack where its runs' snapshots left them; all must be at the same epoch."""
    for part in PARTS:
        own_rows = [store.load_part(place, part) for place in places]
        getattr(stack, part).copy_(stack.widen(own_rows))
    stack.epoch = places[0].epoch
    stack.steps.fill_(stack.epoch * stack.batches)
    stack.progress = [place.progress for place in places]


def _about(path: Path) -> dict[str, Any]:
    try:
        with safe_open(str(path), framework="pt") as file:
            about: dict[str, Any] = json.loads(file.metadata()["about"])
        if not isinstance(about["runs"], list) or not isinstance(about["epoch"], int):
            raise ValueError
    except (SafetensorError, OSError, TypeError, KeyError, ValueError, RecursionError):
        raise _damaged(path) from None
    return about


def _damaged(path: Path) -> RaspError:
    return RaspValueError(
        f"`{path}` is not a snapshot that can be read",
        hint="remove it: its runs then begin again; finished runs are not touched",
    )


def _write(path: Path, tensors: Mapping[str, torch.Tensor], metadata: dict[str, str]) -> None:
    contiguous = {name: each.contiguous() for name, each in tensors.items()}
    try:
        with replacing(path) as file:
            save_file(contiguous, file.name, metadata)
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
