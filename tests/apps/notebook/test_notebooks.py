"""A real kernel runs notebooks: the magic, the displays, the errors, and the examples."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

REASON = "notebooks run with the packages nbclient, nbformat and ipykernel"
nbclient = pytest.importorskip("nbclient", reason=REASON)
nbformat = pytest.importorskip("nbformat", reason=REASON)
pytest.importorskip("ipykernel", reason=REASON)

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.ipynb"))

CELLS = {
    "load": "%load_ext rasp\nimport rasp\nfrom rasp import *",
    "define": "%%rasp\nsame = select(tokens, tokens, ==);\nhist = selector_width(same);",
    "python sees it": "hist('abcab')",
    "selector": "same",
    "python defines": "flip = select(indices, length - 1 - indices, '==').named('flip')",
    "rasp sees it": '%%rasp\nreverse = aggregate(flip, tokens);\nreverse("abc");',
    "draw": '%%rasp\ndraw(reverse, "abc");',
    "line": '%rasp reverse("hey")',
    "example": '%%rasp\nset example "zz"\nhist;',
    "function": "%%rasp\n# twice as much\ndef twice(x) { return 2 * x; }",
    "arch": "%%rasp\narch reverse",
    "schedule": "schedule(reverse)",
    "words": "%%rasp\nnames\ndoc sort\nshow example",
    "warning": "%%rasp\nsort = indices;",
    "rasp mistake": "%%rasp\nfine = indices;\nx = tokens + same;",
    "syntax mistake": "%%rasp\nx = (tokens;",
    "two mistakes": "%%rasp\nx = (;\ny = );",
    "python mistake": "x = 1\ny = tokens + same",
    "truth": "if tokens == 'a':\n    pass",
    "no place": "hist(5)",
    "after a mistake": "fine('ab')",
    "words after the magic": "%%rasp hist\nhist;",
    "other errors": "1 / 0",
    "unload": "%unload_ext rasp",
    "unloaded": "hist",
}


def executed(notebook: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the kernel's machinery, not ours
        nbclient.NotebookClient(notebook, timeout=120, **options).execute()
    return notebook


@pytest.fixture(scope="module")
def outputs() -> dict[str, list[Any]]:
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS.values()]
    notebook = executed(nbformat.v4.new_notebook(cells=cells), allow_errors=True)
    return {name: cell.outputs for name, cell in zip(CELLS, notebook.cells, strict=True)}


def text(found: list[Any]) -> str:
    """Everything a cell printed, as plain text; the kernel may cut one stream into pieces."""
    parts: list[str] = []
    streaming = False
    for output in found:
        if output.output_type == "stream" and streaming:
            parts[-1] += output.text
        elif output.output_type == "error":
            parts.append(re.sub(r"\x1b\[[\d;]*m", "", "\n".join(output.traceback)))
        else:
            parts.append(output.get("text") or output.data.get("text/plain", ""))
        streaming = output.output_type == "stream"
    return "\n".join(parts)


def html(found: list[Any]) -> str:
    return "".join(output.data.get("text/html", "") for output in found if "data" in output)


def test_only_the_last_definition_of_a_cell_is_shown(outputs: dict[str, list[Any]]) -> None:
    assert len(outputs["define"]) == 1
    assert "<b>hist</b>" in html(outputs["define"])


def test_names_cross_over_both_ways(outputs: dict[str, list[Any]]) -> None:
    assert text(outputs["python sees it"]) == "[2, 2, 1, 2, 2]"
    assert '["c", "b", "a"]' in text(outputs["rasp sees it"])
    assert '["y", "e", "h"]' in text(outputs["line"])


def test_selectors_drawings_schedules_and_functions_are_pictures(
    outputs: dict[str, list[Any]],
) -> None:
    assert html(outputs["selector"]).count("■") == 7
    assert "<iframe" in html(outputs["draw"])
    assert "layer 2" in html(outputs["schedule"])
    assert "2 layers" in html(outputs["arch"])
    assert "2 layers" in text(outputs["arch"])
    assert "twice as much" in html(outputs["function"])


def test_the_running_example_can_be_set(outputs: dict[str, list[Any]]) -> None:
    assert html(outputs["example"]).count(">z</td>") == 2
    assert 'example: "zz"' in text(outputs["words"])


def test_words_and_warnings_are_answered(outputs: dict[str, list[Any]]) -> None:
    assert "flip" in text(outputs["words"])
    assert "in the order of keys" in text(outputs["words"])
    assert "hides the library's `sort`" in text(outputs["warning"])


@pytest.mark.parametrize(
    ("cell", "place", "carets"),
    [
        ("rasp mistake", "In[15]:2:5", "^^^^^^^^^^^^^"),
        ("syntax mistake", "In[16]:1:12", "^"),
        ("python mistake", "In[18]:2:5", "^^^^^^^^^^^^^"),
        ("truth", "In[19]:1:4", "^^^^^^^^^^^^^"),
        ("no place", "In[20]:1:1", "^^^^^^^"),
    ],
)
def test_a_mistake_shows_its_place_and_no_traceback(
    outputs: dict[str, list[Any]], cell: str, place: str, carets: str
) -> None:
    shown = text(outputs[cell])
    assert outputs[cell][-1].output_type == "error"
    assert shown.startswith("error: ")
    assert f"--> {place}" in shown
    assert carets in shown
    assert "hint: " in shown
    assert "Traceback" not in shown
    assert "site-packages" not in shown


def test_several_mistakes_are_all_shown(outputs: dict[str, list[Any]]) -> None:
    assert text(outputs["two mistakes"]).count("error: ") == 2


def test_work_goes_on_after_a_mistake(outputs: dict[str, list[Any]]) -> None:
    assert text(outputs["after a mistake"]) == "[0, 1]"
    assert "must be alone on its line" in text(outputs["words after the magic"])


def test_other_errors_are_left_to_python(outputs: dict[str, list[Any]]) -> None:
    assert "ZeroDivisionError" in text(outputs["other errors"])
    assert "Traceback" in text(outputs["other errors"])


def test_unloading_takes_the_pictures_away(outputs: dict[str, list[Any]]) -> None:
    assert html(outputs["unloaded"]) == ""
    assert text(outputs["unloaded"]).startswith("<s-op hist")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_from_top_to_bottom_and_gives_what_it_shows(path: Path) -> None:
    committed = nbformat.read(path, as_version=4)
    fresh = executed(nbformat.read(path, as_version=4))
    for before, after in zip(committed.cells, fresh.cells, strict=True):
        if before.cell_type == "code":
            told = f"{before.source}\nif the new answer is right, run scripts/execute_notebooks.py"
            assert text(before.outputs) == text(after.outputs), told


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 2
