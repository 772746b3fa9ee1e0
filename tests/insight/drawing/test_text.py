"""The picture in letters says the same as the values."""

import pytest

import rasp
from rasp.insight.drawing import draw
from rasp.insight.drawing.glyphs import columns, in_cell
from rasp.insight.drawing.picture_plan import Flow
from strategies.graphs import named_program

from .flow_heads import heads_of


@pytest.mark.parametrize("seed", range(40))
def test_all_values_and_picks_are_in_the_text(seed: int) -> None:
    outputs, program, given = named_program(seed)
    drawing = draw(outputs, given, program)
    assert isinstance(drawing.plan, Flow)
    text = drawing.text()
    squeezed = [" ".join(line.split()) for line in text.splitlines()]
    for strip in drawing.plan.strips.values():
        if strip.head is None and not strip.is_constant:
            values = " ".join(in_cell(value, 6) for value in strip.values)
            assert any(values in line for line in squeezed), strip.label
    picks = sum(sum(map(sum, head.picks)) for head in heads_of(drawing.plan).values())
    assert text.count("█") == picks


def test_rows_line_up_with_wide_letters() -> None:
    same = rasp.run("same = select(tokens, tokens, ==);")["same"]
    lines = draw(same, ["日本", "x", "👩‍👧", "y"]).text().splitlines()
    grid = [line for line in lines if "█" in line]
    marks = [[columns(line[:at]) for at, mark in enumerate(line) if mark in "█·"] for line in grid]
    assert len(grid) == 4
    assert all(row == marks[0] for row in marks)


def test_a_drawing_prints_as_its_text() -> None:
    drawing = draw(rasp.run("up = tokens + tokens;")["up"], "ab")
    assert str(drawing) == drawing.text()
    how = 'print it to see it here; .save("picture.svg") writes it'
    assert repr(drawing) == f'<Drawing: up on "ab" ({how})>'


def test_what_is_compared_and_averaged_too_is_called_both() -> None:
    own = "select(tokens, tokens, ==) and select(indices, indices, ==)"
    lines = draw(rasp.run(f"x = aggregate({own}, tokens);")["x"], "ab").text().splitlines()
    rows = [line.split() for line in lines if line.endswith(("keys", "values"))]
    assert rows == [
        ["tokens", "a", "b", "keys"],
        ["indices", "0", "1", "keys"],
        ["tokens", "a", "b", "values"],
    ]
