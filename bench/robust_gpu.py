"""Run robust models on a GPU through fused attention, eager attention and `torch.compile`.

`python bench/robust_gpu.py` compiles the gallery in the robust style at length 20 and compares
each way of running it, in float32 with TF32 off, and then in TF32, with the program's answers.
results/robust-gpu.json has one record for each program as soon as it is there, with a checksum of
the weights. Several processes share the programs. It needs torch; without a GPU it runs on the
processor.
"""

from __future__ import annotations

import argparse
import multiprocessing
import platform
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from compile_gallery import vocabulary_of
from robust import checksum, expected_answers, write_record

import rasp.teaching.gallery
from rasp.base.atoms import Atom
from rasp.base.errors import RaspError
from rasp.models.compiler import Transformer, compile
from rasp.models.compiler.model.forward import chosen
from rasp.teaching.gallery.gallery_inputs import BOS

RECORD = Path(__file__).parents[1] / "results" / "robust-gpu.json"
Tensor = torch.Tensor
Expected = dict[tuple[Atom, ...], list[Atom]]


class Model:
    """A compiled model as torch runs it."""

    def __init__(self, model: Transformer, device: str) -> None:
        self.model, self.device = model, device
        self.arrays = {name: torch.tensor(array, dtype=torch.float32, device=device)
                       for name, array in model.weights.arrays().items()}  # fmt: skip

    def scores(self, x: Tensor, fused: bool) -> Tensor:
        """The scores of the one output, from the embedded input."""
        for layer, block in enumerate(self.model.weights.feed_forwards):
            if layer:
                heads = range(1, len(self.model.weights.heads[layer - 1]) + 1)
                x = x + sum(self.head(x, f"layer{layer}.head{number}.", fused) for number in heads)
            if block.bias.size:
                part = partial(self._part, f"layer{layer}.feed_forward.")
                x = x + torch.relu(x @ part("inside").T + part("bias")) @ part("out").T
        return x @ self.arrays["output0.weight"].T + self.arrays["output0.bias"]

    def _part(self, name: str, part: str) -> Tensor:
        return self.arrays[name + part]

    def head(self, x: Tensor, name: str, fused: bool) -> Tensor:
        part = partial(self._part, name)
        query, key, value = (x @ part(each).T + part(f"{each}_bias")
                             for each in ("query", "key", "value"))  # fmt: skip
        if not fused:
            moved = torch.softmax(query @ key.transpose(1, 2), -1) @ value
            return moved @ part("out").T
        width = -(-max(query.shape[-1], value.shape[-1]) // 8) * 8
        padded = (torch.nn.functional.pad(each, (0, width - each.shape[-1]))[:, None].contiguous()
                  for each in (query, key, value))  # fmt: skip
        moved = torch.nn.functional.scaled_dot_product_attention(*padded, scale=1.0)
        return moved[:, 0, :, : value.shape[-1]] @ part("out").T

    def answers(self, scores: Tensor) -> list[list[Atom]]:
        """The atoms that scores say, in rows."""
        numbers = scores[:, int(self.model.uses_sink) :].double().cpu().numpy()
        (readout,) = self.model.readouts
        return [[readout.atoms[place] for place in row]
                for row in chosen(readout, numbers).tolist()]  # fmt: skip

    def wrong(self, expected: Expected, way: str) -> int:
        """How many inputs go wrong."""
        run = partial(self.scores, fused=way == "fused")
        if way == "compiled":
            run = torch.compile(run, dynamic=True)
        wrong = 0
        for length in sorted({len(tokens) for tokens in expected}, reverse=True):
            inputs = [tokens for tokens in expected if len(tokens) == length]
            rows = self.answers(run(self.embedded(inputs)))
            wrong += sum(row != expected[tokens] for tokens, row in zip(inputs, rows, strict=True))
        return wrong

    def embedded(self, inputs: list[tuple[Atom, ...]]) -> Tensor:
        """The stream before the first block, for inputs of one length."""
        ids = np.stack([self.model.token_ids(list(tokens)) for tokens in inputs])
        return torch.tensor(self.model.embedded(ids, np.float32), device=self.device)


def one(name: str, length: int, inputs: int, device: str) -> tuple[str, dict[str, Any]]:
    entry = rasp.programs.entry(name)
    bos = BOS if BOS in entry.inputs.before else None
    torch.set_num_threads(1)
    try:
        model = compile({"out": rasp.programs.load(name)}, vocabulary=vocabulary_of(entry, length),
                        max_length=length, bos=bos, style="robust")  # fmt: skip
    except RaspError as error:
        return name, {"refused": error.message}
    assert model.certificate is not None and model.certificate.robust is not None
    expected = expected_answers(entry, length, inputs)
    runner, wrong = Model(model, device), dict[str, int]()
    with torch.no_grad():
        torch.set_float32_matmul_precision("highest")
        for way in ("fused", "eager", "compiled"):
            wrong[way] = runner.wrong(expected, way)
        torch.set_float32_matmul_precision("high")
        wrong["TF32"] = runner.wrong(expected, "fused")
    return name, {"weights": checksum(model), "precisions": model.certificate.robust.precisions,
                  "inputs": len(expected), "wrong": wrong}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="of the gallery (default: all of them)")
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--length", type=int, default=20)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    work = partial(one, length=options.length, inputs=options.inputs, device=device)
    about: dict[str, Any] = {
        "what": "bench/robust_gpu.py", "length": options.length,
        "device": torch.cuda.get_device_name() if device == "cuda" else platform.processor(),
        "versions": {"torch": torch.__version__, "python": platform.python_version()},
    }  # fmt: skip
    models = dict[str, Any]()
    context = multiprocessing.get_context("spawn")
    with context.Pool(options.processes, maxtasksperchild=4) as pool:
        for name, row in pool.imap_unordered(work, options.names or rasp.programs.names()):
            models[name] = row
            write_record(options.record, about, models)
            print(name, row, flush=True)


if __name__ == "__main__":
    main()
