"""What the page says of a cell: true of the selection, in the program's words, never in ours."""

import random
import re
from fractions import Fraction
from typing import Any

import pytest

import rasp.teaching.gallery
from rasp.apps.playground.page_answers import answer
from rasp.apps.playground.requests import example_text
from rasp.base.source import Source
from rasp.language.evaluator import evaluate_plain
from rasp.language.graph import Aggregate, Selector, SOp
from rasp.language.meaning.session import Session

pytestmark = pytest.mark.slow

HIST = "same = select(tokens, tokens, ==);\nhist = selector_width(same);\n"
LOOKS = re.compile(
    r"^position \d+ \((?:'[^']*'|[^')]+)\) looks at ((?:\d+(?:, | and )?)+|no position)"
)


def told(program: str, row: str, at: int, example: str = "hello", **more: Any) -> dict[str, Any]:
    request = {"kind": "explain", "program": program, "example": example, "row": row, "at": at}
    return answer(request | more)


@pytest.mark.parametrize(
    ("expression", "at", "sentence"),
    [
        ("selector_width(same)", 2, "position 2 ('l') looks at 2 and 3: two picked, so 2"),
        ("selector_width(select(tokens, tokens, ==))", 0,
         "position 0 ('h') looks at 0: one picked, so 1"),
        ("aggregate(select(indices, length - 1 - indices, ==), tokens)", 0,
         "position 0 ('h') looks at 4 ('o'), so 'o'"),
        ("aggregate(select(indices, indices, <=), indicator(tokens != \"e\"))", 2,
         "position 2 ('l') looks at 0, 1 and 2: the mean of 1, 0 and 1 is 0.67"),
        ("aggregate(select(indices, indices - 1, ==), hist)", 3,
         "position 3 ('l') looks at 2 ('l'), where hist is 2, so 2"),
        ("aggregate(select(indices, indices - 1, ==), tokens, \"-\")", 0,
         "position 0 ('h') looks at no position, so the default '-'"),
        ("selected_sum(same, indices)", 2,
         "position 2 ('l') looks at 2 and 3: the sum of 2 and 3 is 5"),
        ("hist > 1", 2, "position 2 ('l'): hist is 2, so hist > 1 is True"),
        ("count(tokens, \"l\") + 1", 0, "position 0 ('h'): count(tokens, \"l\") looks at "
         "0, 1, 2, 3 and 4 and is 2, so count(tokens, \"l\") + 1 is 3"),
        ("length", 1, "position 1 ('e') looks at 0, 1, 2, 3 and 4: five picked, so 5"),
    ],
)  # fmt: skip
def test_a_cell_is_explained_in_the_programs_words(expression: str, at: int, sentence: str) -> None:
    assert told(f"{HIST}x = {expression};", "x", at)["sentence"] == sentence


@pytest.mark.parametrize("name", rasp.programs.names()[3::6])
def test_positions_named_are_those_that_the_selection_picks(name: str) -> None:
    entry = rasp.programs.entry(name)
    tokens = entry.inputs.sample(random.Random(name), 7)
    session = Session()
    session.run(Source(name, entry.source.text))
    for row, node in session.names().items():
        if not isinstance(node, SOp):
            continue
        at = random.Random(row).randrange(len(tokens))
        found = told(entry.source.text, row, at, example_text(tokens))
        assert not re.search(r"\b[rx]\d\b", found["sentence"]), found["sentence"]
        if isinstance(node, Aggregate):
            picks = evaluate_plain([node.selector], tuple(tokens))[node.selector][at]
            assert found["looks_at"] == [key for key, picked in enumerate(picks) if picked]
        if match := LOOKS.match(found["sentence"]):
            named = [int(number) for number in re.findall(r"\d+", match.group(1))]
            assert named == found["looks_at"]


@pytest.mark.parametrize("seed", range(8))
def test_a_count_names_as_many_positions_as_it_counts(seed: int) -> None:
    draw = random.Random(seed)
    parts = [
        f"select({draw.choice(['tokens', 'indices'])}, {draw.choice(['tokens', 'indices'])}, ==)"
        if draw.random() < 0.3
        else f"select(indices, indices, {draw.choice(['<', '<=', '==', '!=', '>'])})"
        for _ in range(3)
    ]
    selector = f"{parts[0]} and {parts[1]} or not {parts[2]}"
    program = f"x = selector_width({selector});"
    tokens = "".join(draw.choice("ab") for _ in range(6))
    session = Session()
    session.run(Source("", f"s = {selector};"))
    node = session.names()["s"]
    assert isinstance(node, Selector)
    rows = evaluate_plain([node], tuple(tokens))[node]
    for at, row in enumerate(rows):
        picked = [key for key, bit in enumerate(row) if bit]
        found = told(program, "x", at, tokens)
        assert found["looks_at"] == picked and found["sentence"].endswith(f"so {len(picked)}")


def test_what_lights_up_is_what_the_value_depends_on() -> None:
    """Other tokens, that are not lit, may change without changing the value of an aggregate."""
    program = "x = aggregate(select(indices, length - 2 - indices, ==), tokens, 0);"
    for at in range(5):
        cells = told(program, "x", at, "[1, 2, 3, 4, 5]")["cells"]
        lit = cells.get("s0", [])
        handle = rasp.run(program)["x"]
        changed = [token if key in lit else 9 for key, token in enumerate([1, 2, 3, 4, 5])]
        assert handle(changed)[at] == handle([1, 2, 3, 4, 5])[at]


def test_the_line_of_a_value_is_where_it_was_written() -> None:
    program = HIST + "def twice(a) {\n    return a + a;\n}\nmore = twice(hist);\n"
    assert [place["line"] for place in told(program, "hist", 0)["places"]] == [2]
    assert {place["line"] for place in told(program, "more", 0)["places"]} == {4, 6}


def test_a_name_that_fails_does_not_hide_the_reason_of_the_others() -> None:
    found = told(HIST + "bad = tokens + 1;", "hist", 2)
    assert found["sentence"].endswith("two picked, so 2")
    assert "error" in told(HIST + "bad = tokens + 1;", "bad", 2)


@pytest.mark.parametrize("cell", [{"row": "none"}, {"at": 5}, {"at": -1}, {"at": "x"}, {"row": 3}])
def test_a_cell_that_is_not_there_is_refused(cell: dict[str, Any]) -> None:
    assert told(HIST, **{"row": "hist", "at": 0} | cell)["error"]["message"]


def test_every_selection_on_the_page_can_be_asked() -> None:
    program = (
        HIST + "x = aggregate(select(indices, indices - 1, ==), hist);\ny = sort(tokens, tokens);"
    )
    shown = answer({"kind": "run", "program": program, "example": "hello"})["selections"]
    assert len(shown) > 2
    for each in shown:
        request = {"kind": "explain", "program": program, "example": "hello", "at": 2}
        found = answer(request | {"selection": each["name"]})
        row = each["plan"]["head"]["picks"][2]
        assert found["looks_at"] == [key for key, bit in enumerate(row) if bit == "1"]
        assert found["selections"] == [each["name"]]


def test_numbers_are_short_in_a_sentence() -> None:
    from rasp.apps.playground.sentences import in_words

    assert [in_words(Fraction(part, 7)) for part in (1, 2, 14)] == ["0.14", "0.29", "2"]
