"""WEIGHTS -> other people's models: torch, Hugging Face, TransformerLens, ONNX.

Each export is loaded again by the foreign library and compared with the program before it is
called done.
"""

from rasp.export.targets import TARGETS, export

__all__ = ["TARGETS", "export"]
