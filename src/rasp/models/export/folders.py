"""A place for an export in, an empty folder to write into out: all of it appears, or nothing.

What is written goes to a folder beside the place and takes the place only when it has been loaded
again and agrees with the program. An older export there is replaced; anything else is left alone.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from rasp.base.errors import RaspError, RaspValueError
from rasp.base.file_reading import ABSENT, read_json
from rasp.base.file_writing import replacing_folder, unwritable
from rasp.models.certificate import Array
from rasp.models.compiler.model.tensors import to_safetensors

CARD = "rasp.json"
Files = tuple[dict[str, Any], dict[str, Array]]
"""The configuration of a model, and its weights by name."""
LARGEST_CARD = 1_000_000
HARMLESS = {"__pycache__"}


@contextmanager
def writing(folder: Path, card: str = CARD) -> Iterator[Path]:
    """Give an empty folder; when the block ends well, it is at `folder`.

    `card` is the JSON file that names every file of an older folder, which is replaced.
    """
    place = Path(os.path.realpath(folder))
    try:
        outdated = _check_free(place, folder, card)
        with replacing_folder(place, outdated) as work:
            yield Path(work)
    except OSError as error:
        if error.errno is None:  # a library's own, which says nothing of the disk
            raise
        raise unwritable(folder, error) from None


def write_files(
    folder: Path, files: Files, weights: str = "weights.safetensors", module: str | None = None
) -> None:
    """Write the files of a model, and a copy of the module that loads them."""
    config, state = files
    text = json.dumps(config, ensure_ascii=False, indent=1)
    (folder / "config.json").write_text(text, encoding="utf-8")
    (folder / weights).write_bytes(to_safetensors(state))
    if module is not None:
        shutil.copyfile(module, folder / "model.py")


def _check_free(place: Path, folder: Path, card: str) -> set[str]:
    """Refuse a place that holds what no export wrote; return the names of what one did write."""
    if not os.path.lexists(place):
        return set()
    if not place.is_dir():
        raise RaspValueError(
            f"`{folder}` is a file, and an export is a folder", hint="give a new folder"
        )
    outdated = _written(place, card) | HARMLESS
    strangers = sorted({entry.name for entry in place.iterdir()} - outdated)
    if strangers:
        raise RaspValueError(
            f"`{folder}` holds `{strangers[0]}`, which no export wrote",
            hint="give a new folder: an export replaces what is in its folder",
        )
    return outdated


def _written(place: Path, name: str) -> set[str]:
    """The files that an earlier export says it wrote."""
    with suppress(*ABSENT, RaspError):
        card = read_json(place / name, LARGEST_CARD)
        if isinstance(card, dict) and card.get("made_by") == "rasp":
            return {str(name) for name in card.get("files", ())}
    return set()
