"""Files from strangers are read or refused in words, whatever is in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rasp
from rasp.fuzzing.cases import read_replay

NOT_RECORDS = [b"3", b"[]", b'{"x": 1}', b"\xff\xfe", b"null", b'{"id": 1', b"[" * 100_000, b'"id"']


def test_lines_that_are_no_records_do_not_count(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training needs torch")
    from rasp.training.store import Store

    store = Store(tmp_path)
    store.make_folders()
    fine = b'{"id": "mine", "name": "a"}'
    (tmp_path / "records.jsonl").write_bytes(b"\n".join([*NOT_RECORDS, fine, b'{"id": "to']))
    assert list(store.records()) == ["mine"]


@pytest.mark.parametrize("content", [b"", b"{}", b"\x01" + b"\0" * 7 + b"4WW", b"\xff" * 64])
def test_a_damaged_snapshot_is_named(tmp_path: Path, content: bytes) -> None:
    pytest.importorskip("torch", reason="training needs torch")
    from rasp.training.store import Store

    store = Store(tmp_path)
    store.make_folders()
    (tmp_path / "snapshots" / "it.safetensors").write_bytes(content)
    for read in (store.unfinished, store.tidy, lambda: store.check_names([])):
        with pytest.raises(rasp.RaspError, match=r"it\.safetensors"):
            read()


@pytest.mark.parametrize(
    "about", ["[]", "3", "{}", '{"runs": 3, "epoch": 1}', '{"runs": [3], "epoch": 1}', "[" * 9999]
)
def test_a_snapshot_that_says_nonsense_is_named(tmp_path: Path, about: str) -> None:
    torch = pytest.importorskip("torch", reason="training needs torch")
    from safetensors.torch import save_file

    from rasp.training.store import Store

    store = Store(tmp_path)
    store.make_folders()
    path = tmp_path / "snapshots" / "it.safetensors"
    save_file({"a": torch.zeros(1)}, path, {"about": about})
    with pytest.raises(rasp.RaspError, match=r"it\.safetensors"):
        store.unfinished()


@pytest.mark.parametrize(
    "kept",
    [
        "",
        "[]",
        "{}",
        "[" * 100_000,
        json.dumps({"inputs": [[{"float": "1/0"}]], "statements": [], "seed": 1, "judge": "x"}),
        json.dumps({"inputs": [["a"]], "statements": [{"tree": "os"}], "seed": 1, "judge": "x"}),
        json.dumps({"inputs": [["a"]], "statements": [3], "seed": 1, "judge": "x"}),
    ],
)
def test_what_is_no_replay_file_is_refused(tmp_path: Path, kept: str) -> None:
    path = tmp_path / "it.json"
    path.write_text(kept)
    with pytest.raises(rasp.RaspError) as caught:
        read_replay(path)
    assert caught.value.hint
