"""Write which dialects each program of the gallery is in: `python scripts/make_dialects.py`."""

from __future__ import annotations

import json
from pathlib import Path

import rasp
from rasp.base.file_writing import replace_file
from rasp.teaching.gallery import entries
from rasp.teaching.gallery.dialects import RECORD, record_of

HOME = Path(__file__).parents[1] / "src" / "rasp" / "teaching" / "gallery" / RECORD


def main() -> None:
    record = {
        entry.name: record_of(
            rasp.dialects(rasp.programs.load(entry.name), list(entry.inputs.alphabet))
        )
        for entry in entries()
    }
    lines = [f"{json.dumps(name)}: {json.dumps(found)}" for name, found in sorted(record.items())]
    replace_file(HOME, ("{\n" + ",\n".join(lines) + "\n}\n").encode())


if __name__ == "__main__":
    main()
