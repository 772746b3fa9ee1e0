"""A model saved over another: the old one or the new one, whatever happens, and never a mixture."""

from __future__ import annotations

import json
import random
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import rasp

pytestmark = pytest.mark.slow

if not sys.platform.startswith("linux"):
    pytest.skip("forks, signals and limits as Linux has them", allow_module_level=True)
pytest.importorskip("numpy", reason="compiling needs numpy")

from rasp.models.compiler import verify  # noqa: E402
from rasp.models.compiler.model import store, tensors  # noqa: E402

from .moments import (  # noqa: E402
    REFUSED,
    full_at_every_moment,
    interrupted_at_every_moment,
    killed_at_every_moment,
    without_permission,
    without_space,
)
from .two_models import NEW, OLD  # noqa: E402


def restored(folder: Path) -> None:
    for path in folder.parent.glob(".*"):  # left behind by a kill
        shutil.rmtree(path)
    store.save(OLD, folder)


@pytest.mark.parametrize(
    "strike", [killed_at_every_moment, interrupted_at_every_moment, full_at_every_moment]
)
def test_struck_at_any_moment_the_model_is_the_old_or_the_new_one(strike, tmp_path: Path) -> None:
    answers, folder = [], tmp_path / "model"
    for _ in strike(lambda: store.save(NEW, folder), lambda: restored(folder)):
        answers.append(store.load(folder)("aab"))
        assert verify(folder).exact
    assert all(answer in (OLD("aab"), NEW("aab")) for answer in answers)
    assert OLD("aab") in answers
    assert NEW("aab") in answers


def test_without_space_or_permission_the_old_model_stays(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    restored(folder)
    assert without_space(lambda: store.save(NEW, folder)) == REFUSED
    assert without_permission(lambda: store.save(NEW, folder), str(tmp_path)) == REFUSED
    assert store.load(folder)("aab") == OLD("aab")


@pytest.mark.parametrize(
    "header",
    [b"4", b"[]", b'"a"', b'{"a": 1}', b'{"a": {"dtype": "F32", "shape": 1}}', b"[" * 9000],
)
def test_weights_that_are_none_are_refused(header: bytes) -> None:
    with pytest.raises(rasp.RaspError):
        tensors.from_safetensors(len(header).to_bytes(8, "little") + header)


@pytest.mark.parametrize("atom", ['["float", "1/0"]', '["float", "1e999999999"]', '["int", "x"]'])
def test_atoms_that_are_none_are_refused_at_once(atom: str, tmp_path: Path) -> None:
    store.save(OLD, tmp_path)
    path = tmp_path / store.MODEL
    text = path.read_text()
    assert '"string",\n    "a"' in text
    path.write_text(text.replace('[\n    "string",\n    "a"\n   ]', atom))
    with pytest.raises(rasp.RaspError):
        store.load(tmp_path)


JUNK = (None, 3, -1, 1e308, 10**400, "", "x", [], {}, [[]], True)


def test_a_description_with_junk_anywhere_in_it_is_refused_or_read(tmp_path: Path) -> None:
    store.save(OLD, tmp_path)
    path = tmp_path / store.MODEL
    text = path.read_text()
    rng = random.Random(1)
    refused = 0
    for _ in range(400):
        data = json.loads(text)
        put_junk(data, rng)
        path.write_text(json.dumps(data))
        try:
            store.load(tmp_path)
        except rasp.RaspError:
            refused += 1
    assert refused > 100


def put_junk(data: Any, rng: random.Random) -> None:
    """Put something else in one place of some data, or take it away."""
    while True:
        places = list(data) if isinstance(data, dict) else list(range(len(data)))
        place = rng.choice(places)
        inner = data[place]
        if isinstance(inner, (dict, list)) and inner and rng.random() < 0.8:
            data = inner
            continue
        if rng.random() < 0.2:
            del data[place]
        else:
            data[place] = rng.choice(JUNK)
        return
