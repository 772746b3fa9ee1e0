"""What forgeries are made of: changed claims, models written by hand, and the test of all."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

import rasp
from models import (
    AB,
    expected_of,
    mistakes_in,
    outputs_of,
    verdict,
)
from rasp.base.atoms import Atom
from rasp.language.graph import Elementwise, Node, SOp, in_order
from rasp.models.certificate import Readout, Weights
from rasp.models.certificate.claims import (
    Claims,
)
from rasp.models.compiler import Transformer
from rasp.models.compiler.model.describe import Words
from rasp.models.compiler.settings import Settings

ONE = Fraction(1)
NOTHING = Fraction(0)


def forged(model: Transformer, claims: Claims, readout: Any = None) -> Transformer:
    """A copy of a model with other claims, whose weights can be changed."""
    other = copy.copy(model)
    other.weights = copy.deepcopy(model.weights)
    other.claims = replace(claims, readers=())
    if readout is not None:
        other.readouts = (readout,)
    return other


def with_head(claims: Claims, **changes: Any) -> Claims:
    """The same claims with another first head."""
    first, *others = claims.heads
    return replace(claims, heads=((replace(first[0], **changes), *first[1:]), *others))


def with_output(claims: Claims, **changes: Any) -> Claims:
    """The same claims with another first output of the first head."""
    return with_head(claims, outputs=(replace(claims.heads[0][0].outputs[0], **changes),))


def node_of(text: str, name: str = "out") -> Any:
    return rasp.run(text)[name].node


def handmade(
    out: Node, claims: Claims, arrays: Mapping[str, Any], atoms: Sequence[Atom],
    vocabulary: Sequence[Atom] = AB, where: SOp | None = None,
) -> Transformer:  # fmt: skip
    """A model of such arrays; those of a head that are left out are 0."""
    found = {name: np.array(array, float) for name, array in arrays.items()}
    length, size = found["positions"].shape
    for layer, heads in enumerate(claims.heads, 1):
        for name in (f"layer{layer}.head{number}" for number in range(1, len(heads) + 1)):
            for part in ("query", "key", "value"):
                found.setdefault(f"{name}.{part}", np.zeros((1, size)))
                found.setdefault(f"{name}.{part}_bias", np.zeros(1))
    weights = Weights.from_arrays(found, [len(heads) for heads in claims.heads], 1)
    settings = Settings(tuple(vocabulary), length, where=where, where_name="promise")
    readout = Readout("out", tuple(atoms), (), True)
    return Transformer(settings, weights, (readout,), claims, Words({"out": out}, {}, {}))


def over_tokens(*nodes: SOp) -> dict[Node, tuple[int, ...]]:
    """Everything that is made of tokens alone, as a function of the token."""
    return {node: (0,) for node in in_order(nodes) if isinstance(node, Elementwise)}


def added_up(terms: np.ndarray) -> float:
    """A sum in float32, one after the other."""
    total = np.float32(0)
    for term in terms.astype(np.float32):
        total = np.float32(total + term)
    return float(total)


def is_refused(model: Transformer, why: str) -> None:
    """A model that answers wrong on some input is refused, for such a reason."""
    outputs = outputs_of(model)
    assert mistakes_in(model, expected_of(model, outputs))
    found = verdict(model, outputs)
    assert not found.holds
    assert why in found.reason
