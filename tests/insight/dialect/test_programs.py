"""Programs and dialects: what is said to be in one is, and what is not is told where."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import rasp
from rasp.apps.cli import main
from rasp.insight.dialect.dialect_verdicts import Dialects
from rasp.insight.dialect.interpreters import run_b_rasp, run_c_rasp
from rasp.insight.dialect.selector_rows import NotInDialect
from rasp.insight.dialect.to_b_rasp import BRaspReader
from rasp.insight.dialect.to_c_rasp import CRaspReader
from rasp.insight.dialect.written import DialectProgram
from rasp.teaching.gallery import entries
from rasp.teaching.gallery.dialects import RECORD, record_of, stored_dialects


def asked(text: str, alphabet: str = "ab") -> Dialects:
    return rasp.dialects(rasp.run(text)["x"], alphabet)


C_RASP = [
    'x = num_prevs(tokens == "a") > num_prevs(tokens == "b");',
    'x = frac_prevs(tokens, "a") >= 0.5;',
    'x = 2 * frac_prevs(tokens, "a") - frac_prevs(tokens, "b") == 1;',
    "x = selector_width(select(tokens, tokens, ==) and select(indices, indices, <)) == 1;",
    'x = has_prev(tokens) and tokens != "b";',
    "x = 3 if indices > 2 else 4;",
    'x = aggregate(select(tokens, "a", ==) and select(indices, indices, <=), 1) == 1;',
]
B_RASP = [
    "x = has_prev(tokens);",
    'x = aggregate(select(indices, indices - 2, ==), tokens, "b") == "a";',
    'x = aggregate(select_best(select(tokens, "a", ==) and select(indices, indices, <), '
    "score(indices, 1)), indices == 0, False);",
    'x = contains(tokens, "a");',
    "x = indices == length - 1 or indices == 1;",
    'x = selector_width(select(tokens, "a", ==) and select(indices, indices, >)) > 0;',
    'x = aggregate(full_s, indicator(tokens == "a")) == 1;',
]
NEITHER = [
    ("x = indices % 2 == 0;", "%"),
    ('x = num_prevs(tokens == "a") * num_prevs(tokens == "b") > 3;', "num_prevs"),
    ("x = aggregate(select(indices, length - 1 - indices, ==), tokens) == tokens;", "length"),
]


def compare(found: Dialects, dialect: str, text: str) -> None:
    """Run the text of a dialect on every word up to length 8, beside the program."""
    run = run_c_rasp if dialect == "C-RASP" else run_b_rasp
    handle = rasp.run(text)["x"]
    for length in range(1, 9):
        words = ["".join(word) for word in product("ab", repeat=length)]
        lines = run(found[dialect].text, words)
        for number, values in enumerate(rasp.evaluate(handle, words)):
            for place, value in enumerate(values):
                if isinstance(value, bool):
                    assert lines["accept"][number, place] == value, (words[number], place)


@pytest.mark.slow
@pytest.mark.parametrize("text", C_RASP)
def test_programs_in_c_rasp(text: str) -> None:
    found = asked(text)
    assert found["C-RASP"].holds, found
    compare(found, "C-RASP", text)


@pytest.mark.parametrize("text", B_RASP)
def test_programs_in_b_rasp(text: str) -> None:
    found = asked(text)
    assert found["B-RASP"].holds, found
    compare(found, "B-RASP", text)


@pytest.mark.parametrize(("text", "blamed"), NEITHER)
def test_programs_in_neither_are_told_what_is_to_blame(text: str, blamed: str) -> None:
    found = asked(text)
    for dialect in ("C-RASP", "B-RASP"):
        assert not found[dialect].holds and not found[dialect].text
    assert blamed in found["C-RASP"].why


@pytest.mark.parametrize(
    ("counts", "blamed"),
    [
        ("same = select_eq(tokens, tokens);\nhist = selector_width(same);", "selector_width(same)"),
        ("\nhist = histf(tokens);", "histf(tokens)"),
    ],
)
def test_a_head_is_blamed_and_not_another_user_of_its_selector(counts: str, blamed: str) -> None:
    text = f"{counts}\nfirst = not has_prev(tokens);\nx = hist + indicator(first);"
    found = asked(text)
    for dialect in ("RASP-L", "C-RASP"):
        assert found[dialect].why == f"`{blamed}` looks at later positions"
        assert found[dialect].line == "<input>:2"


def test_a_chain_that_is_too_long_to_read_is_said_to_be_so() -> None:
    loop = "x = indices; for i in range(300) { x = aggregate(select_all, x + 1); }"
    with pytest.raises(rasp.RaspLimitError, match="each of which needs the one before"):
        asked(loop)


def test_an_answer_shows_itself_in_python() -> None:
    found = asked("x = has_prev(tokens);")
    for answer in (found, found["B-RASP"], found.classes, found.classes and found.classes.c_rasp):
        assert repr(answer) == str(answer) and "dialect=" not in repr(answer)


def test_a_rewrite_is_said() -> None:
    mean = asked('x = frac_prevs(tokens, "a") > 0.5;')["C-RASP"]
    assert mean.holds and not mean.is_as_written and "mean" in mean.rewrites[0]
    counts = asked('x = num_prevs(tokens == "a") > 2;')["C-RASP"]
    assert counts.is_as_written


def test_a_rewrite_is_proved_by_equivalent() -> None:
    mean = asked('x = frac_prevs(tokens, "a") > 0.5;')["C-RASP"]
    assert mean.proof is not None and mean.proof.same and mean.proof.all_up_to == 10
    assert "`equivalent`: the same on all inputs over {a, b} up to length 10" in str(mean)
    assert asked('x = num_prevs(tokens == "a") > 2;')["C-RASP"].proof is None  # nothing to prove


@pytest.mark.slow
@pytest.mark.parametrize("text", [*C_RASP, *B_RASP])
def test_a_text_is_a_program_in_rasp_again(text: str) -> None:
    found, program = asked(text), rasp.run(text)["x"]
    for standing in found.standings:
        if standing.written is not None:
            assert standing.written.prove(program.node, found.alphabet, 6).same


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reader", "text", "dialect"),
    [
        (CRaspReader, 'x = frac_prevs(tokens, "a") > 0.5;', "C-RASP"),
        (CRaspReader, "x = 3 if indices > 2 else 4;", "C-RASP"),
        (BRaspReader, 'x = selector_width(select(tokens, "a", ==)) > 0;', "B-RASP"),
    ],
)
@pytest.mark.parametrize("blind", [False, True])
def test_a_wrong_reading_is_never_a_yes(
    reader: Any, text: str, dialect: str, blind: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Either comparison alone notices it: the interpreter's, and that of `equivalent`."""
    right = reader.compare

    def wrong(self: Any, node: Any, op: str, one: Any, other: Any) -> Any:
        self.rewrites[node] = "a rule that does not hold"
        turned = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "==": "!=", "!=": "=="}
        return right(self, node, turned[op], one, other)

    assert asked(text)[dialect].holds
    monkeypatch.setattr(reader, "compare", wrong)
    if blind:
        monkeypatch.setattr(DialectProgram, "compare", lambda *_: (1, 6))
    found = asked(text)[dialect]
    assert not found.holds and "a mistake of ours" in found.why


def test_rasp_l_wants_positions_compared_and_no_look_ahead() -> None:
    assert asked('x = aggregate(select(indices, indices - 1, ==), tokens, "b");')["RASP-L"].holds
    for text in (
        "x = indices * 2;",
        'x = aggregate(select(indices, indices - 2, ==), tokens, "b");',
        'x = aggregate(select(indices, indices + 1, ==), tokens, "b");',
        "x = length;",
    ):
        assert not asked(text)["RASP-L"].holds, text


@pytest.mark.slow
def test_no_program_of_the_gallery_is_in_a_class_that_its_language_is_not_in() -> None:
    """Also: what the gallery says of its programs is what they are."""
    stored, automata = stored_dialects(), 0
    for entry in entries():
        found = rasp.dialects(rasp.programs.load(entry.name), list(entry.inputs.alphabet))
        assert stored[entry.name] == record_of(found), f"{RECORD}: run scripts/make_dialects.py"
        if found.classes is not None:
            automata += 1
            if found["C-RASP"].holds:
                assert found.classes.c_rasp_at_last.holds is not False, entry.name
            if found["B-RASP"].holds:
                assert found.classes.star_free.holds is not False, entry.name
    assert automata > 30


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    program = tmp_path / "p.rasp"
    program.write_text('more = num_prevs(tokens == "a") > 2;\nodd = indices % 2 == 1;\n')
    assert main(["dialect", str(program), "more", "--translate"]) == 0
    printed = capsys.readouterr().out
    assert "C-RASP:  in it as written" in printed and "accept(i) :=" in printed
    assert main(["dialect", str(program), "odd"]) == 0
    assert f"`indices % 2` applies `%` to a count ({program}:2)" in capsys.readouterr().out
    assert main(["dialect", "--regex", "(ab)*", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["c_rasp"]["in"] is True
    automaton = tmp_path / "odd.json"
    automaton.write_text('{"alphabet": "a", "moves": [[1], [0]], "accepting": [1]}')
    assert main(["dialect", "--automaton", str(automaton)]) == 0
    assert "not in C-RASP" in capsys.readouterr().out
    for wrong in (["--regex", "(ab"], [str(program)], []):
        assert main(["dialect", *wrong]) == 2


def test_the_gallery_lists_the_programs_of_a_dialect(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gallery", "--dialect", "c-rasp"]) == 0
    listed = capsys.readouterr().out
    assert "dyck1" in listed and "reverse" not in listed
    assert main(["gallery", "--dialect", "c-lisp"]) == 2


def test_a_refusal_names_the_part_that_is_to_blame() -> None:
    refusal = NotInDialect(rasp.tokens.node, "is the input")
    assert refusal.node is rasp.tokens.node and str(refusal) == "is the input"
