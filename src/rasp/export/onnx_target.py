"""A compiled transformer in, an ONNX file out; any length up to the longest."""

from __future__ import annotations

import json
import logging
import warnings
from pathlib import Path

import numpy as np
import torch

from rasp.compiler.transformer import Transformer
from rasp.compiler.weights import Array
from rasp.export.blocks import card
from rasp.export.check import check
from rasp.export.torch_target import to_torch
from rasp.replacing import replace_file

FEW = 20


def write(model: Transformer, folder: Path) -> int:
    """Write `model.onnx`, load it with onnx's own evaluator, and compare it with the program."""
    import onnx
    from onnx.reference import ReferenceEvaluator

    module = to_torch(model)
    longest = model.settings.max_length + model.uses_sink
    example = torch.zeros((1, max(2, longest)), dtype=torch.long)
    folder.mkdir(parents=True, exist_ok=True)
    sizes = {0: torch.export.Dim("batch"), 1: torch.export.Dim("length", max=max(2, longest))}
    exporter = logging.getLogger("torch.onnx")
    level = exporter.level
    exporter.setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            module, (example,), input_names=["ids"], output_names=["logits"], dynamo=True,
            dynamic_shapes={"ids": sizes}, verbose=False,
        )  # fmt: skip
        assert program is not None
        program.save(str(folder / "model.onnx"))
    exporter.setLevel(level)
    text = json.dumps(card(model), ensure_ascii=False, indent=1)
    replace_file(folder / "rasp.json", text.encode())
    onnx.checker.check_model(str(folder / "model.onnx"))
    evaluator = ReferenceEvaluator(str(folder / "model.onnx"))

    def run(ids: Array) -> Array:
        found = evaluator.run(None, {"ids": ids[None].astype(np.int64)})
        logits: Array = np.asarray(found[0])[0]
        return logits

    return check(model, run, "onnx", FEW)
