"""TREE or PYTHON -> GRAPH: elaboration, sessions, the library, and the handles Python holds."""

from rasp.frontend.expressions import ScorerHandle, SelectorHandle, SOpHandle
from rasp.frontend.functions import FunctionHandle
from rasp.frontend.handles import Handle
from rasp.frontend.namespace import Namespace, run
from rasp.frontend.session import Session

__all__ = [
    "FunctionHandle",
    "Handle",
    "Namespace",
    "SOpHandle",
    "ScorerHandle",
    "SelectorHandle",
    "Session",
    "run",
]
