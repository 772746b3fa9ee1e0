"""TREE or PYTHON -> GRAPH: elaboration, sessions, the library, and the handles Python holds."""

from rasp.frontend.handles import FunctionHandle, Handle, Namespace, run
from rasp.frontend.session import Session

__all__ = ["FunctionHandle", "Handle", "Namespace", "Session", "run"]
