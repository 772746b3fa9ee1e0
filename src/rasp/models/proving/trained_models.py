"""A run of `rasp train` in, its model and what it learned as a proof wants them out.

The model is the paper's: an encoder with sinusoidal positions and LayerNorm after each part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from rasp.base.errors import RaspUnsupportedError, RaspValueError
from rasp.base.spelling import did_you_mean
from rasp.language.graph import Const, Elementwise, SOp
from rasp.models.proving.adapter import Adapter
from rasp.models.proving.architecture_rows import Architecture
from rasp.models.proving.comparison import ModelComparison
from rasp.models.proving.digits import Array
from rasp.models.proving.model_files import Model, open_model
from rasp.models.proving.search import prove
from rasp.models.training.config import RunConfig
from rasp.models.training.data import make_data

MOST_INPUTS = 5_000
PARTS = ("query", "key", "value")


def trained_model(config: RunConfig, parameters: Mapping[str, Array]) -> Model:
    """Make a network of a run's parameters; its adapter follows from the task."""
    from rasp.models.training.network import NORM_EPSILON
    from rasp.models.training.parameters import sinusoids

    task, start = config.task, int(config.task.bos is not None)
    longest = task.lengths[1] + start
    if task.after is not None:
        raise RaspUnsupportedError(
            "this model generates, and only its answers at each position can be compared",
            hint="train it without `--after`",
        )
    data = make_data(task, config.data_seed, {"train": config.sizes["train"]})
    adapter = Adapter(
        task.vocabulary, tuple(range(len(task.vocabulary))), data.classes,
        shortest=task.lengths[0] + start, longest=longest, first=task.bos, ignored=start,
        source="the task that the model was trained on", logits=(0, len(data.classes)),
    )  # fmt: skip
    try:
        arrays = _renamed(parameters, config.layers)
    except (KeyError, ValueError):
        raise RaspValueError(
            "the weights are not those of such a run", hint="train the run again"
        ) from None
    arrays["positions"] = sinusoids(longest, config.width).numpy().astype(np.float64)
    row = Architecture(
        config.layers, config.heads, task.causal, "embedding", norm="post", epsilon=NORM_EPSILON
    )
    return replace(open_model((row, arrays), adapter), name=config.name)


def run_of(folder: str, name: str) -> Model:
    """The model of a finished run in a folder of records."""
    from rasp.models.training.run_pictures import load_model
    from rasp.models.training.run_store import Store

    store = Store(folder)
    records = {record.name: record for record in store.records().values()}
    if name not in records:
        raise RaspValueError(
            f"there is no run `{name}` in `{folder}`",
            hint=did_you_mean(name, records, f"its runs are {', '.join(records)}"),
        )
    parameters, _ = load_model(store, records[name])
    arrays = {part: tensor[0].numpy() for part, tensor in parameters.items()}
    return trained_model(records[name].run, arrays)


def prove_trained(config: RunConfig, parameters: Mapping[str, Array]) -> ModelComparison:
    """Say how far a trained encoder is its program, and the first input where it is not."""
    task, model = config.task, trained_model(config, parameters)
    program = task.handle.node
    assert isinstance(program, SOp) and model.adapter is not None
    if task.clip is not None:
        is_above = Elementwise(">", (program, Const(task.clip)))
        program = Elementwise("if", (is_above, Const(task.clip), program))
    return prove(model, program, up_to=_affordable(len(task.alphabet), model.adapter))


def _affordable(letters: int, adapter: Adapter) -> int:
    """As far as few inputs reach."""
    start = int(adapter.first is not None)
    length, total = adapter.shortest, letters ** (adapter.shortest - start)
    while length < (adapter.longest or length):
        total += letters ** (length + 1 - start)
        if total > MOST_INPUTS:
            break
        length += 1
    return length


def _renamed(parameters: Mapping[str, Array], layers: int) -> dict[str, Array]:
    """Matrices turned round, one for queries, keys and values each, norms apart."""
    given = {name: np.asarray(array, np.float64) for name, array in parameters.items()}
    arrays = {
        "embedding": given["embedding"],
        "readout.weight": given["classify"].T,
        "readout.bias": given["classify_bias"],
    }
    for layer in range(layers):
        name = f"blocks.{layer}"
        weights = np.split(given[f"{layer}.attend"].T, 3)
        biases = np.split(given[f"{layer}.attend_bias"], 3)
        for part, weight, bias in zip(PARTS, weights, biases, strict=True):
            arrays |= {f"{name}.{part}.weight": weight, f"{name}.{part}.bias": bias}
        for part, norm, matrix in (("out", "norm1", "join"), ("outside", "norm2", "narrow")):
            bias, gain, shift = given[f"{layer}.{matrix}_norm"]
            arrays |= {f"{name}.{part}.weight": given[f"{layer}.{matrix}"].T,
                       f"{name}.{part}.bias": bias, f"{name}.{norm}.weight": gain,
                       f"{name}.{norm}.bias": shift}  # fmt: skip
        arrays |= {f"{name}.inside.weight": given[f"{layer}.widen"].T,
                   f"{name}.inside.bias": given[f"{layer}.widen_bias"]}  # fmt: skip
    return arrays
