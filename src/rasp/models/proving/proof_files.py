"""A comparison and its task in, a proof file out: JSON with the network and sampled inputs.

The file says everything that a second program needs to check it: the steps of the network, their
numbers as hexadecimal floats, the hash of both and of the model's own file, and inputs with the
answer and the margin claimed. `scripts/recheck_proof.py` reads it, and nothing of ours.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from rasp.base.errors import RaspValueError
from rasp.base.file_reading import fingerprint
from rasp.base.file_writing import replace_file
from rasp.models.proving.comparison import PROVED, ModelComparison, plain_input
from rasp.models.proving.digits import Array
from rasp.models.proving.network_table import (
    Activate,
    Affine,
    Attend,
    Network,
    Normalise,
    PoolPositions,
    Residual,
    Step,
)
from rasp.models.proving.proof_task import ProofTask, measure
from rasp.models.proving.specification import classes

FORMAT = 1
SAMPLED = 20


def write_proof(comparison: ModelComparison, path: str | Path, seed: int = 0) -> None:
    """Write a proof file, with the worst input of each length and random ones to look at."""
    task = comparison.task
    if comparison.verdict != PROVED or task is None:
        raise RaspValueError(
            f"there is no proof to write: the verdict is `{comparison.verdict}`",
            hint="a proof file is for what was proved",
        )
    if len(task.adapter.numbers) < len(task.adapter.answers):
        raise RaspValueError(
            "several logits mean one answer, which a proof file cannot say", hint="leave it out"
        )
    network = network_data(task.network)
    text = json.dumps(network, sort_keys=True)
    data = {
        "format": FORMAT,
        **comparison.as_dict(),
        "network_hash": fingerprint(text),
        "codes": [float(code).hex() for code in task.adapter.codes],
        "network": network,
        "samples": _samples(comparison, task, Random(seed)),
    }
    replace_file(path, json.dumps(data, ensure_ascii=False, indent=1).encode())


def _samples(comparison: ModelComparison, task: ProofTask, random: Random) -> list[dict[str, Any]]:
    """Inputs as rows of ids, with the nodes that answer, the classes claimed, and the margin."""
    inputs = [each.worst for each in comparison.lengths if each.margin is not None]
    while len(inputs) < len(comparison.lengths) + SAMPLED:
        length = random.choice(comparison.lengths).length
        first = () if task.adapter.first is None else (task.adapter.first,)
        drawn = (*first, *random.choices(task.alphabet, k=length - len(first)))
        inputs.append(drawn)
    rows = [_sample(task, tokens) for tokens in dict.fromkeys(inputs)]
    return [row for row in rows if row is not None]


def _sample(task: ProofTask, tokens: tuple[Any, ...]) -> dict[str, Any] | None:
    from rasp.models.proving.search import places_of

    adapter, network, length = task.adapter, task.network, len(tokens)
    if not all(promise.holds([tokens])[0] for promise in task.promises):
        return None
    places = places_of(task, tokens)
    answers = task.program.answers([tokens])
    wanted = classes(adapter, answers, length)
    if isinstance(answers[0], Exception) or not wanted.size:
        return None
    margin = max(float(measure(task, places, wanted, level)[0].low[0]) for level in range(2))
    if not margin > 0:
        return None
    columns = adapter.read_at(length)
    ids = adapter.rows(places, length, network.longest)[0]
    read = [0] if adapter.at == "whole" else np.arange(len(ids))[columns].reshape(-1).tolist()
    return {
        "input": plain_input(tokens), "ids": ids.tolist(), "read": read,
        "classes": wanted[0].tolist(), "margin": margin,
    }  # fmt: skip


def network_data(network: Network) -> dict[str, Any]:
    """A network as plain data: every number as a hexadecimal float."""
    return {
        "causal": network.causal,
        "tokens": _hex(network.tokens),
        "added": [_hex(table) for table in _added(network)],
        "steps": [_step(step) for step in network.steps],
    }


def _added(network: Network) -> list[Array]:
    """What is added to the tokens' vectors: a row for each position."""
    tables = [] if network.positions is None else [network.positions]
    if network.shift is not None:
        tables.append(np.tile(network.shift, (len(tables[0]) if tables else 1000, 1)))
    return tables


def _step(step: Step) -> dict[str, Any]:
    match step:
        case Affine():
            return {"kind": "affine", **_map(step)}
        case Attend(heads, bias):
            return {
                "kind": "attend", "bias": _hex(bias),
                "heads": [
                    {"query": _map(head.query), "key": _map(head.key), "value": _map(head.value),
                     "out": _map(Affine(head.out, np.zeros(len(head.out)))),
                     "squared": head.squared}
                    for head in heads
                ],
            }  # fmt: skip
        case Normalise(gain, shift, epsilon, is_folded):
            if is_folded:
                gain, shift = np.ones(len(gain)), np.zeros(len(shift))
            return {"kind": "normalise", "epsilon": float(epsilon).hex(), "gain": _hex(gain),
                    "shift": _hex(shift)}  # fmt: skip
        case Activate(name):
            return {"kind": "activate", "function": name}
        case PoolPositions(name):
            return {"kind": "pool", "by": name}
        case Residual(steps):
            return {"kind": "residual", "steps": [_step(inner) for inner in steps]}


def _map(part: Affine) -> dict[str, Any]:
    low = {} if part.low is None else {"low": _hex(part.low)}
    return {"weight": _hex(part.weight), "bias": _hex(part.bias), **low}


def _hex(array: Array) -> Any:
    if array.ndim == 1:
        return [float(number).hex() for number in array]
    return [_hex(row) for row in array]
