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
    from rasp.base.errors import (
        RaspError,
        RaspLimitError,
        RaspNameError,
        RaspSyntaxError,
        RaspTypeError,
        RaspUnsupportedError,
        RaspValueError,
    )
    from rasp.base.limits import Limits
    from rasp.insight.dialect import dialects
    from rasp.insight.drawing import draw, draw_selector, heat_map
    from rasp.insight.equivalence import equivalent
    from rasp.insight.finding import find
    from rasp.insight.generation import generate
    from rasp.insight.schedule import explain, fit, front, schedule
    from rasp.language.embedding import lib
    from rasp.language.embedding.batches import evaluate, explain_plan
    from rasp.language.embedding.constructors import (
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
    from rasp.language.embedding.handle_operators import ScorerHandle, SelectorHandle, SOpHandle
    from rasp.language.embedding.handles import Handle
    from rasp.language.embedding.lib import contains, has_focus, selector_width
    from rasp.language.embedding.namespace import run
    from rasp.language.embedding.program_text import to_rasp
    from rasp.language.embedding.tabulating import (
        map as map,  # not in __all__: `import *` keeps Python's own
    )
    from rasp.models import export
    from rasp.models.compiler import compile, load, verify
    from rasp.models.proving import Adapter, Architecture, prove
    from rasp.teaching import gallery as programs
    from rasp.teaching import grading, sandbox

__version__ = "0.1.0"

# Where each public name lives; a module is imported when one of its names is first used, so that
# `import rasp` and `rasp --version` cost next to nothing.
_HOMES = {
    name: module
    for module, names in {
        "rasp.insight.schedule": "explain fit front schedule",
        "rasp.models.compiler": "compile load verify",
        "rasp.insight.dialect": "dialects",
        "rasp.insight.drawing": "draw draw_selector heat_map",
        "rasp.insight.equivalence": "equivalent",
        "rasp.insight.finding": "find",
        "rasp.base.errors": "RaspError RaspLimitError RaspNameError RaspSyntaxError RaspTypeError "
        "RaspUnsupportedError RaspValueError",
        "rasp.models.export": "export",
        "rasp.models.proving": "Adapter Architecture prove",
        "rasp.language.embedding.batches": "evaluate explain_plan",
        "rasp.language.embedding.constructors": "aggregate constant indicator indices "
        "length score select select_all select_best table tokens tokens_bool tokens_float "
        "tokens_int tokens_str where",
        "rasp.language.embedding.handle_operators": "SOpHandle ScorerHandle SelectorHandle",
        "rasp.language.embedding.handles": "Handle",
        "rasp.language.embedding.namespace": "run",
        "rasp.language.embedding.tabulating": "map",
        "rasp.language.embedding.program_text": "to_rasp",
        "rasp.insight.generation": "generate",
        "rasp.teaching.grading": "grading",
        "rasp.language.embedding.lib": "lib contains has_focus selector_width",
        "rasp.base.limits": "Limits",
        "rasp.apps.notebook": "load_ipython_extension unload_ipython_extension",
        "rasp.teaching.gallery": "programs",
        "rasp.teaching.sandbox": "sandbox",
    }.items()
    for name in names.split()
}

_MODULES = {"export", "grading", "lib", "programs", "sandbox"}
"""Public names that are modules."""

__all__ = [
    "Adapter",
    "Architecture",
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
    "find",
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
    "load",
    "programs",
    "prove",
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

    from rasp.base.tracebacks import door

    if name in _operators():
        home = import_module("rasp.language.embedding.constructors")
        value = getattr(home, name, None) or home.function_of_operator(name)
    elif name in _HOMES:
        home = import_module(_HOMES[name])
        value = home if name in _MODULES else getattr(home, name)
    else:
        raise AttributeError(f"module 'rasp' has no attribute {name!r}")
    if isinstance(value, FunctionType):
        value = door(value)  # errors show the caller's lines, not ours
    globals()[name] = value
    return value


def _operators() -> set[str]:
    """The operators that Python has as functions of this package."""
    from rasp.language.operators import OPERATORS

    return {name for name, row in OPERATORS.items() if row.python == f"rasp.{name}"}


def __dir__() -> list[str]:
    return sorted({*__all__, *_operators(), "map"})
