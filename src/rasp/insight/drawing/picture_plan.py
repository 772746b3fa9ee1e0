"""What a picture shows, before anything is drawn: strips, heads, layers, and heat maps.

A plan is plain frozen data. It holds everything that is in the picture and nothing about
where or how: SVG, HTML, text and the browser all draw the same plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from rasp.base.atoms import Atom, Number
from rasp.base.errors import RaspValueError

Picks: TypeAlias = tuple[tuple[bool, ...], ...]
"""`picks[query][key]`: rows ask, columns answer."""


@dataclass(frozen=True)
class Strip:
    """An s-op and its sequence on the input: one cell per position."""

    id: str
    label: str
    """The name a person gave, else the expression."""
    expression: str
    """What it is computed from, in names; empty for `tokens` and `indices`."""
    values: tuple[Atom, ...]
    layer: int
    """Where it is computed; 0 is the embedding."""
    needs: tuple[str, ...] = ()
    """The strips it is computed from, with what is folded in between left out."""
    head: str | None = None
    """The head that computes it; None where a feed-forward does."""
    is_named: bool = True
    is_constant: bool = False
    defaulted: tuple[int, ...] = ()
    """The positions at which nothing was picked, so that the default is there."""
    place: str = ""
    """Where in the source it was written."""


@dataclass(frozen=True)
class Condition:
    """One `select`, or one `select_best`, inside a head's selector."""

    keys: str
    queries: str
    op: str
    """A comparison, or `best`."""
    picks: Picks
    scores: tuple[tuple[Number, ...], ...] = ()
    """For `best`: the score of each pair."""
    candidates: Picks = ()
    """For `best`: the pairs among which the best were kept."""
    more: tuple[tuple[str, str], ...] = ()
    """For `best` by a sum of scores: strip ids of the keys and queries of the other products."""

    @property
    def products(self) -> tuple[tuple[str, str], ...]:
        """Strip ids of everything compared or multiplied: keys and queries."""
        return ((self.keys, self.queries), *self.more)


@dataclass(frozen=True)
class AggregateShown:
    """One aggregate of a head: strip ids of the values it mixes and of its result."""

    values: str
    result: str
    default: Atom


@dataclass(frozen=True)
class HeadShown:
    """One attention head: keys, queries, the selection, and what is done with it."""

    id: str
    label: str
    """The selector's name; empty where it has none."""
    expression: str
    keys: tuple[str, ...]
    queries: tuple[str, ...]
    conditions: tuple[Condition, ...]
    picks: Picks
    aggregates: tuple[AggregateShown, ...] = ()
    place: str = ""


@dataclass(frozen=True)
class LayerShown:
    """One layer: its heads side by side, then the s-ops its feed-forward makes."""

    number: int
    heads: tuple[HeadShown, ...]
    feed_forward: tuple[str, ...]


@dataclass(frozen=True)
class Flow:
    """The whole computation of some s-ops on one input, layer by layer."""

    title: str
    tokens: tuple[Atom, ...]
    strips: Mapping[str, Strip]
    embedding: tuple[str, ...]
    input_feed_forward: tuple[str, ...]
    layers: tuple[LayerShown, ...]
    outputs: tuple[str, ...]
    note: str = ""

    def only_layers(self, first: int, last: int) -> Flow:
        """Return the flow of some layers; the input and the output are at its ends."""
        if not 1 <= first <= last <= len(self.layers):
            have = f"this has layers 1 to {len(self.layers)}" if self.layers else "this has none"
            raise RaspValueError(
                f"there are no layers {first} to {last} to draw", hint=f"{have}; write 1-2, or 2"
            )
        starts, ends = first == 1, last == len(self.layers)
        return replace(
            self,
            embedding=self.embedding if starts else (),
            input_feed_forward=self.input_feed_forward if starts else (),
            layers=self.layers[first - 1 : last],
            outputs=self.outputs if ends else (),
            note=self.note if starts and ends else f"{self.note}; {_shown(first, last)}",
        )


def _shown(first: int, last: int) -> str:
    return f"shown: layer {first}" if first == last else f"shown: layers {first} to {last}"


@dataclass(frozen=True)
class SelectionShown:
    """One selection alone."""

    title: str
    tokens: tuple[Atom, ...]
    strips: Mapping[str, Strip]
    head: HeadShown


@dataclass(frozen=True)
class HeatMap:
    """Numbers from 0 to 1 by row and column, such as the weights of an attention head."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    weights: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class HeatMaps:
    """Heat maps side by side."""

    title: str
    maps: tuple[HeatMap, ...]
    columns: tuple[int, ...] = ()
    """How many maps each column has, one above the other; empty: each map is its own column."""


Plan: TypeAlias = Flow | SelectionShown | HeatMaps
