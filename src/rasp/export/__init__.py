"""WEIGHTS -> other people's models: torch, Hugging Face, TransformerLens, ONNX.

Each export is loaded again by the foreign library and compared with the program before it is
called done.
"""

from rasp.export.blocks import decoded, input_ids
from rasp.export.targets import TARGETS, export, to_torch

__all__ = ["TARGETS", "decoded", "export", "input_ids", "to_torch"]
