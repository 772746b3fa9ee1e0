"""The theorem that lets a few inputs decide for every alphabet: renaming tokens renames answers."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

import pytest

import rasp
import rasp.teaching.gallery
from rasp.base.errors import RaspError
from rasp.insight.equivalence.answering import answer
from rasp.insight.equivalence.token_flow import (
    compared_constants,
    every_string,
    only_asks_for_equality,
)
from rasp.insight.equivalence.tried_inputs import fresh_tokens
from rasp.language.graph import Node

from .test_inputs import OPAQUE

pytestmark = pytest.mark.slow


def renamed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, RaspError):
        return value.kind
    if isinstance(value, list):
        return [renamed(each, names) for each in value]
    return names.get(value, value) if isinstance(value, str) else value


@cache
def opaque_programs() -> dict[str, Node]:
    every = {name: rasp.programs.load(name).node for name in rasp.programs.names()}
    every |= {name: handle.node for name, handle in OPAQUE.items()}
    return {name: node for name, node in every.items() if only_asks_for_equality([node])}


@pytest.mark.parametrize("name", opaque_programs())
def test_renaming_unknown_tokens_renames_the_answer(name: str) -> None:
    """The theorem that lets a few inputs decide for every alphabet, on programs it applies to."""
    node = opaque_programs()[name]
    known = [atom for atom in compared_constants([node]) if isinstance(atom, str)]
    random = Random(name)
    for _ in range(30):
        unknown = fresh_tokens(every_string([node]), 4)
        given = tuple(random.choices([*known[:6], *unknown], k=random.randint(1, 8)))
        names = dict(
            zip(unknown, random.sample(["T", "F", "c", "0", "xy", "d", "_"], 4), strict=True)
        )
        if set(names.values()) & set(known):
            continue
        meant = renamed(answer([node], given), names)
        assert renamed(answer([node], tuple(names.get(t, t) for t in given)), {}) == meant  # type: ignore[arg-type,call-overload]
