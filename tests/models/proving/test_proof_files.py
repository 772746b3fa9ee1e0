"""A proof file is checked again by a script that shares no code with us; forgeries are found."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpmath_reference import random_model

import rasp
from rasp.base.errors import RaspError
from rasp.models.proving import Adapter, prove
from rasp.models.proving.proof_task import run_rows

SCRIPT = Path(__file__).parents[3] / "scripts" / "recheck_proof.py"
HIST = "hist = selector_width(select(tokens, tokens, ==));"


def recheck(path: Path, *words: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, SCRIPT, path, *words], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def proof(tmp_path: Path) -> Path:
    hist = rasp.run(HIST)["hist"]
    found = prove(rasp.compile(hist, alphabet="ab", max_length=4), hist)
    found.write(tmp_path / "proof.json")
    return tmp_path / "proof.json"


def test_a_proof_is_checked_again_without_us(proof: Path) -> None:
    code, told = recheck(proof, "5")
    assert code == 0 and told.count("right") == 5
    data = json.loads(proof.read_text(encoding="utf-8"))
    assert (data["verdict"], data["up_to"], data["inputs"]) == ("proved", 4, 30)


def test_the_script_is_short_and_stands_alone() -> None:
    text = SCRIPT.read_text(encoding="utf-8")
    assert text.count("\n") <= 200
    assert "numpy" not in text and "import rasp" not in text


@pytest.mark.parametrize("forged", ["weight", "class", "margin"])
def test_a_forged_proof_is_found(forged: str, proof: Path) -> None:
    data = json.loads(proof.read_text(encoding="utf-8"))
    match forged:
        case "weight":
            data["network"]["tokens"][0][0] = (1.5).hex()
        case "class":
            data["samples"][0]["classes"][0] += 1
        case "margin":
            data["samples"][0]["margin"] *= 1.001
    proof.write_text(json.dumps(data), encoding="utf-8")
    code, told = recheck(proof, "3")
    assert code == 1 and "WRONG" in told


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_models_of_every_shape_are_checked_again(seed: int, tmp_path: Path) -> None:
    """What a random model answers is its own program: it is proved, and the script agrees."""
    row, arrays = random_model(np.random.default_rng(seed))
    at = "whole" if row.pool else ("each", "last", "first")[seed % 3]
    adapter = Adapter(tokens="abc", ids=(0, 1, 2), answers=(0, 1, 2), at=at)
    asked: Any = prove((row, arrays), lambda _: 0, adapter=adapter, up_to=1, how="run").task

    def answer(tokens: list[str]) -> list[int]:
        chosen = run_rows(asked, np.array([["abc".index(token) for token in tokens]]))[0].tolist()
        return chosen if at == "each" else chosen * len(tokens)

    found = prove((row, arrays), answer, adapter=adapter, up_to=3)
    if found.verdict != "proved":  # float32 may round a narrow lead the other way
        assert found.difference is not None
        return
    found.write(tmp_path / "proof.json")
    code, told = recheck(tmp_path / "proof.json", "6")
    assert code == 0, told


def test_only_what_was_proved_is_written(tmp_path: Path) -> None:
    hist = rasp.run(HIST)["hist"]
    model = rasp.compile(hist, alphabet="ab", max_length=3)
    for found in (prove(model, hist, how="run"), prove(model, hist + 1)):
        with pytest.raises(RaspError, match="no proof to write"):
            found.write(tmp_path / "proof.json")
    assert not list(tmp_path.iterdir())
