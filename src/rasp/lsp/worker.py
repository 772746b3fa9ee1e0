"""`python -m rasp.lsp.worker`: programs in on standard input, what is known of them out.

One JSON object a line. The process may be killed at any time and holds nothing worth keeping.
Its memory has a limit, and it ends itself after a program that ran out of time.
"""

from __future__ import annotations

import json
import os
import sys
from typing import BinaryIO

from rasp.limits import EDITOR_MEMORY, limit_memory
from rasp.lsp.analysis import OutOfTime, analyse


def work(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer until there are no more requests, or one has left this process in doubt."""
    for line in requests:
        try:
            for answer in analyse(json.loads(line)):
                answers.write(json.dumps(answer).encode() + b"\n")
                answers.flush()
                if answer.get("ran_out"):
                    return
        except (OutOfTime, MemoryError):
            return


def main() -> None:
    """Work on standard input and output; whatever prints goes nowhere."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    limit_memory(EDITOR_MEMORY)
    list(analyse({"name": "", "text": "x = length;"}))  # imports what the first request needs
    answers.write(b'{"ready": true}\n')
    answers.flush()
    work(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
