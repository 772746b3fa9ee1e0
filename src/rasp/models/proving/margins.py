"""By how much every answer leads the others: surely, surely not, or undecided.

An input's margin is the least lead, over the positions compared, of the right answer over every
other. Logits are a ball: any two may be off by √2 times its radius from one another, a number by
the radius. Where both ends of that have one sign, the input is decided.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rasp.models.proving.adapter import Adapter
from rasp.models.proving.digits import Array, Digits
from rasp.models.proving.enclosures import Ball
from rasp.models.proving.radii import up
from rasp.models.proving.specification import ANYTHING, UNREACHED

PAIR = 2**0.5 * (1 + 1e-12)
ROUNDING = 2.0**-51
"""Of a difference, as float64."""


@dataclass(frozen=True)
class Leads:
    """For each input, bounds on its least lead; the position where it is, among those compared."""

    low: Array
    high: Array
    place: Array
    chosen: Array
    """The class with the largest logit, or the nearest code, of each position."""

    @property
    def right(self) -> Array:
        return np.asarray(self.low > 0)

    @property
    def wrong(self) -> Array:
        """Certainly: NaN is not."""
        return np.asarray(self.high < 0)


def leads(ball: Ball, digits: Digits, nodes: Array, wanted: Array, adapter: Adapter) -> Leads:
    """Compare logits with the classes wanted, both (input, position)."""
    radius = ball.radius[nodes]
    logits = ball.middle[nodes]  # (input, position, logit)
    asked = np.maximum(wanted, 0)
    if adapter.codes:
        number = digits.near(logits)[..., 0]
        lead, chosen = _code_lead(number, asked, adapter)
        off = up(radius + ROUNDING * (np.abs(number) + max(map(abs, adapter.codes))))
    else:
        lead, chosen = _logit_lead(logits, digits, asked, adapter.meanings)
        size = np.abs(np.where(np.isfinite(lead), lead, 0.0))
        if len(adapter.numbers) < len(adapter.answers):  # the best of several was found in float64
            size = size + np.abs(digits.near(logits)).max(axis=-1)
        off = up(PAIR * radius + ROUNDING * size)
    low, high = lead - off, lead + off
    for sign, which in ((np.inf, ANYTHING), (-np.inf, UNREACHED)):
        low, high = (np.where(wanted == which, sign, end) for end in (low, high))
    least = np.where(np.isnan(low), -np.inf, low).argmin(axis=1)
    rows = np.arange(len(low))
    worst = high.min(axis=1) if high.size else np.full(len(low), np.inf)
    return Leads(low[rows, least], worst, least, chosen)


def _logit_lead(logits: Any, digits: Digits, asked: Array, meanings: Array) -> tuple[Array, Array]:
    """By how much the best logit that means the answer exceeds the best of all others."""
    rows, columns = np.indices(asked.shape)
    near, is_own = digits.near(logits), meanings == asked[..., None]
    best = np.where(is_own, near, -np.inf).argmax(axis=-1)
    lead = np.array(digits.near(logits[rows, columns, best][..., None] - logits))
    return np.where(is_own, np.inf, lead).min(axis=-1), near.argmax(axis=-1)


def _code_lead(number: Array, asked: Array, adapter: Adapter) -> tuple[Array, Array]:
    """How far a number is inside the stretch that is nearest to codes of one answer.

    Below 0 where that is another answer: then, how far it is from leaving that stretch.
    """
    ends, meanings = np.array(adapter.codes), adapter.meanings
    turns = np.flatnonzero(meanings[1:] != meanings[:-1])  # where the next code means another
    borders = np.concatenate([[-np.inf], (ends[turns] + ends[turns + 1]) / 2, [np.inf]])
    stretch = np.searchsorted(borders[1:-1], number)
    chosen = meanings[np.append(turns, len(ends) - 1)][stretch]
    inside = np.minimum(number - borders[stretch], borders[stretch + 1] - number)
    return np.where(chosen == asked, inside, -inside), chosen
