"""Grading: points and why, whatever is handed in; a student's mistake is never the grader's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rasp
from rasp.cli import main
from rasp.grading import Exercise, Grades, find_submissions, grade, read_exercises
from rasp.grading.cases import make_cases

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
    assert max(map(len, str(found).splitlines())) <= 100


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


@pytest.mark.slow
def test_points_for_size_and_for_a_part(tmp_path: Path, reference: Path) -> None:
    (tmp_path / "hidden.txt").write_text("ab\naab\nzz\n[1, 2]\n")
    folder = hand_in(
        tmp_path,
        large="hist = histf(tokens);",
        some="hist = indices * 0 + 1;",
        small="hist = histf(tokens, assume_bos=True);",
    )
    hidden = str(tmp_path / "hidden.txt")
    options = {"points": 10, "size_points": 4, "heads": 1, "layers": 1, "inputs": hidden}
    found = graded(folder, f"{reference}:hist", partial=True, **options)
    assert verdicts(found) == {"large": ["too large"], "small": ["wrong"], "some": ["wrong"]}
    assert [found.marks[name][0].points for name in ("large", "some")] == [6, 5]
    assert "1 layers of 1 heads are allowed" in found.marks["large"][0].note
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


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("reference.rasp:nothing", "has no `nothing`\nhint: the names are `hist`"),
        ("reference.rasp", "is not a reference"),
        ("missing.rasp:x", "cannot be read"),
        ("gallery:nothing", "the gallery has no program `nothing`"),
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
    (tmp_path / "fine.py").write_text("def fails(tokens):\n    raise ValueError('no')\n")
    (tmp_path / "empty.toml").write_text("")
    (tmp_path / "wrong.toml").write_text('[[exercise]]\nreference="gallery:hist"\npoint=1')
    (tmp_path / "text.toml").write_text("hist, please")
    monkeypatch.chdir(tmp_path)
    folder = hand_in(tmp_path, ada="hist = histf(tokens);")
    assert main(["grade", folder, asked]) == 2
    told = capsys.readouterr()
    assert said in told.err and not told.out


def test_inputs_that_the_reference_fails_on_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(
        "def first_b(tokens):\n    return [tokens.index('b')] * len(tokens)\n"
    )
    cases = make_cases(Exercise(f"{tmp_path}/spec.py:first_b", alphabet="ab", max_length=3))
    assert cases.left_out and all("b" in tokens for tokens in cases.inputs)
    with pytest.raises(rasp.RaspValueError, match="fails on every input"):
        make_cases(Exercise(f"{tmp_path}/spec.py:first_b", alphabet="ac", random=5))


def test_nothing_to_grade_is_said(capsys: Any, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        assert main(["grade", str(path), "gallery:hist"]) == 2
    assert "there is no submission" in capsys.readouterr().err
