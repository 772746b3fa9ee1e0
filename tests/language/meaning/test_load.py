"""`load` takes a file's public names over, and nothing else reaches the file system."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

import rasp
from rasp.apps.cli.program_files import text_alone
from rasp.base.source import Source
from rasp.language.meaning.loader import Loader
from rasp.language.meaning.session import Session


def run(path: Path, loader: Loader | None = None) -> Session:
    session = Session(loader=loader or Loader())
    session.run(Source(str(path), path.read_text()))
    return session


def test_public_names_are_taken_over_and_private_ones_stay(tmp_path: Path) -> None:
    (tmp_path / "tools.rasp").write_text("_secret = 2; double = indices * _secret;")
    main = tmp_path / "main.rasp"
    main.write_text('load "tools"; x = double("abc");')
    session = run(main)
    assert session.find("x") == [0, 2, 4]
    with pytest.raises(rasp.RaspNameError):
        session.find("_secret")


def test_a_file_is_found_beside_the_one_that_loads_it(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.rasp").write_text('load "b.rasp";')
    (tmp_path / "inner" / "b.rasp").write_text("x = 3;")
    main = tmp_path / "main.rasp"
    main.write_text('load "inner/a";')
    assert run(main).find("x") == 3


def test_a_library_name_hidden_in_one_file_is_whole_in_another(tmp_path: Path) -> None:
    (tmp_path / "hides.rasp").write_text("_x = 1; def select_eq(a, b) { return 7; }")
    main = tmp_path / "main.rasp"
    main.write_text('load "hides"; y = selector_width(full_s)("ab");')
    assert run(main).find("y") == [2, 2]


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        ({"main": 'load "main";'}, "value"),
        ({"main": 'load "b";', "b": 'load "main";'}, "value"),
        ({"main": 'load "missing";'}, "value"),
        ({"main": 'load "b";', "b": "x = (;"}, "syntax"),
        ({"main": 'load "\\0";'.replace("\\0", "a\0b")}, "value"),
        ({f"f{i}": f'load "f{i + 1}";' for i in range(60)} | {"main": 'load "f0";'}, "limit"),
    ],
)
def test_a_load_that_cannot_work_says_so(tmp_path: Path, texts: dict[str, str], kind: str) -> None:
    for name, text in texts.items():
        (tmp_path / f"{name}.rasp").write_text(text)
    with pytest.raises(rasp.RaspError) as caught:
        run(tmp_path / "main.rasp")
    assert caught.value.kind == kind
    assert caught.value.hint


def test_a_file_that_is_not_text_says_so(tmp_path: Path) -> None:
    (tmp_path / "bytes.rasp").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "main.rasp").write_text('load "bytes";')
    with pytest.raises(rasp.RaspValueError, match="not UTF-8") as caught:
        run(tmp_path / "main.rasp")
    assert caught.value.hint == "save it as UTF-8"


def test_load_can_be_confined_to_a_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.rasp").write_text("x = 1;")
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "good.rasp").write_text("y = 2;")
    (tmp_path / "open" / "link.rasp").symlink_to(tmp_path / "secret.rasp")
    loader = Loader(root=str(tmp_path / "open"))
    main = tmp_path / "main.rasp"
    main.write_text('load "good";')
    assert run(main, loader).find("y") == 2
    for escape in ("../secret", str(tmp_path / "secret.rasp"), "/etc/passwd", "/no/such/file"):
        main.write_text(f'load "{escape}";')
        with pytest.raises(rasp.RaspValueError, match="is outside the program's folder"):
            run(main, loader)
    main.write_text('load "link";')  # `link` leads outside, `link.rasp.rasp` is not there
    with pytest.raises(rasp.RaspValueError, match="there is no file"):
        run(main, loader)


def test_load_can_be_switched_off(tmp_path: Path) -> None:
    main = tmp_path / "main.rasp"
    main.write_text('load "main";')
    with pytest.raises(rasp.RaspUnsupportedError):
        run(main, Loader(enabled=False))


def test_load_reads_inside_the_folder_of_the_program_that_was_started(tmp_path: Path) -> None:
    (tmp_path / "own.rasp").write_text("answer = indices;")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "up.rasp").write_text('load "../own";')
    (tmp_path / "main.rasp").write_text('load "inner/up"; x = answer("ab");')
    assert run(tmp_path / "main.rasp").find("x") == [0, 1]
    with pytest.raises(rasp.RaspValueError, match="outside the program's folder"):
        run(tmp_path / "inner" / "up.rasp")
    allowed = Loader(also=(str(tmp_path),))
    assert run(tmp_path / "inner" / "up.rasp", allowed).find("answer")


def test_a_caller_allows_more_or_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "tools.rasp").write_text("x = indices;")
    monkeypatch.chdir(tmp_path / "here")
    text = 'load "tools"; y = x + 1;'
    for load in (tmp_path / "there", str(tmp_path / "there"), [str(tmp_path / "there")]):
        assert rasp.run(text, load=load)["y"]("ab") == [1, 2]
    with pytest.raises(rasp.RaspValueError, match="there is no file"):
        rasp.run(text)
    with pytest.raises(rasp.RaspUnsupportedError):
        rasp.run(text, load=False)


def test_no_message_tells_of_files_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("password = hunter2 hunter3;")
    (tmp_path / "own").mkdir()
    main = tmp_path / "own" / "main.rasp"
    messages = []
    for name in ("secret.txt", "nothing.txt"):
        main.write_text(f'load "../{name}";')
        with pytest.raises(rasp.RaspError) as caught:
            run(main)
        messages.append(str(caught.value).replace(name, "NAME"))
    assert messages[0].replace("^", "") == messages[1].replace("^", "")
    assert "hunter" not in messages[0]


def test_mistakes_of_a_loaded_file_are_told_once(tmp_path: Path) -> None:
    (tmp_path / "broken.rasp").write_text("x = select(tokens, tokens, ===);\ny = unknown;\n")
    text = 'load "broken";\nz = x;\nw = helper(tokens);\nv = "x" - 1;\n'
    _, errors = Session().check(Source(str(tmp_path / "main.rasp"), text))
    assert [error.message.split("`")[1] for error in errors] == ["===", "unknown", "-"]
    assert sum(str(error).count("error:") for error in errors) == 3


def test_what_is_trained_later_loads_nothing(tmp_path: Path) -> None:
    (tmp_path / "lib.rasp").write_text("double = tokens + tokens;")
    (tmp_path / "main.rasp").write_text('load "lib";\nx = double + "!";')
    given = argparse.Namespace(
        file=str(tmp_path / "main.rasp"), name="x", no_load=False, load_from=[]
    )
    assert rasp.run(text_alone(given), load=False)["x"]("ab") == ["aa!", "bb!"]
    given.no_load = True
    with pytest.raises(rasp.RaspUnsupportedError, match="switched off"):
        text_alone(given)
