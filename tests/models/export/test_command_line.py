"""From a program to weights to another library, as a person types it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from export_examples import needs

from command_line import call
from rasp.base.file_reading import fingerprint

pytestmark = pytest.mark.slow

PROGRAM = """\
hist = selector_width(select(tokens, tokens, ==));
half = indices / 2;
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "hist.rasp"
    path.write_text(PROGRAM)
    return path


def test_a_program_is_compiled_verified_and_exported(program: Path, capsys: Any) -> None:
    options = ("--alphabet", "abc", "--max-length", "6", "-o", "model")
    code, out, _ = call(capsys, "compile", program, "hist", "half", *options)
    assert code == 0
    assert out.startswith("<Transformer: 1 layer, 1 head")
    assert out.rstrip().endswith("written to model")
    statement = "exact for all inputs up to length 6 over this vocabulary, in float32"
    assert statement in out
    code, again, _ = call(capsys, "verify", "model", "--seed", "0")
    assert code == 0
    certificate, _, ran = again.partition("also run on ")
    assert certificate.strip() in out, "files say what the model in memory said"
    assert ran.startswith("all 1,092 inputs, in float32\nthe program:\n  ")
    code, out, _ = call(capsys, "verify", "model", "--json")
    assert json.loads(out)["statement"] == statement
    needs("onnx", "onnxruntime")
    code, out, _ = call(capsys, "export", "model", "--to", "onnx", "-o", "out")
    assert code == 0
    assert out.startswith("written to out; loaded again, it agrees with the program on ")
    assert {path.name for path in Path("out").iterdir()} == {"model.onnx", "rasp.json"}


def test_nothing_is_said_to_be_written_that_was_not(program: Path, capsys: Any) -> None:
    code, out, _ = call(capsys, "compile", program, "hist", "--alphabet", "ab", "--max-length", "3")
    assert code == 0
    assert "written" not in out
    assert [path.name for path in program.parent.iterdir()] == ["hist.rasp"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("hits", "--alphabet", "ab", "--max-length", "3"), "the program has no `hits`"),
        (("hist", "--alphabet", "", "--max-length", "3"), "the vocabulary is empty"),
        (("hist", "--alphabet", "ab", "--max-length", "0"), "`max_length` is between 1 and 4096"),
        (
            ("hist", "--alphabet", "ab", "--max-length", "3", "-o", "hist.rasp"),
            "a compiled model is a folder",
        ),
    ],
)
def test_what_cannot_be_compiled_leaves_nothing_behind(
    words: tuple[str, ...], told: str, program: Path, capsys: Any
) -> None:
    code, out, err = call(capsys, "compile", program, *words)
    assert (code, out) == (2, "")
    assert told in err
    assert [path.name for path in program.parent.iterdir()] == ["hist.rasp"]
    assert program.read_text() == PROGRAM


def test_a_changed_weight_is_found(program: Path, capsys: Any) -> None:
    options = ("--alphabet", "ab", "--max-length", "4", "-o", "model")
    call(capsys, "compile", program, "hist", *options)
    weights = Path("model") / "weights.safetensors"
    raw = bytearray(weights.read_bytes())
    raw[-1] ^= 0x40
    weights.write_bytes(raw)
    code, _, told = call(capsys, "verify", "model")
    assert code == 2
    assert "the weights do not match their fingerprint" in told
    described = Path("model") / "model.json"
    data = json.loads(described.read_text())
    described.write_text(json.dumps(data | {"fingerprint": fingerprint(bytes(raw))}))
    code, out, _ = call(capsys, "verify", "model")
    assert code == 1
    assert out.startswith("not certified: ")


def test_verify_says_what_is_wrong_with_a_folder(program: Path, capsys: Any) -> None:
    code, _, err = call(capsys, "verify", "nowhere")
    assert code == 2
    assert "there is no compiled model in `nowhere`" in err
    Path("model").mkdir()
    Path("model/model.json").write_text("{}")
    Path("model/weights.safetensors").write_bytes(b"")
    code, _, err = call(capsys, "verify", "model")
    assert code == 2
    assert "this compiled model cannot be read" in err
