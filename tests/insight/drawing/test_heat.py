"""Heat maps of numbers: all of them there, and only numbers from 0 to 1."""

import re
from xml.etree import ElementTree

import numpy
import pytest

from rasp.base.errors import RaspLimitError, RaspTypeError, RaspValueError
from rasp.insight.drawing import heat_map, heat_maps


def subpaths(svg: str) -> dict[float, int]:
    """Count the drawn cells by how dark they are."""
    found: dict[float, int] = {}
    for path in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}path"):
        if path.get("class") == "picked":
            shade = float(path.get("fill-opacity", 1))
            found[shade] = found.get(shade, 0) + path.attrib["d"].count("M")
    return found


def test_each_weight_above_0_is_a_cell_as_dark_as_it_is_large() -> None:
    weights = numpy.random.default_rng(5).random((9, 7))
    weights[2, :3] = 0
    weights[4, 4] = 1
    shades = subpaths(heat_map(weights, range(9), range(7), "random").svg())
    assert sum(shades.values()) == 60
    for shade, count in shades.items():
        near = numpy.abs(weights - shade) <= 1 / 32
        assert count <= near.sum()


def test_the_faintest_weight_is_still_drawn() -> None:
    assert subpaths(heat_map([[1e-6, 0]], "q", "ab").svg()) == {0.03: 1}


def test_letters_grow_darker_with_the_weights() -> None:
    rows = heat_map([[0, 0.1, 0.3, 0.6, 1]], "q", "abcde").text().splitlines()
    assert rows[-1].split() == ["q", "·", "░", "▒", "▓", "█"]


def test_several_stand_side_by_side() -> None:
    one = [[1, 0], [0, 1]]
    svg = heat_maps([one] * 5, ["a", "b"], [f"head {at}" for at in range(5)], "layer 1").svg()
    assert len(re.findall("data-heat=", svg)) == 5
    assert set(re.findall(r"head \d", svg)) == {f"head {at}" for at in range(5)}


@pytest.mark.parametrize(
    ("matrix", "rows", "kind", "words"),
    [
        ([[2.0]], "a", RaspValueError, "from 0 to 1"),
        ([[-0.1]], "a", RaspValueError, "from 0 to 1"),
        ([[float("nan")]], "a", RaspValueError, "from 0 to 1"),
        ([["x"]], "a", RaspValueError, "from 0 to 1"),
        ([[1]], "ab", RaspValueError, "name 2 rows and 1 columns"),
        ([[1, 2]], "a", RaspValueError, "1 rows of 2 numbers"),
        ("nonsense", "a", RaspTypeError, "rows of numbers"),
        ([[0]] * 201, "a" * 201, RaspLimitError, "at most 200"),
    ],
)
def test_what_is_no_heat_map_is_refused(
    matrix: object, rows: str, kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        heat_map(matrix, rows, "k")


def test_rounding_beyond_1_is_forgiven() -> None:
    assert subpaths(heat_map([[1.0000001]], "q", "k").svg()) == {1.0: 1}
