"""Every way in which a test changes a stored number."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from models import Arrays, mistakes, model_of, verdict
from rasp.models.certificate import Weights
from rasp.models.compiler import Transformer

CHANGES = ("zero", "sign", "a little", "double", "last bit", "neighbour")
ALL = slice(None)


def changed(array: np.ndarray, place: int, change: str) -> np.ndarray:
    """An array with one number changed, as float32 holds it."""
    flat = array.astype(np.float32).reshape(-1).copy()
    old = flat[place]
    match change:
        case "zero":
            flat[place] = 0 if old else 1
        case "sign":
            flat[place] = -old
        case "a little":
            flat[place] = old * np.float32(1.001)
        case "double":
            flat[place] = 2 * old if old else 0.5
        case "last bit":
            flat[place] = np.nextafter(old, np.float32(np.inf))
        case "neighbour":
            other = (place + 1) % len(flat)
            flat[place], flat[other] = flat[other], old
    return flat.astype(np.float64).reshape(array.shape)


def mutants(
    arrays: Arrays, count: int | None, seed: int, part: slice = ALL
) -> Iterator[tuple[str, Arrays]]:
    """Change one number each time: all of them in every way, or so many at random; or a part."""
    places = [(name, place, change) for name, array in arrays.items()
              for place in range(array.size) for change in CHANGES]  # fmt: skip
    if count is not None and count < len(places):
        places = random.Random(seed).sample(places, count)
    for name, place, change in places[part]:
        new = changed(arrays[name], place, change)
        if not np.array_equal(new, arrays[name]):
            yield f"{name}[{place}] {change}", arrays | {name: new}


def with_arrays(model: Transformer, arrays: Arrays) -> Transformer:
    """The same model with other arrays."""
    weights = Weights.from_arrays(arrays, model.heads_per_layer, len(model.readouts))
    return replace(model, weights=weights)


def outcome(
    name: str, count: int | None, seed: int = 0, part: slice = ALL
) -> tuple[int, int, int, list[str]]:
    """How many mutants of a model are refused, right, and tried; and those that are wrong."""
    model, outputs = model_of(name)
    refused = right = total = 0
    wrong = []
    for label, arrays in mutants(model.weights.arrays(), count, seed, part):
        total += 1
        if not verdict(model, outputs, arrays).holds:
            refused += 1
        elif mistakes(name, with_arrays(model, arrays)):
            wrong.append(label)
        else:
            right += 1
    return refused, right, total, wrong
