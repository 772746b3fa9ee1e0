"""RASP, the language of transformers.

     text ──parse──▶ tree ──elaborate──▶ ┐
                                         ├─▶ PROGRAM GRAPH ──▶ evaluate, draw, compile, …
     Python operators ────build────────▶ ┘

>>> import rasp
>>> names = rasp.run("hist = selector_width(select(tokens, tokens, ==));")
>>> names["hist"]("hello")
[1, 1, 2, 2, 1]
"""

from rasp.errors import (
    RaspError,
    RaspLimitError,
    RaspNameError,
    RaspSyntaxError,
    RaspTypeError,
    RaspUnsupportedError,
    RaspValueError,
)
from rasp.frontend import run
from rasp.limits import Limits

__version__ = "0.1.0"

__all__ = [
    "Limits",
    "RaspError",
    "RaspLimitError",
    "RaspNameError",
    "RaspSyntaxError",
    "RaspTypeError",
    "RaspUnsupportedError",
    "RaspValueError",
    "__version__",
    "run",
]
