"""What a plan does about rounding, beyond what most programs need."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Measures:
    """The measures of one attempt to compile a program."""

    rounds: bool = False
    """The residual stream rounds what heads add (see `rounded_sums`)."""
    adds_compared: bool = False
    """Means that are compared with a constant are sums as well."""
    counts_conditions: bool = False
    """The conditions of an `and` or `or` are worked out one by one, and counted."""
    compares_by_class: bool = False
    """Means are not compared by the squares of their codes, but class by class."""
    looks_up: bool = False
    """What a feed-forward would have to make for an output is read off its inputs."""


NONE = Measures()
