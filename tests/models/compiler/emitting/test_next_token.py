"""Models that generate: what they give are tokens of their inputs, or the end."""

from __future__ import annotations

from pathlib import Path

import pytest

import rasp
from rasp.apps.cli import main
from rasp.base.errors import RaspError, RaspUnsupportedError
from rasp.models.compiler import load, verify

COUNT = 'count = ["1", "2", "3", ""][indices if indices < 3 else 3];'


def refused(text: str, alphabet: object, **options: object) -> RaspError:
    out = rasp.run(text)["out"]
    with pytest.raises(RaspUnsupportedError) as told:
        rasp.compile(out, alphabet=alphabet, max_length=4, next_token=True, **options)  # type: ignore[arg-type]
    return told.value


def test_a_next_token_model_is_causal_and_stays_what_it_is_in_a_file(tmp_path: Path) -> None:
    count = rasp.run(COUNT)["count"]
    model = rasp.compile(count, alphabet="123", max_length=5, next_token=True)
    assert model.settings.causal
    assert model("33333") == ["1", "2", "3", "", ""]
    model.save(tmp_path)
    assert load(tmp_path).settings == model.settings
    assert verify(tmp_path).exact


def test_other_models_are_no_next_token_models(tmp_path: Path) -> None:
    rasp.compile(rasp.tokens, alphabet="ab", max_length=3, causal=True).save(tmp_path)
    assert not load(tmp_path).settings.next_token


def test_a_program_that_looks_ahead_is_refused() -> None:
    error = refused("out = aggregate(select(indices, indices + 1, ==), tokens, 'a');", "ab")
    assert "may pick keys after the query, which a causal model cannot see" in error.message
    assert "write `indices + 1` for `length`" in str(error.hint)


@pytest.mark.parametrize(
    ("text", "alphabet", "told"),
    [
        ("out = indices;", "ab", "may give 0, 1, 2, 3, which the vocabulary does not hold"),
        ('out = "x" if indices == 1 else tokens;', "ab", 'may give "x", which'),
        ("out = indices / 2;", "01", "may give 0.5, 1.5, which"),
        ('out = "1" if indices == 0 else "";', [1, 2], 'may give "1", which'),
        ("out = indices < 2;", "ab", "may give False, True, which"),
    ],
)
def test_a_token_outside_the_vocabulary_is_refused(
    text: str, alphabet: object, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "rasp.models.compiler.compact.build", lambda *_: pytest.fail("built too early")
    )
    error = refused(text, alphabet)
    assert told in error.message
    assert error.span is not None
    assert "add it to the vocabulary" in str(error.hint)


def test_the_string_and_the_number_of_one_token_are_refused() -> None:
    error = refused('out = "0" if tokens == "a" else 0;', "a0")
    assert 'it gives "0", 0, which are one token' in error.message.replace('0, "0"', '"0", 0')


def test_several_outputs_and_an_empty_token_are_refused() -> None:
    outputs = [rasp.tokens, rasp.indices]
    with pytest.raises(RaspUnsupportedError, match="has one output, but 2 were given"):
        rasp.compile(outputs, alphabet="ab", max_length=3, next_token=True)
    assert "the vocabulary holds the empty string" in refused("out = tokens;", ["a", ""]).message


def test_more_tokens_than_float32_can_score_are_refused() -> None:
    words = [f"w{number}" for number in range(700)]
    assert "cannot tell 700 next tokens apart" in refused("out = tokens;", words).message


def test_the_command_line_compiles_a_model_that_generates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "count.rasp").write_text(COUNT)
    words = ["compile", str(tmp_path / "count.rasp"), "count", "--max-length", "5"]
    folder = str(tmp_path / "model")
    assert main([*words, "--alphabet", "123", "--next-token", "-o", folder]) == 0
    assert load(folder).settings.next_token
    assert main([*words, "--alphabet", "12", "--next-token", "-o", folder]) == 2
    assert 'may give "3", which the vocabulary does not hold' in capsys.readouterr().err
