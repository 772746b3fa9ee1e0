"""A compiled model and the name of a matrix in, its numbers out with words on rows and columns.

What a head's four matrices do is two products: which dimensions of a query and a key make a score,
and which dimension of a key is copied into which. A bias is one more column, the constant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rasp.apps.playground.weights import Compiled, compiled, read_asked
from rasp.base.atoms import show
from rasp.base.errors import RaspNameError

if TYPE_CHECKING:
    import numpy as np

MOST_LINES = 150
"""Rows, or columns, of a matrix that one answer holds."""
CONSTANT = "constant"
Words = Sequence[str]
Matrix = tuple[Words, Words, "np.ndarray"]


def names_of(subject: Compiled) -> list[str]:
    """List the matrices in the order of use."""
    return list(_matrices(subject))


def matrix(request: dict[str, Any]) -> dict[str, Any]:
    """Return one matrix of a model without the rows and columns that hold nothing but zeros."""
    matrices = _matrices(compiled(read_asked(request)))
    name = str(request.get("matrix"))
    if name not in matrices:
        raise RaspNameError(f"the model has no matrix `{name}`", hint="choose one of the list")
    rows, columns, numbers = matrices[name]()
    down = [place for place in range(len(rows)) if numbers[place].any()]
    across = [place for place in range(len(columns)) if numbers[:, place].any()]
    return {
        "rows": [rows[place] for place in down[:MOST_LINES]],
        "columns": [columns[place] for place in across[:MOST_LINES]],
        "numbers": [
            [float(f"{numbers[row, column]:.4g}") for column in across[:MOST_LINES]]
            for row in down[:MOST_LINES]
        ],
        "shape": list(numbers.shape),
        "left_out": max(0, len(down) - MOST_LINES) + max(0, len(across) - MOST_LINES),
    }


def _matrices(subject: Compiled) -> dict[str, Callable[[], Matrix]]:
    model, told = subject.model, subject.words
    weights = model.weights
    dimensions = list(told.dimensions)
    tokens = [show(token) for token in model.settings.vocabulary]
    tokens += ["sink"] * (len(weights.tokens) - len(tokens))
    places = [f"position {place}" for place in range(len(weights.positions))]
    matrices: dict[str, Callable[[], Matrix]] = {
        "embedding of tokens": lambda: (tokens, dimensions, weights.tokens),
        "embedding of positions": lambda: (places, dimensions, weights.positions),
    }
    for layer, block in enumerate(weights.feed_forwards):
        for number, head in enumerate(weights.heads[layer - 1] if layer else (), 1):
            matrices |= _of_head(f"layer {layer}, head {number}", head, dimensions)
        if block.bias.size:
            matrices |= _of_block(
                f"layer {layer}, feed-forward", block, told.hidden[layer], dimensions
            )
    for readout, own in zip(model.readouts, weights.readouts, strict=True):
        atoms = [show(atom) for atom in readout.atoms] if readout.scored else [readout.name]
        matrices[f"read-out of {readout.name}"] = lambda atoms=atoms, own=own: (  # type: ignore[misc]
            atoms, [*dimensions, CONSTANT], _with_bias(own.weight, own.bias)
        )  # fmt: skip
    return matrices


def _of_head(name: str, head: Any, dimensions: list[str]) -> dict[str, Callable[[], Matrix]]:
    words = [*dimensions, CONSTANT]
    return {
        f"{name}: scores (query by key)": lambda: (
            words, words,
            _with_bias(head.query, head.query_bias).T @ _with_bias(head.key, head.key_bias),
        ),
        f"{name}: what is written (rows) of what is read (columns)": lambda: (
            dimensions, words, head.out @ _with_bias(head.value, head.value_bias)
        ),
    }  # fmt: skip


def _of_block(
    name: str, block: Any, hidden: Words, dimensions: list[str]
) -> dict[str, Callable[[], Matrix]]:
    inside = _with_bias(block.inside, block.bias)
    return {
        f"{name}: into the hidden units": lambda: (hidden, [*dimensions, CONSTANT], inside),
        f"{name}: out of the hidden units": lambda: (dimensions, hidden, block.out),
    }


def _with_bias(array: np.ndarray, bias: np.ndarray) -> np.ndarray:
    import numpy as np

    return np.hstack([array, np.asarray(bias).reshape(-1, 1)])
