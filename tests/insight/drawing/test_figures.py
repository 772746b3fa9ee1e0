"""The pictures of docs/figures show what the paper's figures show."""

from xml.etree import ElementTree

import pytest

import rasp
from rasp.base.atoms import to_python
from rasp.insight.drawing import draw
from repository import ROOT, script

make_figures = script("make_figures")

# heads per layer (the paper's table 1) and the outputs the paper gives; § positions do not count
FIGURES: dict[str, tuple[list[int], list[object]]] = {
    "reverse": ([1, 1], list("edcba")),
    "hist_bos": ([1], [None, 4, 4, 4, 4, 4, 4, 4, 4]),
    "hist_nobos": ([2], [4, 4, 2, 2, 4, 4]),
    "hist2": ([2, 1], [None, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3]),
    "sort": ([1, 1], list("§ABCDEFabcdef")),
    "most_freq": ([2, 1, 1], list("§dbca§§§§")),
    "dyck1": ([1, 1], list("PPPTPTF")),
    "dyck2": ([1, 2, 1, 1], list("PPFFFFF")),
    "dyck2_best": ([1, 1, 1], list("PPFFFFF")),
}


def test_every_figure_has_a_picture() -> None:
    assert set(make_figures.PICTURES) == set(FIGURES)
    assert {path.stem for path in (ROOT / "docs/figures").glob("*.svg")} == {
        *FIGURES,
        "front",
        "compact",
    }


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_has_the_papers_layers_heads_and_output(name: str) -> None:
    text, sop, given = make_figures.PICTURES[name]
    plan = draw(rasp.run(text)[sop], given).plan
    heads, output = FIGURES[name]
    assert [len(layer.heads) for layer in plan.layers] == heads
    shown = [to_python(value) for value in plan.strips[plan.outputs[0]].values]
    assert len(shown) == len(output)
    assert all(wanted in (None, got) for got, wanted in zip(shown, output, strict=True))


def test_the_stored_pictures_are_of_these_programs_on_these_inputs() -> None:
    for name, drawing in make_figures.drawings():
        stored = ElementTree.parse(ROOT / f"docs/figures/{name}.svg").getroot()
        assert stored[0].text == drawing.plan.title, "run: python scripts/make_figures.py"
