"""Run compiled models through torch's fused attention and compare them with the plain evaluator.

`PYTHONPATH=src python bench/fused_attention.py --record fused.json` compiles the paper's tasks and
fifty programs of the gallery, runs each on random inputs in float32 with
`torch.nn.functional.scaled_dot_product_attention` (on a GPU if there is one; TF32 off), and writes
one record: what was run, on what, and how many answers were wrong. It needs numpy and torch.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "models" / "compiler"))

from compile_gallery import vocabulary_of
from gallery_refusals import REFUSED
from paper_programs import TASKS

import rasp
import rasp.teaching.gallery
from rasp.base.errors import RaspError, RaspUnsupportedError
from rasp.language.evaluator import plain
from rasp.language.graph import Node
from rasp.models.compiler import Transformer, compile
from rasp.models.compiler.model.forward import chosen
from rasp.models.compiler.model.vocabulary_inputs import random_input
from rasp.teaching.gallery.gallery_inputs import BOS

PROGRAMS = 50
THRICE = "out = histf(histf(histf(tokens)));"
Tensor = torch.Tensor


def models(length: int, gallery_length: int) -> Iterator[tuple[str, Transformer, Node]]:
    """The paper's tasks, the counts of counts of counts, and programs of the gallery."""
    for name, task in TASKS.items():
        node = rasp.run(task.text)["out"].node
        model = compile(
            {"out": node}, vocabulary=task.vocabulary, max_length=min(length, task.longest),
            bos=task.bos, causal=task.causal, sink=task.sink, heads=task.heads, style="compact",
        )  # fmt: skip
        yield f"paper: {name}", model, node
    for size in (7, 20):
        node = rasp.run(THRICE)["out"].node
        model = compile({"out": node}, vocabulary="abcd", max_length=size, style="compact")
        yield f"thrice: {size}", model, node
    left = PROGRAMS
    for name in [each for each in rasp.programs.names() if each not in REFUSED][::4]:
        entry, handle = rasp.programs.entry(name), rasp.programs.load(name)
        bos = BOS if BOS in entry.inputs.before else None
        try:
            model = compile(
                {"out": handle}, vocabulary=vocabulary_of(entry, gallery_length),
                max_length=gallery_length, bos=bos, style="compact",
            )  # fmt: skip
        except RaspUnsupportedError:
            continue
        yield f"gallery: {name}", model, handle.node
        left -= 1
        if not left:
            return


class Fused:
    """A compiled model as torch runs it: all heads of a layer in one call of fused attention."""

    def __init__(self, model: Transformer, device: str) -> None:
        self.model, self.device = model, device

    def tensor(self, array: np.ndarray) -> Tensor:
        return torch.tensor(array, dtype=torch.float32, device=self.device)

    def answers(self, ids: np.ndarray) -> list[list[Any]]:
        model = self.model
        x = self.tensor(model.embedded(ids, np.float32))
        for layer, block in enumerate(model.weights.feed_forwards):
            if layer:
                x = x + sum(self.head(x, head) for head in model.weights.heads[layer - 1])
            if block.bias.size:
                inside = x @ self.tensor(block.inside).T + self.tensor(block.bias)
                x = x + torch.relu(inside) @ self.tensor(block.out).T
        x = x[:, int(model.uses_sink) :]
        (readout,), (weights,) = model.readouts, model.weights.readouts
        scores = x @ self.tensor(weights.weight).T + self.tensor(weights.bias)
        best = chosen(readout, scores.double().cpu().numpy())
        return [[readout.atoms[each] for each in row] for row in best.tolist()]

    def head(self, x: Tensor, head: Any) -> Tensor:
        """One head; widths are padded to a multiple of 8, as fused kernels want them."""
        queries = x @ self.tensor(head.query).T + self.tensor(head.query_bias)
        keys = x @ self.tensor(head.key).T + self.tensor(head.key_bias)
        values = x @ self.tensor(head.value).T + self.tensor(head.value_bias)
        count = values.shape[-1]
        width = -(-max(queries.shape[-1], count) // 8) * 8
        query, key, value = (
            torch.nn.functional.pad(each, (0, width - each.shape[-1]))[:, None].contiguous()
            for each in (queries, keys, values)
        )
        moved = torch.nn.functional.scaled_dot_product_attention(
            query, key, value, is_causal=self.model.settings.causal, scale=1.0
        )
        return moved[:, 0, :, :count] @ self.tensor(head.out).T


def wrong_answers(model: Transformer, node: Node, device: str, count: int) -> tuple[int, int]:
    """How many inputs went wrong, of how many on which the program has a value."""
    chooser, by_length = Random(0), dict[int, list[Any]]()
    for _ in range(count):
        tokens = random_input(model.settings, chooser)
        by_length.setdefault(len(tokens), []).append(tokens)
    fused, wrong, tried = Fused(model, device), 0, 0
    for batch in by_length.values():
        ids = np.array([model.token_ids(list(tokens)) for tokens in batch])
        for tokens, answer in zip(batch, fused.answers(ids), strict=True):
            try:
                expected = plain.evaluate([node], tokens)[node]
            except (RaspError, plain.EvaluationError):
                continue
            tried += 1
            wrong += answer != expected
    return wrong, tried


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", type=Path, required=True)
    parser.add_argument("--length", type=int, default=40)
    parser.add_argument("--gallery-length", type=int, default=16)
    parser.add_argument("--inputs", type=int, default=300)
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.set_float32_matmul_precision("highest")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    record: dict[str, Any] = {
        "what": "bench/fused_attention.py",
        "device": torch.cuda.get_device_name() if device == "cuda" else platform.processor(),
        "versions": {"torch": torch.__version__, "python": platform.python_version()},
        "length": options.length, "gallery_length": options.gallery_length, "models": [],
    }  # fmt: skip
    for name, model, node in models(options.length, options.gallery_length):
        start = time.time()
        with torch.no_grad():
            wrong, tried = wrong_answers(model, node, device, options.inputs)
        record["models"].append({
            "name": name, "inputs": tried, "wrong": wrong,
            "parameters": model.parameter_count, "seconds": round(time.time() - start, 2),
        })  # fmt: skip
        options.record.write_text(json.dumps(record, indent=1))
        print(name, f"{wrong} wrong of {tried}", flush=True)
    print(
        sum(row["wrong"] for row in record["models"]), "wrong in", len(record["models"]), "models"
    )


if __name__ == "__main__":
    main()
