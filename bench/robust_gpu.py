"""Run robust models on a GPU through fused attention, eager attention and `torch.compile`.

`python bench/robust_gpu.py --record FILE.json NAME…` compiles programs of the gallery in the robust
style at length 20 and compares each way of running them, in float32 with TF32 off, and in TF32
where the certificate states it, with the program's answers. It needs torch; without a GPU it runs
on the processor.
"""

from __future__ import annotations

import argparse
import json
import platform
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from compile_gallery import vocabulary_of
from robust import expected_answers

import rasp.programs
from rasp.atoms import Atom
from rasp.compiler import Transformer, compile
from rasp.compiler.model.transformer import nearest
from rasp.errors import RaspError
from rasp.programs.inputs import BOS

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

    def wrong(self, expected: Expected, way: str) -> tuple[int, int]:
        """How many inputs go wrong, of how many; `torch.compile` runs those of one length."""
        run = partial(self.scores, fused=way == "fused")
        lengths = sorted({len(tokens) for tokens in expected}, reverse=True)
        if way == "compiled":
            run, lengths = torch.compile(run), lengths[:1]
        wrong = count = 0
        for length in lengths:
            inputs = [tokens for tokens in expected if len(tokens) == length]
            ids = np.stack([self.model.token_ids(list(tokens)) for tokens in inputs])
            x = torch.tensor(self.model.embedded(ids, np.float32), device=self.device)
            found = run(x)[:, int(self.model.uses_sink) :].double().cpu().numpy()
            (readout,) = self.model.readouts
            best = (found.argmax(-1) if readout.scored
                    else nearest(found[..., 0], np.array(readout.codes)))  # fmt: skip
            for tokens, row in zip(inputs, best.tolist(), strict=True):
                wrong += [readout.atoms[place] for place in row] != expected[tokens]
            count += len(inputs)
        return wrong, count


def one(name: str, device: str, length: int, inputs: int) -> dict[str, Any]:
    entry = rasp.programs.entry(name)
    bos = BOS if BOS in entry.inputs.before else None
    try:
        model = compile({"out": rasp.programs.load(name)}, vocabulary=vocabulary_of(entry, length),
                        max_length=length, bos=bos, style="robust")  # fmt: skip
    except RaspError as error:
        return {"name": name, "refused": error.message}
    expected = expected_answers(entry, length, inputs)
    runner, found = Model(model, device), dict[str, Any]()
    with torch.no_grad():
        for way in ("fused", "eager", "compiled"):
            found[way] = dict(zip(("wrong", "inputs"), runner.wrong(expected, way), strict=True))
        torch.set_float32_matmul_precision("high")
        found["TF32"] = dict(zip(("wrong", "inputs"), runner.wrong(expected, "fused"), strict=True))
        torch.set_float32_matmul_precision("highest")
    return {"name": name, **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--record", type=Path, required=True)
    parser.add_argument("--length", type=int, default=20)
    parser.add_argument("--inputs", type=int, default=2000)
    options = parser.parse_args()
    torch.set_float32_matmul_precision("highest")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    record: dict[str, Any] = {
        "what": "bench/robust_gpu.py", "length": options.length,
        "device": torch.cuda.get_device_name() if device == "cuda" else platform.processor(),
        "versions": {"torch": torch.__version__, "python": platform.python_version()},
        "models": [],
    }  # fmt: skip
    for name in options.names:
        record["models"].append(one(name, device, options.length, options.inputs))
        options.record.write_text(json.dumps(record, indent=1))
        print(record["models"][-1], flush=True)


if __name__ == "__main__":
    main()
