"""Text for people in, the same out, no wider than the terminal that it goes to.

Only prose and tables come through here. Values, drawings and data are printed as they are, and
so is everything that goes to a file or a pipe. Errors speak of options as Python has them,
`style="compact"`; who typed a command reads `--style compact` (`in_flags`).
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable
from typing import IO, Any

EXCERPT = re.compile(r" *\d* \| | *--> ")
"""Lines of source under an error: their columns must stay where they are."""
COLUMN = re.compile(r"(?<=\S) {2,}(?=\S)")
NARROWEST = 40


def tell(text: object, stream: IO[str] | None = None) -> None:
    """Print something for people; on a terminal, long lines go on below."""
    out = sys.stdout if stream is None else stream
    told = str(text)
    if out.isatty():
        told = wrapped(told, max(NARROWEST, shutil.get_terminal_size().columns))
    print(told, file=out)


def print_json(record: Any) -> None:
    """Print a whole answer as JSON."""
    print(json.dumps(record, ensure_ascii=False, indent=1))


def print_json_line(record: Any, flush: bool = False) -> None:
    """Print one of several answers as JSON."""
    print(json.dumps(record, ensure_ascii=False), flush=flush)


def report(answer: object, record: Callable[[], Any], as_json: bool) -> None:
    """Print a whole answer for people, or as JSON."""
    if as_json:
        print_json(record())
    else:
        tell(answer)


def wrapped(text: str, width: int) -> str:
    """Break lines that are too wide at blanks; what goes on below is indented.

    >>> print(wrapped("hint: write one of the words that are known", 24))
    hint: write one of the
      words that are known
    """
    return "\n".join(_wrapped(line, width) for line in text.split("\n"))


def _wrapped(line: str, width: int) -> str:
    if len(line) <= width or EXCERPT.match(line):
        return line
    import textwrap  # hardly any line is so long, and starting is to be quick

    return "\n".join(textwrap.wrap(
        line, width, subsequent_indent=" " * _indent(line, width), break_long_words=False,
        break_on_hyphens=False,
    ))  # fmt: skip


def _indent(line: str, width: int) -> int:
    """Below the last column of a table; else two blanks further in than the line."""
    starts = [gap.end() for gap in COLUMN.finditer(line) if gap.end() < width * 0.6]
    return starts[-1] if starts else len(line) - len(line.lstrip()) + 2


VALUED = ("style", "extra_feed_forwards")
OPTION = re.compile(rf'`({"|".join(VALUED)})=(?:"([a-z]+)"|([0-9]+))`')
SWITCHES = {
    "with `causal=True`": "with `--causal`",
    "with `causal=False`": "without `--causal`",
    "with `sink=True`": "without `--no-sink`",
    "`tested=True`": "`--tested`",
    '`heads="split"`': "`--split-heads`",
    "without `extra_feed_forwards`": "without `--extra-feed-forwards`",
}


def in_flags(words: str) -> str:
    """Write the options in a text as flags.

    >>> in_flags('compile with `causal=False`, or use `heads="split"`')
    'compile without `--causal`, or use `--split-heads`'
    """
    for option, flag in SWITCHES.items():
        words = words.replace(option, flag)
    return OPTION.sub(_flag, words)


def _flag(option: re.Match[str]) -> str:
    return f"`--{option[1].replace('_', '-')} {option[2] or option[3]}`"
