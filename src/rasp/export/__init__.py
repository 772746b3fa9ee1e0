"""WEIGHTS -> other people's models: torch, Hugging Face, TransformerLens, ONNX.

Each export is loaded again by the foreign library and compared with the program before it is
called done.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from rasp.export.blocks import decoded, input_ids
from rasp.export.targets import TARGETS, export, to_torch
from rasp.tracebacks import doors

if TYPE_CHECKING:
    from rasp.compiler import Transformer


@doors
class _Callable(ModuleType):
    """Lets the package itself be called: `rasp.export(model, "torch", folder)`."""

    def __call__(self, model: Transformer | str | Path, to: str, folder: str | Path) -> int:
        """Write a compiled model for another library; see `rasp.export.export`."""
        return export(model, to, folder)


sys.modules[__name__].__class__ = _Callable

__all__ = ["TARGETS", "decoded", "export", "input_ids", "to_torch"]
