"""A compiled transformer in, an ONNX file out: any batch, any length up to the longest.

The file is written operator by operator, so torch is not needed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rasp.models.certificate import Array
from rasp.models.compiler.model.transformer import Transformer
from rasp.models.export.foreign_check import Checked, Run, check
from rasp.models.export.standard_stack import EqualBlocks, blocks_of

OPSET, IR_VERSION = 17, 8
"""Of 2022: what runs models today reads these."""


def write(model: Transformer, folder: Path) -> Checked:
    """Write `model.onnx`, load it with onnxruntime, and compare it with the program."""
    import onnx

    path = folder / "model.onnx"
    onnx.save(to_onnx(model), path)
    return check(model, run_onnx(path), "onnx")


def run_onnx(path: Path) -> Run:
    """An ONNX file in onnxruntime, as a function of arrays."""
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])

    def run(ids: Array) -> Array:
        (logits,) = session.run(None, {"ids": ids.astype(np.int64)})
        return np.asarray(logits)

    return run


def to_onnx(model: Transformer) -> Any:
    """The model as an `onnx.ModelProto`: `ids` (batch, length) in, `logits` out."""
    import onnx
    from onnx import TensorProto, helper

    blocks = blocks_of(model)
    writer = _Writer(blocks, model.settings.causal)
    logits = writer.logits()
    shape: list[Any] = ["batch", "length"]
    scores = [*shape, blocks.logits]
    ids_in = helper.make_tensor_value_info("ids", TensorProto.INT64, shape)
    logits_out = helper.make_tensor_value_info(logits, TensorProto.FLOAT, scores)
    graph = helper.make_graph(writer.nodes, "rasp", [ids_in], [logits_out], writer.arrays)
    found = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="rasp",
    )
    onnx.checker.check_model(found, full_check=True)
    return found


class _Writer:
    """Collects a graph's operators and constants."""

    def __init__(self, blocks: EqualBlocks, causal: bool) -> None:
        self.blocks, self.causal = blocks, causal
        self.nodes: list[Any] = []
        self.arrays: list[Any] = []

    def op(self, kind: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """Add an operator; the name of what it gives."""
        from onnx import helper

        out = name or f"{kind.lower()}.{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [out], name=out, **attributes))
        return out

    def constant(self, name: str, array: Any, kind: type = np.float32) -> str:
        """Add a constant, once."""
        from onnx import numpy_helper

        if name not in (array.name for array in self.arrays):
            self.arrays.append(numpy_helper.from_array(np.array(array, dtype=kind), name))
        return name

    def linear(self, x: str, name: str, out: str = "") -> str:
        """A linear map of the model, with its bias where it has one."""
        weight, bias = f"{name}.weight", f"{name}.bias"
        found = self.op("MatMul", x, self.constant(weight, self.blocks[weight].T))
        if bias not in self.blocks.arrays:
            return found
        return self.op("Add", found, self.constant(bias, self.blocks[bias]), name=out)

    def logits(self) -> str:
        blocks = self.blocks
        length = self.op("Shape", "ids", start=1, end=2)
        tokens = self.op("Gather", self.constant("tokens", blocks["tokens.weight"]), "ids")
        zero = self.constant("zero", [0], np.int64)
        positions = self.constant("positions", blocks["positions.weight"])
        x = self.op("Add", tokens, self.op("Slice", positions, zero, length, zero))
        later = self._later(length) if self.causal else None
        for number in range(blocks.count):
            name = f"blocks.{number}"
            x = self.op("Add", x, self._attention(x, f"{name}.attention", later))
            hidden = self.op("Relu", self.linear(x, f"{name}.inside"))
            x = self.op("Add", x, self.linear(hidden, f"{name}.outside"))
        return self.linear(x, "unembedding", "logits")

    def _attention(self, x: str, name: str, later: str | None) -> str:
        heads, inner = self.blocks.heads, self.blocks.inner
        split = self.constant("split", [0, 0, heads, inner], np.int64)
        parts = []
        for part, order in (
            ("query", (0, 2, 1, 3)),
            ("key", (0, 2, 3, 1)),
            ("value", (0, 2, 1, 3)),
        ):
            flat = self.linear(x, f"{name}.{part}")
            parts.append(self.op("Transpose", self.op("Reshape", flat, split), perm=order))
        scale = self.constant("scale", 1 / np.sqrt(inner))
        scores = self.op("Mul", self.op("MatMul", parts[0], parts[1]), scale)
        if later is not None:
            scores = self.op("Add", scores, later)
        moved = self.op("MatMul", self.op("Softmax", scores, axis=-1), parts[2])
        join = self.constant("join", [0, 0, heads * inner], np.int64)
        joined = self.op("Reshape", self.op("Transpose", moved, perm=(0, 2, 1, 3)), join)
        return self.linear(joined, f"{name}.out")

    def _later(self, length: str) -> str:
        """Minus infinity where the key comes after the query: (length, length)."""
        from onnx import helper

        square = self.op("Concat", length, length, axis=0)
        never = helper.make_tensor("never", 1, [1], [float("-inf")])
        full = self.op("ConstantOfShape", square, value=never)
        return self.op("Trilu", full, self.constant("one", 1, np.int64), upper=1)
