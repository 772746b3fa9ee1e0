"""Proved, run, tested: what is handed out without a proof says so everywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rasp
from rasp.base.errors import RaspUnsupportedError
from rasp.models.compiler import load, verify
from rasp.models.compiler.model.transformer import Transformer

TEXT = """count_here = selector_width(select(tokens, tokens, ==));
has_majority = average(indicator(2 * count_here > length)) > 0;"""


def compiled(length: int, alphabet: str = "abc", tested: bool = True) -> Transformer:
    handle = rasp.run(TEXT)["has_majority"]
    return rasp.compile(handle, alphabet=alphabet, max_length=length, style="robust", tested=tested)


def test_a_refusal_says_that_a_model_could_be_tested() -> None:
    with pytest.raises(RaspUnsupportedError, match="no margin is left") as error:
        compiled(20, tested=False)
    assert "`tested=True`" in str(error.value.hint)


def test_a_refusal_of_what_cannot_be_written_offers_no_tests() -> None:
    handle = rasp.run("out = aggregate(select_all, 30 ^ indices);")["out"]
    with pytest.raises(RaspUnsupportedError) as error:
        rasp.compile(handle, alphabet="ab", max_length=30, tested=True)
    assert "tested=True" not in str(error.value.hint)


def test_a_tested_model_says_so_everywhere(tmp_path: Path) -> None:
    model = compiled(20)
    certificate = model.certificate
    assert certificate is not None and not certificate.exact
    assert certificate.trust == "tested" and certificate.runs > 500 and not certificate.wrong
    assert certificate.statement.startswith("tested on ") and "not proved" in certificate.statement
    assert repr(model).endswith("tested, not proved>")
    model.save(tmp_path / "model")
    stored = json.loads((tmp_path / "model" / "model.json").read_text())
    assert stored["certificate"]["trust"] == "tested" and stored["settings"]["tested"] is True
    assert repr(load(tmp_path / "model")).endswith("tested, not proved>")
    assert verify(tmp_path / "model").trust == "tested"


def test_a_folder_cannot_call_itself_proved(tmp_path: Path) -> None:
    compiled(20).save(tmp_path)
    description = tmp_path / "model.json"
    data = json.loads(description.read_text())
    data["settings"]["tested"] = False
    description.write_text(json.dumps(data))
    assert verify(tmp_path).trust == "none"


def test_a_proved_model_is_proved_whether_or_not_tests_would_do() -> None:
    model = rasp.compile(rasp.length, alphabet="ab", max_length=4, tested=True)
    assert model.certificate is not None and model.certificate.trust == "proved"
    assert not model.settings.tested and "not proved" not in repr(model)
