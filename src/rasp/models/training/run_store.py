"""Where runs are kept: finished ones as lines of JSON, unfinished ones as snapshots to go on from.

A folder holds `records.jsonl`, a line for each finished run, and for each run, by its id, a file in
`weights/` (the best ones) and, until it is finished, one in `snapshots/`. So runs know nothing of
one another. Files are replaced in one step: a kill leaves the old one or the new one.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from rasp.base.errors import RaspError, RaspLimitError, RaspValueError
from rasp.base.file_reading import ABSENT, parse_json, read_file
from rasp.base.file_writing import FULL, replacing
from rasp.models.training.config import RunConfig, differences
from rasp.models.training.records import Record, read_records, record_line
from rasp.models.training.stack import RunSnapshot

LARGEST_FILE = 8_000_000_000
Tensors = Mapping[str, torch.Tensor]


class Store:
    """A folder of runs."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.path = self.folder / "records.jsonl"

    def make_folders(self) -> None:
        """Make the folders to write into, or say why not."""
        with _writing(self.folder):
            for name in ("snapshots", "weights"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)

    def records(self) -> dict[str, Record]:
        """Return the finished runs by id."""
        return read_records(self.path)

    def finished(self, configs: Sequence[RunConfig]) -> dict[str, Record]:
        """Return the records of some runs, those that there are."""
        records = self.records()
        return {config.id: records[config.id] for config in configs if config.id in records}

    def check_names(self, configs: Sequence[RunConfig]) -> None:
        """Raise where a run's name belongs to another finished run here."""
        content_of = {record.name: record.config for record in self.records().values()}
        for config in configs:
            old = content_of.get(config.name)
            if old is not None and old != config.content:
                changes = "; ".join(differences(old, config.content)) or "the recipe"
                raise RaspValueError(
                    f"the run `{config.name}` in {self.folder} is another one: {changes}",
                    hint="nothing was changed; give the new run another name, or another folder "
                    "with `--results`",
                )

    def add_record(self, record: Record) -> None:
        """Append a finished run, unless another training of it was faster."""
        with _writing(self.path), _alone(self.path) as file:
            if record.id not in self.records():
                size = file.seek(0, os.SEEK_END)
                if size:
                    file.seek(size - 1)
                is_torn = size and file.read(1) != b"\n"
                file.write(b"\n" * bool(is_torn) + record_line(record))
                file.flush()
                os.fsync(file.fileno())
        left = self._file("snapshots", record.id)
        with _writing(left):
            left.unlink(missing_ok=True)

    def save_snapshot(self, config: RunConfig, snapshot: RunSnapshot) -> None:
        """Write where a run is, in place of its last snapshot."""
        about = {"name": config.name, "history": snapshot.history.as_dict()}
        self._write(self._file("snapshots", config.id), snapshot.tensors, about)

    def snapshot(self, config: RunConfig) -> RunSnapshot | None:
        """Return where a run was left, if anywhere."""
        path = self._file("snapshots", config.id)
        try:
            tensors, about = _read(path)
            snapshot = RunSnapshot.of(tensors, about["history"])
        except ABSENT:
            return None
        except (SafetensorError, ValueError, LookupError, TypeError) as error:
            raise RaspValueError(
                f"`{path}` is not a snapshot that can be read ({error})",
                hint="remove it: this run then begins again, and no other is touched",
            ) from None
        if snapshot.epoch >= config.epochs:
            raise RaspValueError(
                f"`{path}` is of a longer run than it should be", hint="remove it, and begin again"
            )
        return snapshot

    def save_weights(self, run_id: str, weights: Tensors) -> None:
        """Write a finished run's best weights."""
        self._write(self._file("weights", run_id), weights, {})

    def load_weights(self, run_id: str) -> dict[str, torch.Tensor] | None:
        """Read a finished run's best weights, if they were kept."""
        path = self._file("weights", run_id)
        try:
            return _read(path)[0]
        except ABSENT:
            return None
        except (SafetensorError, ValueError, LookupError, TypeError):
            raise RaspValueError(
                f"`{path}` holds no weights that can be read", hint="train the run again"
            ) from None

    def _file(self, folder: str, run_id: str) -> Path:
        return self.folder / folder / f"{run_id}.safetensors"

    def _write(self, path: Path, tensors: Tensors, about: dict[str, Any]) -> None:
        whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        content = save(whole, {"about": json.dumps(about)})
        with _writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as file:
                file.write(content)


def _read(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Read a safetensors file, and what it says of itself."""
    raw = read_file(path, LARGEST_FILE, "a file of training")
    tensors = load(raw)
    header = parse_json(raw[8 : 8 + int.from_bytes(raw[:8], "little")])
    about = parse_json(header.get("__metadata__", {}).get("about", "{}"))
    return tensors, about


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to append to, and keep other processes that do so waiting meanwhile."""
    with path.open("a+b") as file:
        with contextlib.suppress(ImportError):
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)  # given back when the file is closed
        yield file


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Say in words why a file or folder cannot be written."""
    try:
        yield
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> RaspError:
    if error.errno in FULL:
        return RaspLimitError(
            f"the disk is full: `{path}` could not be written",
            hint="what was written before is still whole; make room and run the same command "
            "again, and it goes on from there",
        )
    why = "there is a file" if error.errno == errno.EEXIST else (error.strerror or str(error))
    return RaspValueError(
        f"`{path}` cannot be written: {why.lower()}",
        hint="check the folder and its permissions; `--results` names another",
    )
