"""Readings are split into functions of single variables only where they are sums of such."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rasp.models.certificate.weights.reading import Parts
from rasp.models.certificate.weights.splitting import _pieces, _summands

ONE, OTHER = (each.reshape(-1) for each in np.indices((4, 3)))
VALUES: Any = SimpleNamespace(
    domain=lambda variable: SimpleNamespace(size=4 - variable),
    claims=SimpleNamespace(choices={None: None}),
)


def split(value: np.ndarray, rows: list[np.ndarray]) -> Any:
    total = Parts(value[:, None], *np.zeros((1, len(value), 1)), np.abs(value)[:, None] + 1,
                  np.ones((len(value), 1)))  # fmt: skip
    tables = _summands(rows, total.value)
    assert tables is not None
    return _pieces(VALUES, dict(enumerate(rows)), tables, total)


def test_a_sum_is_split_without_error() -> None:
    pieces = split(3.0 * ONE**2 - 7.0 * OTHER, [ONE, OTHER])
    assert [piece.space.variables for piece in pieces] == [(0,), (1,)]
    both = pieces[0].parts.value[ONE, 0] + pieces[1].parts.value[OTHER, 0]
    assert (both == 3.0 * ONE**2 - 7.0 * OTHER).all()
    assert not any(piece.parts.error.any() for piece in pieces)


@pytest.mark.parametrize("value", [ONE * OTHER, ONE == OTHER, np.maximum(ONE, OTHER)])
def test_what_is_no_sum_is_not_split(value: np.ndarray) -> None:
    assert split(value.astype(float), [ONE, OTHER]) is None


def test_what_is_left_counts_as_error() -> None:
    value = 1.0 * ONE
    value[5] += 2.0**-30
    pieces = split(value, [ONE, OTHER])
    assert max(piece.parts.error.max() for piece in pieces) >= 2.0**-30 / 2


def test_no_split_where_other_combinations_occur_alone() -> None:
    fine = ONE + OTHER < 3  # not all combinations occur: what is found fits those that do
    pieces = split((2.0 * ONE + OTHER)[fine], [ONE[fine], OTHER[fine]])
    both = pieces[0].parts.value[ONE[fine], 0] + pieces[1].parts.value[OTHER[fine], 0]
    assert (both == (2.0 * ONE + OTHER)[fine]).all()
