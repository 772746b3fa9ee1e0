"""A program text in, the same program formatted out: what `rasp fmt` and editors do."""

from __future__ import annotations

from rasp.base.limits import DEFAULT_LIMITS, Limits
from rasp.base.source import Source
from rasp.language.syntax.parser import parse
from rasp.language.syntax.printer import print_program

BYTE_ORDER_MARK = "\ufeff"


def format_program(source: Source, limits: Limits = DEFAULT_LIMITS) -> str:
    """Format a program text; how its lines end stays as it is.

    >>> format_program(Source("demo", "a=1;\\r\\nb  = a+1 ;"))
    'a = 1;\\r\\nb = a + 1;\\r\\n'
    """
    text = print_program(parse(source, limits))
    line_ends = source.text.count("\n")
    if source.text.count("\r\n") > line_ends / 2:
        text = text.replace("\n", "\r\n")
    return BYTE_ORDER_MARK + text if source.text.startswith(BYTE_ORDER_MARK) else text
