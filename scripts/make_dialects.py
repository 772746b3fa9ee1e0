"""Write which dialects each program of the gallery is in: `python scripts/make_dialects.py`.

Two files are written: the record that comes with the package, and the tables of docs/programs.md.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import rasp
from rasp.base.file_writing import replace_file
from rasp.teaching.gallery import entries, families
from rasp.teaching.gallery.catalogue import Entry
from rasp.teaching.gallery.dialects import EQUAL, RECORD, record_of

ROOT = Path(__file__).parents[1]
HOME = ROOT / "src" / "rasp" / "teaching" / "gallery" / RECORD
PAGE = ROOT / "docs" / "programs.md"
HEADING = (
    "| program | heads | [dialects](dialects.md#the-definitions) | computes |\n|---|---|---|---|\n"
)


def main() -> None:
    record = {
        entry.name: record_of(
            rasp.dialects(rasp.programs.load(entry.name), list(entry.inputs.alphabet))
        )
        for entry in entries()
    }
    lines = [f"{json.dumps(name)}: {json.dumps(found)}" for name, found in sorted(record.items())]
    replace_file(HOME, ("{\n" + ",\n".join(lines) + "\n}\n").encode())
    replace_file(PAGE, with_tables(PAGE.read_text(encoding="utf-8"), record).encode())


def with_tables(page: str, record: dict[str, dict[str, str]]) -> str:
    """The page with the table of each family written again."""
    for family, members in families().items():
        title = f"### {family[0].upper()}{family[1:]}\n\n"
        table = HEADING + "".join(row(entry, record[entry.name]) for entry in members)
        pattern = re.escape(title) + r"(?:\|.*\n)*"
        page = re.sub(pattern, lambda _, text=title + table: text, page, count=1)
    return page


def row(entry: Entry, found: dict[str, str]) -> str:
    """A program's line: its heads, a badge for each dialect, what it computes."""
    heads = " ".join(map(str, entry.heads_per_layer)) or "-"
    badges = " ".join(f"`{name}{'*' * (how == EQUAL)}`" for name, how in found.items())
    summary = entry.summary.replace("|", "\\|")
    return f"| `{entry.name}` | {heads} | {badges} | {summary} |\n"


if __name__ == "__main__":
    main()
