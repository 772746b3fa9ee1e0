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
    from rasp import export, grading, lib, programs, sandbox
    from rasp.architecture import explain, fit, front, schedule
    from rasp.compiler import compile, verify
    from rasp.dialect import dialects
    from rasp.drawing import draw, draw_selector, heat_map
    from rasp.equivalence import equivalent
    from rasp.errors import (
        RaspError,
        RaspLimitError,
        RaspNameError,
        RaspSyntaxError,
        RaspTypeError,
        RaspUnsupportedError,
        RaspValueError,
    )
    from rasp.frontend.batches import evaluate, explain_plan
    from rasp.frontend.embedding import (
        aggregate,
        constant,
        indicator,
        indices,
        length,
        score,
        select,
        select_all,
        select_best,
        table,
        tokens,
        tokens_bool,
        tokens_float,
        tokens_int,
        tokens_str,
        where,
    )
    from rasp.frontend.expressions import ScorerHandle, SelectorHandle, SOpHandle
    from rasp.frontend.handles import Handle
    from rasp.frontend.namespace import run
    from rasp.frontend.tabulating import map as map  # not in __all__: `import *` keeps Python's own
    from rasp.frontend.writing import to_rasp
    from rasp.generation import generate
    from rasp.lib import contains, has_focus, selector_width
    from rasp.limits import Limits

__version__ = "0.1.0"

# Where each public name lives; a module is imported when one of its names is first used, so that
# `import rasp` and `rasp --version` cost next to nothing.
_HOMES = {
    name: module
    for module, names in {
        "rasp.architecture": "explain fit front schedule",
        "rasp.compiler": "compile verify",
        "rasp.dialect": "dialects",
        "rasp.drawing": "draw draw_selector heat_map",
        "rasp.equivalence": "equivalent",
        "rasp.errors": "RaspError RaspLimitError RaspNameError RaspSyntaxError RaspTypeError "
        "RaspUnsupportedError RaspValueError",
        "rasp.export": "export",
        "rasp.frontend.batches": "evaluate explain_plan",
        "rasp.frontend.embedding": "aggregate constant indicator indices length score select "
        "select_all select_best table tokens tokens_bool tokens_float tokens_int tokens_str where",
        "rasp.frontend.expressions": "SOpHandle ScorerHandle SelectorHandle",
        "rasp.frontend.handles": "Handle",
        "rasp.frontend.namespace": "run",
        "rasp.frontend.tabulating": "map",
        "rasp.frontend.writing": "to_rasp",
        "rasp.generation": "generate",
        "rasp.grading": "grading",
        "rasp.lib": "lib contains has_focus selector_width",
        "rasp.limits": "Limits",
        "rasp.notebook": "load_ipython_extension unload_ipython_extension",
        "rasp.programs": "programs",
        "rasp.sandbox": "sandbox",
    }.items()
    for name in names.split()
}

__all__ = [
    "Handle",
    "Limits",
    "RaspError",
    "RaspLimitError",
    "RaspNameError",
    "RaspSyntaxError",
    "RaspTypeError",
    "RaspUnsupportedError",
    "RaspValueError",
    "SOpHandle",
    "ScorerHandle",
    "SelectorHandle",
    "__version__",
    "aggregate",
    "compile",
    "constant",
    "contains",
    "dialects",
    "draw",
    "draw_selector",
    "equivalent",
    "evaluate",
    "explain",
    "explain_plan",
    "export",
    "fit",
    "front",
    "generate",
    "grading",
    "has_focus",
    "heat_map",
    "indicator",
    "indices",
    "length",
    "lib",
    "programs",
    "run",
    "sandbox",
    "schedule",
    "score",
    "select",
    "select_all",
    "select_best",
    "selector_width",
    "table",
    "to_rasp",
    "tokens",
    "tokens_bool",
    "tokens_float",
    "tokens_int",
    "tokens_str",
    "verify",
    "where",
]


def __getattr__(name: str) -> Any:
    from types import FunctionType

    from rasp.tracebacks import door

    if name in _operators():
        home = import_module("rasp.frontend.embedding")
        value = getattr(home, name, None) or home.function_of_operator(name)
    elif name in _HOMES:
        home = import_module(_HOMES[name])
        value = home if _HOMES[name] == f"rasp.{name}" else getattr(home, name)
    else:
        raise AttributeError(f"module 'rasp' has no attribute {name!r}")
    if isinstance(value, FunctionType):
        value = door(value)  # errors show the caller's lines, not ours
    globals()[name] = value
    return value


def _operators() -> set[str]:
    """The operators that Python has as functions of this package."""
    from rasp.operators import OPERATORS

    return {name for name, row in OPERATORS.items() if row.python == f"rasp.{name}"}


def __dir__() -> list[str]:
    return sorted({*__all__, *_operators(), "map"})
