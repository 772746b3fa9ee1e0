"""Examples as people write them down: lines `input -> output`, JSON, or CSV."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Any

from rasp.base.atoms import read_input
from rasp.base.errors import RaspError, RaspValueError
from rasp.base.file_reading import parse_json
from rasp.base.input_text import read_tokens

ARROW = "->"
WORDS = {"True": True, "False": False, "true": True, "false": False}
FORMS = "write one example a line, such as `abc -> cba` or `[3, 1] -> [1, 3]`; JSON or CSV will do"

Pairs = list[tuple[Any, Any]]


def read_examples(text: str) -> Pairs:
    """Read examples: each an input and its output.

    How an output without brackets is meant is decided for all of them together: `True`, `False`
    and numbers are one value for the whole input, unless every output has a character for each
    token of its input.

    >>> read_examples("ab -> ba\\nxyz -> zyx")
    [('ab', ['b', 'a']), ('xyz', ['z', 'y', 'x'])]
    >>> read_examples("ab -> 2\\nxyz -> 3  # how long it is")
    [('ab', 2), ('xyz', 3)]
    >>> read_examples('[["ab", [1, 1]], ["aab", [2, 2, 1]]]')
    [('ab', [1, 1]), ('aab', [2, 2, 1])]
    """
    if text.lstrip()[:1] in ("[", "{") and ARROW not in text.partition("\n")[0]:
        return _from_json(text)
    rows = _from_lines(text) if ARROW in text else _from_csv(text)
    inputs = [_read(given, place) for given, _, place in rows]
    return list(zip(inputs, _outputs(inputs, [output for _, output, _ in rows]), strict=True))


def _from_lines(text: str) -> list[tuple[str, str, int]]:
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        written = line.split("  #")[0].strip()
        if not written or written.startswith("# "):
            continue
        given, arrow, output = written.partition(f" {ARROW} ")
        if not arrow:
            given, arrow, output = written.partition(ARROW)
        if not arrow or not given.strip() or not output.strip():
            raise RaspValueError(f"line {number} is not an example: {written}", hint=FORMS)
        rows.append((given.strip(), output.strip(), number))
    return rows


def _from_csv(text: str) -> list[tuple[str, str, int]]:
    rows = []
    for number, row in enumerate(csv.reader(text.splitlines()), start=1):
        if not row or [cell.strip().lower() for cell in row] == ["input", "output"]:
            continue
        if len(row) != 2:
            raise RaspValueError(f"line {number} is not an example: {','.join(row)}", hint=FORMS)
        rows.append((row[0].strip(), row[1].strip(), number))
    return rows


def _from_json(text: str) -> Pairs:
    try:
        value = parse_json(text)
    except ValueError:
        raise RaspValueError("the examples are not JSON", hint=FORMS) from None
    pairs = list(value.items()) if isinstance(value, dict) else value
    records = [one for one in pairs if isinstance(one, dict) and {"input", "output"} <= set(one)]
    if len(records) == len(pairs):
        return [(one["input"], one["output"]) for one in records]
    if not all(isinstance(one, (list, tuple)) and len(one) == 2 for one in pairs):
        raise RaspValueError(
            "the examples are not pairs", hint='write [["abc", "cba"], …] or {"abc": "cba", …}'
        )
    return [(given, output) for given, output in pairs]


def _read(text: str, line: int) -> Any:
    try:
        return read_tokens(text)
    except RaspError as error:
        raise RaspValueError(f"line {line}: {error.message}", hint=error.hint) from None


def _outputs(inputs: Sequence[Any], texts: Sequence[str]) -> list[Any]:
    """Read the outputs, all in one way."""
    if all(text in WORDS for text in texts):
        return [WORDS[text] for text in texts]
    if any(text.startswith("[") for text in texts):
        return [_one(text) for text in texts]
    sizes = [len(read_input(given)) for given in inputs]
    if all(len(text) == size for text, size in zip(texts, sizes, strict=True)):
        return [list(text) for text in texts]
    return [_one(text) for text in texts]


def _one(text: str) -> Any:
    if text.startswith("["):
        return read_tokens(text)
    if text in WORDS:
        return WORDS[text]
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text.strip('"')
