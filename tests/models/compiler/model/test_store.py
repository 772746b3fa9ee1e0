"""A saved model is the same model, and a changed one does not pass for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rasp
from rasp.apps.cli import main
from rasp.base.errors import RaspError, RaspValueError
from rasp.base.file_reading import fingerprint
from rasp.language.graph.portable import graph_from_json, graph_to_json
from rasp.models.compiler import compile, load, verify
from rasp.models.compiler.model.store import FORMAT, MODEL, WEIGHTS
from rasp.models.compiler.model.tensors import from_safetensors, to_safetensors

TEXT = """hist = selector_width(select(tokens, tokens, ==));
out = aggregate(select(hist, 1, ==), indices, -1);"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    names = rasp.run(TEXT)
    model = compile([names["hist"], names["out"]], vocabulary="abc", max_length=6)
    model.save(tmp_path / "model")
    return tmp_path / "model"


def test_a_loaded_model_answers_as_before(folder: Path) -> None:
    names = rasp.run(TEXT)
    model = load(folder)
    for given in ("a", "abca", "ccbaab"):
        assert model(given) == {"hist": names["hist"](given), "out": names["out"](given)}
    assert model.certificate is not None
    assert model.certificate.exact


@pytest.mark.slow
def test_a_model_is_verified_from_its_files_alone(folder: Path) -> None:
    assert verify(folder).exact
    assert main(["verify", str(folder)]) == 0


@pytest.mark.slow
def test_a_changed_weight_is_found(folder: Path) -> None:
    arrays = from_safetensors((folder / WEIGHTS).read_bytes())
    name = next(name for name in arrays if name.endswith("head1.key"))
    arrays[name] = arrays[name] * 1.01
    raw = to_safetensors(arrays)
    (folder / WEIGHTS).write_bytes(raw)
    with pytest.raises(RaspValueError, match="fingerprint"):
        load(folder)
    data = json.loads((folder / MODEL).read_text())
    (folder / MODEL).write_text(json.dumps(data | {"fingerprint": fingerprint(raw)}))
    certificate = verify(folder)
    assert not certificate.exact
    assert certificate.refused
    assert main(["verify", str(folder)]) == 1


def test_a_changed_program_is_found(folder: Path) -> None:
    data = json.loads((folder / MODEL).read_text())
    for node in data["program"]["nodes"]:
        if node["kind"] == "Aggregate" and node["default"] == ["int", "-1"]:
            node["default"] = ["int", "-2"]
    (folder / MODEL).write_text(json.dumps(data))
    certificate = verify(folder)
    assert not certificate.exact
    assert certificate.refused


@pytest.mark.parametrize("cut", [0, 7, 30, 500])
def test_damaged_weights_are_refused(folder: Path, cut: int) -> None:
    raw = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(raw[:cut])
    with pytest.raises(RaspError, match="do not match their fingerprint"):
        load(folder)


@pytest.mark.parametrize(("number", "age"), [(FORMAT - 1, "an older"), (FORMAT + 1, "a newer")])
def test_a_model_of_another_version_says_so(folder: Path, number: int, age: str) -> None:
    data = json.loads((folder / MODEL).read_text())
    (folder / MODEL).write_text(json.dumps({**data, "format": number}))
    with pytest.raises(RaspValueError, match=f"was saved by {age} version of rasp") as refused:
        load(folder)
    assert refused.value.hint == "compile the program again with this version"


def test_a_header_that_claims_too_much_is_refused() -> None:
    raw = (1 << 60).to_bytes(8, "little") + b"{}"
    with pytest.raises(RaspError, match="damaged"):
        from_safetensors(raw)


def test_a_file_is_not_a_model(folder: Path) -> None:
    with pytest.raises(RaspValueError, match="is a file, and a compiled model is a folder"):
        load(folder / MODEL)
    with pytest.raises(RaspValueError, match="cannot be written: file exists") as caught:
        load(folder).save(folder / MODEL)
    assert "give another name" in (caught.value.hint or "")


def test_a_folder_without_a_model_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(RaspValueError, match="is missing"):
        load(tmp_path)


def test_a_graph_survives_json() -> None:
    names = rasp.run(
        """best = aggregate(select_best(not select(tokens, "a", ==) or select_all,
                                        score(indices, 0.1)), tokens_str, "-");
        out = {0: "x", 1: best}[indices % 2] in ["x", "a"];"""
    )
    node = names["out"].node
    data = json.loads(json.dumps(graph_to_json({"out": node}, names["out"].program.names)))
    outputs, kept = graph_from_json(data)
    assert outputs["out"] is node
    assert kept[node] == "out"


@pytest.mark.slow
def test_compiling_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    for place in ("one", "two"):
        handle = rasp.run(TEXT)["out"]
        compile(handle, vocabulary="abc", max_length=6).save(tmp_path / place)
    first, second = ((tmp_path / place / WEIGHTS).read_bytes() for place in ("one", "two"))
    assert first == second


def test_the_command_line_compiles_to_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "hist.rasp"
    program.write_text(TEXT)
    target = tmp_path / "model"
    options = ["--alphabet", "abc", "--max-length", "5", "-o", str(target)]
    assert main(["compile", str(program), "hist", *options]) == 0
    assert "exact for all inputs up to length 5" in capsys.readouterr().out
    assert load(target)("abca") == [2, 1, 1, 2]


def test_the_command_writes_into_no_folder_of_other_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, out = tmp_path / "first.rasp", tmp_path / "out"
    program.write_text("first = indices + 1;")
    out.mkdir()
    words = ["compile", str(program), "first", "--alphabet", "a", "--max-length", "2", "-o"]
    (out / "letter.txt").write_text("mine")
    assert main([*words, str(out)]) == 2
    assert f"`{out}` holds `letter.txt`, and no compiled model" in capsys.readouterr().err
    assert main([*words, str(program)]) == 2
    assert "is a file, and a compiled model is a folder" in capsys.readouterr().err
    (out / "letter.txt").unlink()
    assert main([*words, str(out)]) == 0
    (out / "letter.txt").write_text("mine")
    assert main([*words, str(out)]) == 0, "an older model is replaced, and only that"
    assert (out / "letter.txt").read_text() == "mine"
