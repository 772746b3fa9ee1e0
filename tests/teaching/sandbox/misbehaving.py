"""Tasks that do what a program of a stranger could do to its process."""

import ctypes
import os
import signal
from collections.abc import Iterator
from typing import Any


def misbehave(request: dict[str, Any]) -> Any:
    match request["do"]:
        case "nothing":
            return {"pid": os.getpid()}
        case "crash":
            ctypes.string_at(0)
        case "leave":
            os._exit(3)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "raise":
            raise ValueError("a mistake")
        case "print":
            print("this is not an answer", flush=True)
            return {"pid": os.getpid()}
        case "several":
            return several()
        case "hang":  # one operation, during which no other thread gets its turn
            return {"digits": len(str(3 ** (10**9)))}
        case "fill":
            return {"size": len([bytes(10**6) for _ in range(10**5)])}
        case "answer too much":
            return {"text": "x" * (70 << 20)}
    return None


def several() -> Iterator[dict[str, Any]]:
    yield {"number": 1}
    yield {"number": 2}
