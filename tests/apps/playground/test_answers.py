"""What the page is told: the values are the evaluator's, the reasons those of the other tools."""

import base64
import dataclasses
import inspect
import io
import json
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest

import rasp.teaching.gallery
from rasp.apps.playground.budgets import SLOW
from rasp.apps.playground.page_answers import answer, answer_text
from rasp.apps.playground.requests import example_text
from rasp.apps.playground.weights import Asked
from rasp.base.source import Source
from rasp.insight.drawing.glyphs import in_title
from rasp.insight.schedule import schedule
from rasp.language.evaluator import evaluate_plain
from rasp.language.graph import Selector, SOp
from rasp.language.meaning.session import Session

pytestmark = pytest.mark.slow

HIST = "same = select(tokens, tokens, ==);\nhist = selector_width(same);\n"


def run(program: str, example: str = "hello") -> dict[str, Any]:
    return answer({"kind": "run", "program": program, "example": example})


def test_every_kind_of_request_has_a_budget() -> None:
    from rasp.apps.playground.page_answers import KINDS

    assert set(KINDS) > set(SLOW)


@pytest.mark.parametrize("name", rasp.programs.names()[::7])
def test_gallery_programs_show_the_plain_evaluators_values(name: str) -> None:
    entry = rasp.programs.entry(name)
    tokens = entry.inputs.sample(random.Random(name), 9)
    told = run(entry.source.text, example_text(tokens))
    assert told["errors"] == [] and told["failed"] == []
    session = Session()
    session.run(Source(name, entry.source.text))
    rows = {row["name"]: told["plan"]["strips"][row["strip"]] for row in told["rows"]}
    selections = {each["name"]: each["plan"]["head"]["picks"] for each in told["selections"]}
    for own, value in session.names().items():
        if isinstance(value, SOp):
            computed = evaluate_plain([value], tuple(tokens))[value]
            assert rows[own]["values"] == [in_title(atom) for atom in computed]
        elif isinstance(value, Selector):
            computed = evaluate_plain([value], tuple(tokens))[value]
            assert selections[own] == ["".join("01"[bit] for bit in row) for row in computed]


def test_two_names_of_one_s_op_are_two_rows() -> None:
    told = run("one = indices + 1;\nother = one;")
    assert [row["name"] for row in told["rows"]] == ["one", "other"]


def test_a_mistake_does_not_hide_the_other_names() -> None:
    told = run(HIST + "wrong = hsit + 1;\nafter = hist * 2;")
    assert [row["name"] for row in told["rows"]] == ["hist", "after"]
    [error] = told["errors"]
    assert error["line"] == 3 and "hist" in error["hint"]


def test_a_name_that_does_not_fit_the_example_is_told_apart() -> None:
    told = run(HIST + "more = tokens + 1;", "ab")
    assert [row["name"] for row in told["rows"]] == ["hist"]
    [failed] = told["failed"]
    assert failed["name"] == "more" and failed["line"] == 3


def test_places_count_as_a_browser_does() -> None:
    text = 'x = "😀" ; y = nothing;'
    [error] = run(text)["errors"]
    utf16 = text.encode("utf-16-le")
    assert utf16[2 * error["start"] : 2 * error["end"]].decode("utf-16-le") == "nothing"


@pytest.mark.parametrize(
    ("example", "tokens"),
    [
        ("hey", ["h", "e", "y"]),
        ('["ab", "c"]', ["ab", "c"]),
        ("[1, 2.5]", ["1", "2.5"]),
        ('"[]()"', ["[", "]", "(", ")"]),
        ("2..4", ["2", "3", "4"]),
    ],
)
def test_an_example_is_a_list_or_letters(example: str, tokens: list[str]) -> None:
    shown = run("x = tokens;", example)["plan"]["strips"]["s0"]["values"]
    assert [value.strip('"') for value in shown] == tokens


def test_an_empty_or_endless_example_is_refused_but_the_program_is_still_checked() -> None:
    for example in ("", "a" * 100_000, "[1,", "[]()"):
        told = run(HIST + "x = ;", example)
        assert told["example_error"]["hint"] and len(told["errors"]) == 1


def test_load_sees_the_gallery_alone() -> None:
    assert [row["name"] for row in run('load "reverse";')["rows"]] == ["reverse"]
    for path in ("/etc/passwd", "../../base/limits.py", "../../language/meaning/library.rasp"):
        [error] = run(f'load "{path}";')["errors"]
        assert "outside the program's folder" in error["message"]


def test_bare_expressions_are_shown_with_their_lines() -> None:
    told = run(HIST + 'hist("aab");\n1 + 1;')
    assert told["outputs"] == [{"line": 3, "text": "[2, 2, 1]"}, {"line": 4, "text": "2"}]


def test_too_many_selections_for_a_picture_leave_the_values() -> None:
    lines = [f"x{n} = aggregate(select(indices, {n}, ==), indices);" for n in range(60)]
    told = run("\n".join(lines), "a" * 200)
    assert len(told["rows"]) == 60
    last = told["plan"]["strips"][told["rows"][-1]["strip"]]
    assert last["values"] == ["59"] * 200


def test_the_flow_is_the_drawing_without_a_style_of_its_own() -> None:
    told = answer({"kind": "flow", "program": HIST, "example": "hello", "name": "hist"})
    assert "<style" not in told["svg"] and 'data-head="h1.1"' in told["svg"]
    assert len(told["plan"]["layers"]) == 1
    still = answer(
        {"kind": "picture", "program": HIST, "example": "ab", "name": "same", "theme": "dark"}
    )
    assert "<style" in still["svg"]


def test_layers_and_heads_are_those_of_the_schedule() -> None:
    entry = rasp.programs.entry("dyck1")
    told = answer({"kind": "architecture", "program": entry.source.text, "name": "dyck1"})
    placed = schedule(rasp.programs.load("dyck1"))
    assert told["heads_per_layer"] == list(placed.heads_per_layer)
    assert [len(layer["heads"]) for layer in told["layer_list"]] == told["heads_per_layer"]
    assert len(told["why_so_deep"]) == 1 + told["layers"]


def test_badges_are_the_dialects_of_the_program() -> None:
    text = 'more = num_prevs(tokens == "a") > 2; s = select(tokens, tokens, ==);'
    told = answer({"kind": "dialects", "program": text, "name": "more"})
    found = rasp.dialects(rasp.run(text)["more"])
    assert {each["dialect"]: each["in"] for each in told["badges"]} == {
        standing.dialect: standing.holds for standing in found.standings
    }
    assert "likely to generalise" in told["forecast"]
    assert answer({"kind": "dialects", "program": text, "name": "s"})["badges"] == []


def test_heads_of_a_model_are_counted_from_one() -> None:
    told = answer({"kind": "model_run", "program": HIST, "name": "hist", "example": "ab"})
    assert [(head["layer"], head["number"]) for head in told["heads"]] == [(1, 1)]


def test_fit_gives_the_counterexample() -> None:
    told = answer({"kind": "fit", "program": HIST, "name": "hist", "attention": "causal"})
    assert not told["fits"]
    assert told["verdicts"][0]["counterexample"]["input"] == '"aa"'
    assert told["verdicts"][0]["counterexample"]["example"] == "aa"
    assert answer({"kind": "fit", "program": HIST, "name": "hist", "layers": "1"})["fits"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"kind": "flow", "name": "other"}, "no `other`"),
        ({"kind": "flow", "name": 3}, "no s-op is chosen"),
        ({"kind": "fit", "name": "hist", "layers": "two"}, "whole number"),
        ({"kind": "fit", "name": "hist"}, "fit into what"),
        ({"kind": "exercise", "name": "nonsense"}, "no exercise"),
        ({"kind": "program", "name": "nonsense"}, "no program"),
        ({"kind": "picture", "name": "hist", "theme": "pink"}, "light or dark"),
        ({"kind": "nonsense"}, "no request"),
        ({"kind": "run", "program": 3}, "not a text"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_words(asked: dict[str, Any], words: str) -> None:
    told = answer({"program": HIST, "example": "hello"} | asked)
    assert words in told["error"]["message"] and told["error"]["hint"]


@pytest.mark.parametrize("seed", range(40))
def test_broken_programs_are_always_answered(seed: int) -> None:
    rng = random.Random(seed)
    text = list(rasp.programs.source(rng.choice(rasp.programs.names())))
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(text))
        text[at] = rng.choice(
            ["", "\ud800", "\0", "(", "}", '"', "select", "é", "\n", ";", "9" * 5000]
        )
    for kind in ("run", "format"):
        told = json.loads(
            answer_text(json.dumps({"kind": kind, "program": "".join(text), "example": "a(b"}))
        )
        assert "error" in told or "program" in told or "errors" in told


def test_weights_are_certified_and_look_where_the_program_looks(tmp_path: Path) -> None:
    pytest.importorskip("numpy", reason="weights need numpy")
    asked = {"program": HIST, "example": "hello", "name": "hist"}
    told, run = answer({"kind": "weights"} | asked), answer({"kind": "model_run"} | asked)
    assert told["is_exact"]
    rows = {row["name"]: row for row in run["s_ops"]}
    assert rows["hist"]["model"] == rows["hist"]["program"] == ["1", "1", "2", "2", "1"]
    assert all(all(row["agrees"]) for row in run["s_ops"])
    assert [head["selector"] for head in run["heads"]] == ["same"]
    assert run["heads"][0]["difference"] < 0.05  # keys that are not picked weigh a little
    assert len(run["dimensions"]) == len(run["stream"][0]["rows"]) == told["d_model"]
    from rasp.models.compiler import load

    with zipfile.ZipFile(io.BytesIO(base64.b64decode(told["files"]))) as archive:
        archive.extractall(tmp_path)
    assert load(tmp_path)("ollehhello") == rasp.run(HIST)["hist"]("ollehhello")


def test_every_option_of_rasp_compile_reaches_the_compiler() -> None:
    pytest.importorskip("numpy", reason="weights need numpy")
    others = {"outputs", "program", "alphabet", "tested", "progress"}
    given = set(inspect.signature(rasp.compile).parameters) - others
    assert given <= {field.name for field in dataclasses.fields(Asked)}
    program = 'ok = tokens != "z";\nsame = tokens;'
    asked = {"kind": "weights", "program": program, "example": "ab", "name": "same"}
    assert "`ok` holds" in answer(asked | {"where": "ok"})["statement"]
    wrong = {"style": "loud", "heads": "many", "where": "nobody", "extra_feed_forwards": "x"}
    for option, value in wrong.items():
        assert "error" in answer(asked | {option: value}), option
    for option in ("causal", "next_token", "no_sink"):
        assert answer(asked | {option: "yes"})["is_exact"]
    plain, robust = (answer(asked | {"style": style}) for style in ("compact", "robust"))
    assert plain["certificate"] != robust["certificate"]


def test_trained_models_are_found_by_their_graph_not_their_name(tmp_path: Path) -> None:
    pytest.importorskip("msgspec", reason="records are read with it")

    def record(name: str, program: str, tokens: float) -> str:
        task = {"program": program, "output": "x"}
        config = {"task": task, "layers": 1, "heads": 2, "width": 8, "epochs": 3}
        told = {
            "id": name,
            "name": name,
            "config": config,
            "best_epoch": 1,
            "test": {"tokens": tokens, "sequences": 0.5},
            "longer": {"tokens": 0.5, "sequences": 0.5},
            "curves": {"loss": [], "validation": []},
        }
        return json.dumps(told) + "\n"

    same = "x = selector_width(select(tokens, tokens, ==));"
    path = tmp_path / "records.jsonl"
    lines = [("low", same, 0.8), ("other", "x = length;", 1.0), ("broken", "x = ", 1.0)]
    records = [record(*line) for line in [*lines, ("high", same, 0.9)]]
    path.write_text("".join([*records, '{"id": "no record"}\n']))
    asked = {"kind": "trained", "program": HIST, "name": "hist"}
    told = answer(asked | {"records": str(path)})
    assert [each["name"] for each in told["trained"]] == ["high", "low"]
    assert answer(asked) == {"trained": []}
