"""`python -m rasp.playground.worker`: requests in on standard input, answers out, one a line.

The process may be killed at any time and holds nothing worth keeping. Its memory has a limit.
"""

from __future__ import annotations

import json
import os
import sys
from typing import BinaryIO

from rasp.limits import limit_memory
from rasp.playground.answers import answer_text, our_own
from rasp.playground.records import error_record

WARMING = '{"kind":"run","program":"x = length;","example":"ab"}'


def work(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer until there are no more requests."""
    for line in requests:
        try:
            told = answer_text(line.decode())
        except Exception as error:  # a mistake of ours: the page must hear of it, and go on
            told = json.dumps({"error": error_record(our_own(error))})
        answers.write(told.encode() + b"\n")
        answers.flush()


def main() -> None:
    """Work on standard input and output; whatever prints goes nowhere."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    limit_memory(int(sys.argv[1]))
    answer_text(WARMING)
    answers.write(b"ready\n")
    answers.flush()
    work(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
