"""Programs in, what the playground answers about them out, computed when the site is built.

The static edition shows these before Python has arrived in the browser: `early.js` in
`web/static_edition` finds an answer by the same name, and asks Python for whatever has none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rasp.apps.playground.page_answers import answer

FIRST_EXAMPLE = "hello"
Request = tuple[str, dict[str, Any]]


def first_program(main_script: str) -> str:
    """Read the program that the page opens with from its script."""
    found = re.search(r"const FIRST = `(.*?)`;", main_script, re.DOTALL)
    assert found, "main.js has no program to open with"
    return found[1]


def requests_at_first(program: str, example: str) -> Iterator[Request]:
    """List what the page asks about its first program: all views, and a click on any value."""
    page = {"program": program, "example": example}
    yield "run", page
    yield from (("words", {}), ("exercises", {}), ("gallery", {}), ("cheat_sheet", {}))
    shown = answer({"kind": "run", **page})
    s_ops = [each["name"] for each in shown["names"] if each["kind"] == "s-op"]
    for name in s_ops:
        yield "flow", {**page, "name": name}
        yield "architecture", {**page, "name": name}
        yield "dialects", {**page, "name": name}
    for name in ("tokens", "indices", *s_ops):
        for at in range(len(example)):
            yield "explain", {**page, "row": name, "at": at, "flow": s_ops[-1]}
    for each in shown["names"]:
        if each["kind"] == "selector":
            for at in range(len(example)):
                yield "explain", {**page, "selection": each["name"], "at": at, "flow": s_ops[-1]}


def key_of(kind: str, request: dict[str, Any]) -> str:
    """Name a request, as `keyOf` in early.js does.

    >>> key_of("run", {"program": "x = 1;", "example": "a"})
    '["run",["example","a"],["program","x = 1;"]]'
    """
    fields = [[name, request[name]] for name in sorted(request)]
    return json.dumps([kind, *fields], ensure_ascii=False, separators=(",", ":"))


def file_of(key: str) -> str:
    """Return the name of the file with the answer: FNV-1a over the key's UTF-16 units.

    >>> file_of("a")
    'e40c292c'
    """
    found = 0x811C9DC5
    units = key.encode("utf-16-le")
    for at in range(0, len(units), 2):
        found = ((found ^ (units[at] | units[at + 1] << 8)) * 0x01000193) & 0xFFFFFFFF
    return f"{found:08x}"


def write_answers(folder: Path, requests: Iterable[Request], version: str) -> None:
    """Write each answer into a file of its own, and the index of them; mistakes have none.

    The version is that of the code that answers: what a browser has kept of another is not used.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names = set()
    for kind, request in requests:
        told = answer({"kind": kind, **request})
        if "error" in told:
            continue
        key = key_of(kind, request)
        kept = json.dumps({"key": key, "answer": told}, separators=(",", ":"))
        (folder / f"{file_of(key)}.json").write_text(kept, encoding="utf-8")
        names.add(file_of(key))
    index = folder / "index.json"
    before = json.loads(index.read_text(encoding="utf-8"))["names"] if index.exists() else ()
    listed = {"version": version, "names": sorted(names.union(before))}
    index.write_text(json.dumps(listed), encoding="utf-8")
