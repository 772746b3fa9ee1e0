"""`export`: a compiled model and the name of a library in, a folder that the library loads out."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from rasp.compiler.store import load
from rasp.compiler.transformer import Transformer
from rasp.errors import RaspUnsupportedError, RaspValueError
from rasp.spelling import closest

# Where each target is written, what it needs, and the extra that brings it.
TARGETS = {
    "torch": ("rasp.export.torch_target", "write", ("torch",), "models"),
    "hf-gpt2": ("rasp.export.hugging_face", "write_gpt2", ("torch", "transformers"),
                "transformers"),
    "hf-bert": ("rasp.export.hugging_face", "write_bert", ("torch", "transformers"),
                "transformers"),
    "transformer-lens": ("rasp.export.transformer_lens", "write", ("torch", "transformer_lens"),
                         "transformer-lens"),
    "onnx": ("rasp.export.onnx_target", "write", ("torch", "onnx", "onnxscript"), "onnx"),
}  # fmt: skip


def export(model: Transformer | str | Path, to: str, folder: str | Path) -> int:
    """Write a compiled model for another library, and check what that library makes of it.

    `model` is a model or the folder of one. Returns on how many random inputs the loaded export
    was compared with the program; an export that answers one of them differently is an error.
    """
    if to not in TARGETS:
        near = closest(to, TARGETS)
        raise RaspValueError(
            f"there is no export to `{to}`",
            hint=f"did you mean `{near}`?" if near else f"choose one of {', '.join(TARGETS)}",
        )
    home, name, needs, extra = TARGETS[to]
    for package in needs:
        try:
            import_module(package)
        except ImportError:
            raise RaspUnsupportedError(
                f"exporting to {to} needs `{package}`",
                hint=f'pip install "rasp-lang[{extra}]"',
            ) from None
    found = model if isinstance(model, Transformer) else load(model)
    write: Callable[[Transformer, Path], int] = getattr(import_module(home), name)
    return write(found, Path(folder))
