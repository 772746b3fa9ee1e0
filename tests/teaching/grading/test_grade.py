"""Grading: points and why, whatever is handed in; a student's mistake is never the grader's."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import rasp
from rasp.apps.cli import main
from rasp.teaching.grading import Exercise, Grades, find_submissions, grade, read_exercises
from rasp.teaching.grading.expected_answers import make_cases

from .hostile import write_class

REFERENCE = "hist = selector_width(select(tokens, tokens, ==));\nflip = length - 1 - indices;\n"


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    path = tmp_path / "reference.rasp"
    path.write_text(REFERENCE)
    return path


def hand_in(tmp_path: Path, **texts: str) -> str:
    folder = tmp_path / "class"
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.rasp").write_text(text)
    return str(folder)


def graded(folder: str, reference: object, **options: Any) -> Grades:
    return grade(find_submissions(folder), read_exercises(str(reference), **options), workers=1)


def verdicts(grades: Grades) -> dict[str, list[str]]:
    return {name: [mark.verdict for mark in marks] for name, marks in grades.marks.items()}


@pytest.mark.slow
def test_whatever_is_handed_in_is_graded(tmp_path: Path, reference: Path) -> None:
    folder = tmp_path / "class"
    kinds = write_class(folder, 24)
    found = grade(find_submissions(str(folder)), read_exercises(f"{reference}:hist"), workers=2)
    assert set(found.marks) == set(kinds)
    for name, [verdict] in verdicts(found).items():
        allowed = {
            "right": {"right"},
            "wrong": {"wrong", "error", "missing"},
            "hostile": {"stopped", "error", "unreadable", "wrong"},
        }[kinds[name]]
        assert verdict in allowed, name
    assert "root:" not in json.dumps(found.as_dict()), "nothing of /etc/passwd"
    assert max(map(len, str(found).splitlines())) <= 1000


def test_the_counterexample_is_a_shortest_one_in_the_exercises_alphabet(
    tmp_path: Path, reference: Path
) -> None:
    text = 'hist = histf(tokens) if tokens != "q" else 7;'
    folder = hand_in(tmp_path, ada=text, bob="hist = indices * 0 + 1;")
    found = graded(folder, f"{reference}:hist", alphabet="xy", max_length=5)
    [ada], [bob] = found.marks["ada"], found.marks["bob"]
    assert ada.is_full, "q is none of the tokens"
    assert bob.note == 'on "xx" it gives [1, 1], not [2, 2]'
    assert bob.counterexample == {
        "input": ["x", "x"], "wanted": "[2, 2]", "got": "[1, 1]", "is_shortest": True,
    }  # fmt: skip


def test_a_note_says_why_it_fails_and_is_not_cut(tmp_path: Path, reference: Path) -> None:
    folder = hand_in(tmp_path, ada="hist = 1 / indices;", bob=f"hist = {'very_' * 30}long;")
    found = graded(folder, f"{reference}:hist", max_length=2)
    note = 'on "a" it should give [1], but fails: division by zero: 1 / 0 (at position 0 of "a")'
    assert found.marks["ada"][0].note == note
    assert f"`{'very_' * 30}long` is not defined (bob.rasp:1:8)" in str(found)


@pytest.mark.slow
def test_points_for_size_and_for_a_part(tmp_path: Path, reference: Path) -> None:
    (tmp_path / "hidden.txt").write_text("ab\naab\nzz\n[1, 2]\n")
    folder = hand_in(
        tmp_path,
        large="hist = histf(tokens) + 0 * histf(indices);",
        some="hist = indices * 0 + 1;",
        small="hist = histf(tokens, assume_bos=True);",
    )
    hidden = str(tmp_path / "hidden.txt")
    options = {"points": 10, "size_points": 4, "heads": 2, "layers": 1, "inputs": hidden}
    found = graded(folder, f"{reference}:hist", partial=True, **options)
    assert verdicts(found) == {"large": ["too large"], "small": ["wrong"], "some": ["wrong"]}
    assert [found.marks[name][0].points for name in ("large", "some")] == [6, 5]
    assert found.marks["large"][0].note == (
        "it takes 1 layer of up to 4 heads; at most 1 layer of 2 heads may be used"
    )
    folder = hand_in(tmp_path, sly='hist = histf(tokens) if tokens != "z" else 0;')
    [sly] = graded(folder, f"{reference}:hist", alphabet="ab", inputs=hidden).marks["sly"]
    assert (sly.verdict, sly.note) == ("wrong", "it is wrong on a hidden input")
    assert "z" not in json.dumps([sly.note, sly.text, sly.counterexample])


def test_a_budget_that_a_hidden_input_exceeds_does_not_name_it(tmp_path: Path) -> None:
    (tmp_path / "same.rasp").write_text("same = tokens;")
    (tmp_path / "hidden.txt").write_text('["zqzqzq", "a"]\n')
    folder = hand_in(tmp_path, ada='same = tokens if tokens * 60000 != "" else tokens;')
    found = graded(folder, f"{tmp_path / 'same.rasp'}:same", alphabet="ab",
                   inputs=str(tmp_path / "hidden.txt"))  # fmt: skip
    [ada] = found.marks["ada"]
    assert (ada.verdict, ada.note) == ("stopped", "it takes too much on a hidden input")
    assert "zq" not in json.dumps(found.as_dict())


@pytest.mark.slow
def test_several_exercises_of_several_kinds(tmp_path: Path) -> None:
    (tmp_path / "answers.py").write_text(
        "def last(tokens):\n    return [tokens[-1]] * len(tokens)\n"
    )
    (tmp_path / "own.rasp").write_text(REFERENCE)
    exercises = tmp_path / "week1.toml"
    exercises.write_text(
        '[[exercise]]\nreference = "own.rasp:flip"\npoints = 2\n'
        '[[exercise]]\nreference = "gallery:dyck1"\npoints = 3\n'
        '[[exercise]]\nreference = "answers.py:last"\nname = "final"\nalphabet = "ab"\n'
    )
    solved = rasp.programs.source("dyck1") + "final = tokens[-1];\n" + REFERENCE
    folder = hand_in(tmp_path, all=solved, half="flip = length - 1 - indices;\nx = (;\n")
    found = graded(folder, exercises)
    assert found.as_dict()["submissions"][0]["points"] == 6
    assert verdicts(found)["half"] == ["right", "error", "error"]
    assert not found.all_right


@pytest.mark.slow
def test_a_folder_is_one_submission_and_loads_its_own_files(
    tmp_path: Path, reference: Path
) -> None:
    folder = Path(hand_in(tmp_path))
    for name, files in {
        "two": {"main.rasp": 'load "part";', "part.rasp": "hist = histf(tokens);"},
        "out": {"only.rasp": 'load "../../reference";'},
        "many": {"a.rasp": "", "b.rasp": ""},
        "none": {"notes.txt": ""},
    }.items():
        (folder / name).mkdir()
        for file, text in files.items():
            (folder / name / file).write_text(text)
    found = graded(str(folder), f"{reference}:hist")
    assert verdicts(found) == {
        "many": ["unreadable"], "none": ["unreadable"], "out": ["error"], "two": ["right"],
    }  # fmt: skip
    assert "outside the program's folder" in found.marks["out"][0].note
    one = find_submissions(str(folder / "two"), is_one=True)
    assert [(each.name, each.folder) for each in one] == [("two", str(folder / "two"))]


def test_no_submission_is_lost_to_a_name_or_a_link(tmp_path: Path) -> None:
    folder = Path(hand_in(tmp_path, ada="hist = histf(tokens);"))
    for elsewhere in (folder / "ada", tmp_path / "other"):
        elsewhere.mkdir()
        (elsewhere / "main.rasp").write_text("hist = indices;")
    (folder / "bob").symlink_to(tmp_path / "other")
    (folder / "cyd").symlink_to("ada")
    grades = graded(str(folder), "gallery:hist")
    assert verdicts(grades) == {
        "ada": ["wrong"], "ada.rasp": ["right"], "bob": ["unreadable"], "cyd": ["unreadable"],
    }  # fmt: skip
    assert grades.marks["bob"][0].note == "`bob` is a link to a folder"


@pytest.mark.slow
def test_the_command_tells_a_students_mistake_from_the_graders(
    capsys: Any, tmp_path: Path, reference: Path
) -> None:
    folder = hand_in(tmp_path, ada="hist = histf(tokens);", bob="hist = tokens;")
    words = ["grade", folder, f"{reference}:hist", "--points", "10", "--workers", "1"]
    out = tmp_path / "scores"
    assert main([*words, "--json", "--gradescope", str(out)]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [each["points"] for each in told["submissions"]] == [10, 0]
    record = json.loads((out / "bob.json").read_text())
    assert record["score"] == 0 and record["tests"][0]["max_score"] == 10
    assert 'on "a" it gives ["a"], not [1]' in record["tests"][0]["output"]
    words[1] = f"{folder}/ada.rasp"
    assert main([*words, "--gradescope", str(tmp_path / "results.json")]) == 0
    assert json.loads((tmp_path / "results.json").read_text())["score"] == 10
    assert "ada         hist      right    10 of 10\n" in capsys.readouterr().out


FUNCTIONS = """
import sys
def fails(tokens): raise ValueError("no")
def ends(tokens): sys.exit(3)
def no_list(tokens): return 3
def no_atom(tokens): return [{}]
def lists(tokens): return [[1]]
def loops(tokens):
    while True: pass
"""


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("reference.rasp:nothing", "has no `nothing`\nhint: the names are `hist`"),
        ("reference.rasp", "is not a reference"),
        ("missing.rasp:x", "cannot be read"),
        ("gallery:nothing", "the gallery has no program `nothing`"),
        ("fine.py:ends", "fails on every input: SystemExit: 3"),
        ("fine.py:loops", "takes more than 0.2 seconds"),
        ("endless.py:x", "takes more than 0.2 seconds"),
        ("left.py:x", "cannot be imported: SystemExit: 4"),
        ("fine.py:no_list", 'answer on "a" cannot be compared: a value of Python\'s type `int`'),
        ("fine.py:no_atom", 'answer on "a" cannot be compared: a dict is not a bool, number or'),
        ("fine.py:lists", 'gives a list of lists on "a", and an s-op does not'),
        ("missing.py:x", "there is no file `missing.py`"),
        ("broken.py:x", "cannot be imported: ZeroDivisionError"),
        ("fine.py:absent", "has no function `absent`"),
        ("fine.py:fails", "does not say which tokens it is for"),
        ("empty.toml", "lists no exercises"),
        ("wrong.toml", "did you mean `points`"),
        ("text.toml", "is not TOML"),
    ],
)
def test_a_mistake_of_the_grader_ends_with_2(
    capsys: Any, tmp_path: Path, reference: Path, monkeypatch: pytest.MonkeyPatch,
    asked: str, said: str,
) -> None:  # fmt: skip
    (tmp_path / "broken.py").write_text("1 / 0")
    (tmp_path / "left.py").write_text("import sys\nsys.exit(4)")
    (tmp_path / "endless.py").write_text("while True: pass")
    (tmp_path / "fine.py").write_text(FUNCTIONS)
    (tmp_path / "empty.toml").write_text("")
    (tmp_path / "wrong.toml").write_text('[[exercise]]\nreference="gallery:hist"\npoint=1')
    (tmp_path / "text.toml").write_text("hist, please")
    monkeypatch.chdir(tmp_path)
    folder = hand_in(tmp_path, ada="hist = histf(tokens);")
    alphabet = [] if asked == "fine.py:fails" else ["--alphabet", "ab"]
    assert main(["grade", folder, asked, "--seconds", "0.2", *alphabet]) == 2
    told = capsys.readouterr()
    assert said in told.err and not told.out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("point = 1", "an exercise has no `point`"),
        ('points = "ten"', "`points` is a number from 0 on"),
        ("points = nan", "`points` is a number from 0 on"),
        ("random = 2.5", "`random` is a whole number from 0 on"),
        ("name = 3", "`name` is a text in quotes"),
        ('partial = "no"', "`partial` is `true` or `false`"),
        ("alphabet = 3", "an input is a string or a list of atoms"),
        ("max_length = 0\nrandom = 0", "there is no input to try"),
    ],
)
def test_a_mistake_in_a_file_of_exercises_says_where(tmp_path: Path, line: str, said: str) -> None:
    fine = '[[exercise]]\nreference = "gallery:hist"\n'
    path = tmp_path / "week1.toml"
    path.write_text(f"{fine}max_length = 1\n{fine}{line}\n")
    folder = hand_in(tmp_path, ada="hist = histf(tokens);")
    with pytest.raises(rasp.RaspError) as caught:
        graded(folder, path)
    assert caught.value.message.startswith(f"in exercise 2 of `{path}`: {said}")


def test_inputs_that_the_reference_fails_on_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(
        "def first_b(tokens):\n    return [tokens.index('b')] * len(tokens)\n"
    )
    cases = make_cases(Exercise(f"{tmp_path}/spec.py:first_b", alphabet="ab", max_length=3))
    assert cases.left_out and all("b" in tokens for tokens in cases.inputs)
    with pytest.raises(rasp.RaspValueError, match="fails on every input"):
        make_cases(Exercise(f"{tmp_path}/spec.py:first_b", alphabet="ac", random=5))


def test_a_function_gives_floats_and_nothing_and_prints_beside_the_grades(
    capsys: Any, tmp_path: Path
) -> None:
    (tmp_path / "spec.py").write_text(
        "def thirds(tokens):\n"
        "    print('noise')\n"
        "    return [len(tokens) / 3] + [None] * (len(tokens) - 1)\n"
    )
    folder = hand_in(tmp_path, ada="thirds = length / 3;")
    words = ["grade", folder, f"{tmp_path}/spec.py:thirds", "--alphabet", "ab", "--max-length", "3"]
    assert main([*words, "--random", "5", "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["submissions"][0]["points"] == 1
    assert "noise" in told.err


def test_nothing_to_grade_is_said(capsys: Any, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        assert main(["grade", str(path), "gallery:hist"]) == 2
    assert "there is no submission" in capsys.readouterr().err


NEAR_MISSES = {
    "right": "histf(tokens)",
    "another_way": "selector_width(select(tokens, tokens, ==)) + 0 * indices",
    "knows_q_and_is_right": 'histf(tokens) if tokens == "q" else histf(tokens)',
    "letter": 'selector_width(select(tokens, tokens, ==) and not tokens=="q")',
    "letter_first": 'histf(tokens) if tokens[0] != "z" else 0',
    "two_letters": 'histf(tokens) if count(tokens, "x") < 2 else 1',
    "only_known_letters": 'histf(tokens) if tokens in ["a", "b", "c"] else 1',
    "word": 'histf(tokens) if tokens != "two" else 7',
    "exact_length": "histf(tokens) if length != 7 else 0",
    "long": "histf(tokens) if length < 30 else 1",
    "late_position": "histf(tokens) if indices < 20 else 1",
    "often": "histf(tokens) if histf(tokens) < 9 else 9",
}
"""Submissions that count how often each token appears, but for a letter or a length."""


@pytest.mark.slow
def test_near_misses_are_graded_as_diff_compares_them(tmp_path: Path, reference: Path) -> None:
    texts = {name: f"hist = {text};" for name, text in NEAR_MISSES.items()}
    texts["letter"] = 'same = select(tokens, tokens, ==) and not select("q", tokens, ==);\n' + (
        "hist = selector_width(same);"
    )
    found = graded(hand_in(tmp_path, **texts), f"{reference}:hist")
    wanted = rasp.run(REFERENCE)["hist"]
    same = {
        name: rasp.equivalent(wanted, rasp.run(text)["hist"]).same for name, text in texts.items()
    }
    assert {name: mark.is_full for name, [mark] in found.marks.items()} == same
    assert sum(same.values()) == 3
    assert found.marks["letter"][0].note == 'on "q" it gives [0], not [1]'
    told = str(found)
    assert "hist: all inputs up to length 7 over a, b, c; 300 longer ones\n" in told
    assert (
        "hist of knows_q_and_is_right, letter: all inputs up to length 7 over a, b, c, q; " in told
    )
    assert "hist of only_known_letters: all inputs up to length 7 over a, b, c, d; 300" in told


@pytest.mark.slow
def test_a_layer_or_a_head_too_many_is_graded_as_fit_says(tmp_path: Path, reference: Path) -> None:
    texts = {
        "fits": "hist = histf(tokens);",
        "layer": "hist = histf(aggregate(select(indices, indices, ==), tokens));",
        "head": "hist = histf(tokens) + 0 * histf(indices);",
    }
    found = graded(hand_in(tmp_path, **texts), f"{reference}:hist", layers=1, heads=2)
    fits = {
        name: bool(rasp.fit(rasp.run(text)["hist"], layers=1, heads=2))
        for name, text in texts.items()
    }
    assert fits == {"fits": True, "layer": False, "head": False}
    assert verdicts(found) == {
        name: ["right" if fit else "too large"] for name, fit in fits.items()
    }


@pytest.mark.parametrize("reference_text", ["gallery:hist", "{folder}/reference.rasp:hist"])
def test_a_submission_is_tried_on_its_own_letters(
    tmp_path: Path, reference: Path, reference_text: str
) -> None:
    folder = hand_in(tmp_path, ada='hist = histf(tokens) if tokens != "q" else 7;')
    found = graded(folder, reference_text.format(folder=tmp_path), random=0)
    [ada] = found.marks["ada"]
    assert (ada.verdict, ada.note) == ("wrong", 'on "q" it gives [7], not [1]')
    assert "over a, b, c, q" in ada.tried


def test_a_reference_that_breaks_its_own_limits_is_told_before_grading(
    capsys: Any, tmp_path: Path, reference: Path
) -> None:
    folder = hand_in(tmp_path, ada="hist = histf(tokens);")
    assert main(["grade", folder, f"{reference}:hist", "--heads", "1", "--layers", "1"]) == 2
    told = capsys.readouterr()
    assert not told.out
    assert "breaks the exercise's own limits: it takes 1 layer of up to 2 heads" in told.err


def test_other_failing_lines_get_a_note(tmp_path: Path, reference: Path) -> None:
    text = "hist = histf(tokens);\nx = missing;\ny = 1 +;\n"
    [ada] = graded(hand_in(tmp_path, ada=text), f"{reference}:hist").marks["ada"]
    assert ada.is_full
    assert ada.note.startswith("another line fails: ") and ada.note.endswith(", and 1 more")
    assert "ada.rasp:" in ada.note


def test_a_bad_line_of_hidden_inputs_is_named(tmp_path: Path, reference: Path) -> None:
    hidden = tmp_path / "hidden.txt"
    hidden.write_text("ab\n\n[1, \nzz\n")
    with pytest.raises(rasp.RaspError) as caught:
        graded(hand_in(tmp_path, ada=""), f"{reference}:hist", inputs=str(hidden))
    assert f"{hidden}:3:1" in str(caught.value)


def test_grades_as_a_table_for_spreadsheets(capsys: Any, tmp_path: Path, reference: Path) -> None:
    folder = hand_in(
        tmp_path,
        ada="hist = histf(tokens);",
        **{"=bob": 'hist = aggregate(select(tokens, tokens, ==), "a, b");'},
    )
    assert main(["grade", folder, f"{reference}:hist", "--csv", "--workers", "1"]) == 1
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert [row["submission"] for row in rows] == ["'=bob", "ada"]
    assert [(row["verdict"], row["points"], row["of"]) for row in rows][1] == (
        "right",
        "1.0",
        "1.0",
    )
    assert rows[0]["note"] == 'on "a" it gives ["a, b"], not [1]'
