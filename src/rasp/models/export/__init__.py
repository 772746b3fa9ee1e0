"""WEIGHTS -> other people's models, such as torch's, Hugging Face's and ONNX's.

The files in the order data flows: `targets` lists what there is and goes through one export,
`next_token_head` gives a next-token model logits over ids, `standard_stack` makes all heads and
layers alike. Each library has a file of its own: `*_target`, and `hugging_face` (with `tokenizer`);
`torch_module` and `lens_module` are copied beside the weights and know nothing of rasp. Then
`foreign_check` loads what was written and compares it with the program, `card` says what is what,
and `folders` lets all of it appear, or nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from rasp.base.tracebacks import doors
from rasp.models.export.standard_stack import decoded, input_ids
from rasp.models.export.targets import TARGETS, export, to_torch

if TYPE_CHECKING:
    from rasp.models.compiler import Transformer


@doors
class _Callable(ModuleType):
    """Lets the package itself be called: `rasp.export(model, "torch", folder)`."""

    def __call__(self, model: Transformer | str | Path, to: str, folder: str | Path) -> int:
        """Write a compiled model for another library; see `rasp.export.export`."""
        return export(model, to, folder)


sys.modules[__name__].__class__ = _Callable

__all__ = ["TARGETS", "decoded", "export", "input_ids", "to_torch"]
