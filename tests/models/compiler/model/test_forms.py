"""Values survive being written and read, and nothing of another type is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from rasp.base.atoms import Atom
from rasp.base.errors import RaspValueError
from rasp.language.graph import Const, Selector, SOp, Tokens
from rasp.models.compiler.model.forms import from_data, read, to_data, write


@dataclass(frozen=True)
class Left:
    size: int


@dataclass(frozen=True)
class Right:
    node: SOp


@dataclass(frozen=True)
class Shapes:
    name: str
    flags: tuple[bool, ...]
    weights: Mapping[tuple[int, int], Fraction]
    sides: tuple[Left | Right | None, ...]
    atom: Atom | None
    codes: Mapping[SOp, tuple[float, ...] | None]


WHOLE = Shapes(
    "a", (True, False), {(0, 1): Fraction(1, 3)}, (Left(1), None, Right(Tokens())), "x",
    {Tokens(): (1.5, 2), Const(1): None},
)  # fmt: skip


def test_a_data_class_survives() -> None:
    data = json.loads(json.dumps(to_data(WHOLE)))
    assert from_data(Shapes, data) == WHOLE


@pytest.mark.parametrize(
    ("key", "part"),
    [
        ("name", 1), ("name", None), ("flags", [1]), ("flags", "ab"), ("flags", True),
        ("weights", [[[0, 1], "1e9"]]), ("weights", [[[0, -1], "1"]]), ("weights", [[[0], "1"]]),
        ("weights", [[[True, 1], "1"]]), ("weights", {"0": "1"}), ("sides", [{"kind": "Up"}]),
        ("sides", [{"kind": "Left"}]), ("sides", [{"kind": "Left", "size": 1.0}]),
        ("sides", [{"kind": "Right", "node": 9}]), ("atom", "x"), ("codes", [[0, ["1"]]]),
        ("codes", [[0]]),
    ],
)  # fmt: skip
def test_what_is_of_another_type_is_refused(key: str, part: Any) -> None:
    data = to_data(WHOLE)
    assert from_data(Shapes, data | {key: data[key]}) == WHOLE
    with pytest.raises(RaspValueError, match="damaged"):
        from_data(Shapes, data | {key: part})


def test_a_node_of_another_kind_is_refused() -> None:
    places: dict[Any, int] = {}
    assert write(SOp, Tokens(), places) == 0 and read(SOp, 0, list(places)) is Tokens()
    with pytest.raises(RaspValueError, match="damaged"):
        read(Selector, 0, list(places))


def test_what_is_missing_is_refused() -> None:
    data = to_data(WHOLE)
    del data["atom"]
    with pytest.raises(RaspValueError, match="damaged"):
        from_data(Shapes, data)
