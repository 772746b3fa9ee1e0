"""A class of submissions: right ones, wrong ones, and some that want to break the grader."""

from __future__ import annotations

import os
from pathlib import Path

RIGHT = [
    "hist = histf(tokens);",
    "hist = selector_width(select(tokens, tokens, ==));",
    "same = select(tokens, tokens, ==);\nhist = selector_width(same);\nhist('aab');",
    "def count_of(s) { return selector_width(select_eq(s, s)); }\nhist = count_of(tokens);",
]
WRONG = [
    "hist = indices + 1;",
    "hist = num_prevs(True);",
    "hist = selector_width(select(tokens, tokens, ==) and select(indices, indices, <=));",
    "hist = length;",
    "hist = token;",
    "hist = histf(tokens)",
    "histogram = histf(tokens);",
    "hist = 1 / indices;",
]
HOSTILE = {
    "deep": "def f(x) { return f(x + 1); } hist = f(indices);",
    "loop": "x = 1; for i in range(99999) { for j in range(99999) { x = x + 1; } } hist = x;",
    "lists": "x = [1]; for i in range(60) { x = x + x; } hist = indices;",
    "strings": 'x = "a"; for i in range(60) { x = x + x; } hist = indices;',
    "numbers": "x = 9; for i in range(60) { x = x ^ 9; } hist = indices;",
    "graph": "x = indices; for i in range(99999) { x = x * 3 + indices; } hist = x;",
    "slow": "x = tokens; for i in range(30) { x = x + x; } hist = x;",
    "passwords": 'load "/etc/passwd";',
    "neighbour": 'load "right00";',
    "brackets": "hist = " + "(" * 50_000 + "tokens" + ")" * 50_000 + ";",
    "syntax": "hist = = ; } select(",
}


def write_class(folder: Path, size: int) -> dict[str, str]:
    """Write so many submissions; return the kind of each by its name."""
    folder.mkdir(parents=True, exist_ok=True)
    kinds: dict[str, str] = {}
    for name, text in HOSTILE.items():
        (folder / f"{name}.rasp").write_text(text)
        kinds[name] = "hostile"
    (folder / "bytes.rasp").write_bytes(b"\xff\xfe\x00hist")
    (folder / "huge.rasp").write_bytes(b"x" * 3_000_000)
    os.mkfifo(folder / "pipe.rasp")
    (folder / "link.rasp").symlink_to("/etc/passwd")
    kinds |= dict.fromkeys(("bytes", "huge", "pipe", "link"), "hostile")
    for number in range(size - len(kinds)):
        kind, texts = ("right", RIGHT) if number % 3 else ("wrong", WRONG)
        name = f"{kind}{number:02}"
        (folder / f"{name}.rasp").write_text(texts[number // 3 % len(texts)] + f"\n# {number}\n")
        kinds[name] = kind
    return kinds
