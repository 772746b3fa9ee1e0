"""RASP, the language of transformers.

     text ──parse──▶ tree ──elaborate──▶ ┐
                                         ├─▶ PROGRAM GRAPH ──▶ evaluate, draw, compile, …
     Python operators ────build────────▶ ┘

>>> import rasp
>>> names = rasp.run("hist = selector_width(select(tokens, tokens, ==));")
>>> names["hist"]("hello")
[1, 1, 2, 2, 1]
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

# Where each public name lives; a module is imported when one of its names is first used, so that
# `import rasp` and `rasp --version` cost next to nothing.
_HOMES = {
    "Limits": "rasp.limits",
    "RaspError": "rasp.errors",
    "RaspLimitError": "rasp.errors",
    "RaspNameError": "rasp.errors",
    "RaspSyntaxError": "rasp.errors",
    "RaspTypeError": "rasp.errors",
    "RaspUnsupportedError": "rasp.errors",
    "RaspValueError": "rasp.errors",
    "run": "rasp.frontend",
}

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


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rasp' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
