"""Load the paper's compiled tasks with other people's libraries and try random inputs of each.

Run: `python bench/export.py --length 40 --inputs 2000 --record results/export.json`. Each task is
exported to each target that can hold it, and the folder is loaded in a fresh process by the stock
call of its library; rasp is not imported there. Prints one line per task and target: inputs tried,
wrong answers, the largest distance of a logit from that of our own model in float64, and the
smallest lead of the chosen logit over the next.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "models" / "compiler"))

from paper_programs import TASKS, Task

import rasp
from rasp.base.atoms import Atom
from rasp.language.evaluator import evaluate_batch
from rasp.models.certificate import Array
from rasp.models.compiler import Transformer
from rasp.models.compiler.model.vocabulary_inputs import by_length, random_input
from rasp.models.export import TARGETS, decoded, input_ids
from rasp.models.export.targets import write_export

LIBRARIES = ("torch", "transformers", "transformer-lens", "onnxruntime", "onnx", "numpy")

# Runs without rasp: folders, each with an export and files of ids, in; files of logits out.
STRANGER = """
import json, sys
from pathlib import Path
import numpy

for place in json.loads(sys.argv[1]):
    names = {"folder": f"{place}/export"}
    exec("\\n".join(json.loads(Path(place, "export", "rasp.json").read_text())["load"]), names)
    run = names["logits_of"]
    for path in sorted(Path(place).glob("ids.*.npy")):
        numpy.save(path.with_name(path.name.replace("ids", "logits")), run(numpy.load(path)))
assert "rasp" not in sys.modules
"""

Inputs = dict[tuple[Atom, ...], list[Atom]]


def compiled(task: Task, length: int) -> Transformer:
    return rasp.compile(
        rasp.run(task.text)["out"], vocabulary=task.vocabulary, max_length=length,
        causal=task.causal, heads=task.heads, sink=task.sink,
        bos=task.bos, style="compact",
    )  # fmt: skip


def answered(task: Task, model: Transformer, count: int) -> Inputs:
    """Random inputs, a third of them of full length, and the program's answers where it has any."""
    chooser = random.Random(11)
    drawn = list(dict.fromkeys(
        task.draw(model.settings, chooser) or random_input(model.settings, chooser)
        for _ in range(count)
    ))  # fmt: skip
    handle = rasp.run(task.text)["out"]
    found: Inputs = {}
    for batch in by_length(drawn, 64):
        found |= _answers(handle, batch)
    return found


def _answers(handle: rasp.Handle, batch: list[tuple[Atom, ...]]) -> Inputs:
    try:
        answers = evaluate_batch([handle.node], batch, handle.program)
    except rasp.RaspError:
        if len(batch) == 1:
            return {}
        return {key: row for each in batch for key, row in _answers(handle, [each]).items()}
    return {tokens: row[handle.node] for tokens, row in zip(batch, answers, strict=True)}


@dataclass
class Case:
    """One task in one target: the model, its inputs with the right answers, and the folder."""

    row: dict[str, Any]
    model: Transformer
    inputs: Inputs
    place: Path

    @property
    def groups(self) -> list[list[tuple[Atom, ...]]]:
        return list(by_length(self.inputs, 64))

    def write(self) -> bool:
        """Export the model and write its inputs; whether that could be done."""
        self.place.mkdir()
        start = time.process_time()
        try:
            checked = write_export(self.model, self.row["target"], self.place / "export")
        except rasp.RaspError as error:
            self.row["refused"] = error.message
            return False
        self.model = checked.model  # behind LayerNorms, a robust one
        if checked.layer_norms:
            self.row["layer_norms"] = checked.layer_norms
        self.row["export_cpu_seconds"] = round(time.process_time() - start, 2)
        print(self.row, file=sys.stderr, flush=True)
        for number, batch in enumerate(self.groups):
            ids = np.stack([input_ids(self.model, list(tokens)) for tokens in batch])
            np.save(self.place / f"ids.{number:05}.npy", ids.astype(np.int64))
        return True

    def compare(self) -> None:
        """Compare the logits that the stranger found with the program and with our own."""
        model = self.model
        wrong, deviation, lead = 0, 0.0, float("inf")
        for number, batch in enumerate(self.groups):
            logits = np.load(self.place / f"logits.{number:05}.npy")
            for tokens, each in zip(batch, logits, strict=True):
                wrong += decoded(model, each)["out"] != self.inputs[tokens]
            ours = own_logits(model, np.load(self.place / f"ids.{number:05}.npy"))
            theirs = logits[:, model.uses_sink :, : ours.shape[-1]]
            deviation = max(deviation, float(np.abs(theirs - ours).max()))
            if model.readouts[0].scored and theirs.shape[-1] > 1:
                best = np.sort(theirs, axis=-1)
                lead = min(lead, float((best[..., -1] - best[..., -2]).min()))
        self.row.update(inputs=len(self.inputs), wrong=wrong, largest_deviation=deviation,
                        smallest_lead=lead if np.isfinite(lead) else None)  # fmt: skip


def own_logits(model: Transformer, ids: Array) -> Array:
    residual = model.run(ids[:, model.uses_sink :], np.float64)[:, model.uses_sink :]
    (readout,) = model.weights.readouts
    return np.asarray(residual @ readout.weight.T + readout.bias)


def run_all(cases: list[Case]) -> None:
    """Export, let a process without rasp run the inputs, and compare."""
    written = [case for case in cases if case.write()]
    given = json.dumps([str(case.place) for case in written])
    command = [sys.executable, "-W", "ignore", "-c", STRANGER, given]
    alone = os.environ | {"OMP_NUM_THREADS": "1"}
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL, env=alone)
    for case in written:
        case.compare()


def write_record(path: Path, rows: list[dict[str, Any]]) -> None:
    record = {
        "command": shlex.join(["python", "bench/export.py", *sys.argv[1:]]),
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in LIBRARIES},
        "rows": rows,
    }
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--length", type=int, nargs="+", default=[40])
    parser.add_argument("--inputs", type=int, default=2000)
    parser.add_argument("--to", nargs="+", default=list(TARGETS))
    parser.add_argument("--record", type=Path, help="write what was measured there, as JSON")
    parser.add_argument("names", nargs="*", help="tasks; all of them if none is given")
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    models = {}
    for length in arguments.length:
        for name in arguments.names or TASKS:
            model = compiled(TASKS[name], length)
            models[name, length] = model, answered(TASKS[name], model, arguments.inputs)
    for target in arguments.to:
        with tempfile.TemporaryDirectory() as folder:
            cases = [
                Case({"task": name, "length": length, "target": target}, *found,
                     Path(folder) / str(number))
                for number, ((name, length), found) in enumerate(models.items())
                if target != ("hf-bert" if TASKS[name].causal else "hf-gpt2")
            ]  # fmt: skip
            run_all(cases)
        rows += [case.row for case in cases]
        for case in cases:
            print(json.dumps(case.row), flush=True)
        if arguments.record:
            write_record(arguments.record, rows)
    return 1 if any(row.get("wrong") or "refused" in row for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
