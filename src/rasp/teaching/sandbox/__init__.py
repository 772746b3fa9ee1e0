"""PROGRAMS OF STRANGERS: requests in, answers out, by processes that can be ended.

A `Sandbox` keeps a few worker processes with limits on time and memory. Whatever a program does
in there (loop, fill the memory, crash the interpreter), its caller gets an answer, and the other
callers get theirs. The playground, the language server and grading run programs here.

    caller ──submit──▶ turns (who is next?) ──▶ sandbox (a thread for each worker)
                                                   │  one JSON line each way
                                                   ▼
                                                worker process ──▶ task(request)

`job` is a request on its way, `turns` decides whose is next, `process` starts and ends a worker,
`worker` is what runs inside it, and `program_answers` is the task it runs unless told otherwise.
"""

from rasp.teaching.sandbox.job import WITHDRAWN
from rasp.teaching.sandbox.sandbox import Sandbox

__all__ = ["WITHDRAWN", "Sandbox"]
