"""Files from strangers are read or refused in words, whatever is in them."""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

import rasp
from rasp.apps.cli import main
from rasp.language.meaning.loader import read_source

pytestmark = pytest.mark.slow

RESULTS = Path(__file__).parents[2] / "results"


def test_lines_that_are_no_records_are_named_or_do_not_count(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training needs torch")
    from rasp.models.training.run_store import Store

    path = tmp_path / "records.jsonl"
    path.write_bytes(b"\n".join([b"\xff\xfe", b'{"id": "x', b"[" * 100_000]))
    for wrong in (b"3", b'{"x": 1}', b"null", b"[]"):
        path.write_bytes(b'{"id": "x\n' + wrong + b"\n")
        with pytest.raises(rasp.RaspValueError, match="line 2: this is not the record of a run"):
            Store(tmp_path).records()


def test_a_description_that_is_no_file_or_too_large_is_refused_before_it_is_read(
    tmp_path: Path,
) -> None:
    store = pytest.importorskip("rasp.models.compiler.model.store", reason="models need numpy")
    (tmp_path / store.MODEL).symlink_to("/dev/zero")
    with pytest.raises(rasp.RaspValueError):
        store.load(tmp_path)
    (tmp_path / store.MODEL).unlink()
    with (tmp_path / store.MODEL).open("wb") as file:
        file.truncate(1 << 42)  # a hole: it takes no room, and no memory holds it
    with pytest.raises(rasp.RaspLimitError, match="too large"):
        store.load(tmp_path)


def test_weights_that_share_bytes_are_refused() -> None:
    store = pytest.importorskip("rasp.models.compiler.model.store", reason="models need numpy")
    entry = {"dtype": "F32", "shape": [1000], "data_offsets": [0, 4000]}
    for names, is_fine in ((1, True), (2, False)):
        header = json.dumps({f"w{number}": entry for number in range(names)}).encode()
        raw = len(header).to_bytes(8, "little") + header + b"\0" * 4000
        if is_fine:
            assert list(store.from_safetensors(raw)) == ["w0"]
        else:
            with pytest.raises(rasp.RaspError, match=r"(size|place) of some weights"):
                store.from_safetensors(raw)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no endless file here")
def test_a_program_that_never_ends_is_refused() -> None:
    with pytest.raises(rasp.RaspLimitError, match="over the limit"):
        read_source("/dev/zero")


def test_records_that_are_too_large_are_refused_before_they_are_read(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training needs torch")
    from rasp.models.training.records import LARGEST_RECORDS
    from rasp.models.training.run_store import Store

    with (tmp_path / "records.jsonl").open("wb") as file:
        file.truncate(LARGEST_RECORDS + 1)
    with pytest.raises(rasp.RaspLimitError, match="too large"):
        Store(tmp_path).records()


JUNK = (None, 3, -1, 1e308, "", "x", [], {}, [[]], True, 10**400)


def records_with_junk(count: int, ids: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """Published records, each with something else in one place of it, or with nothing there."""
    lines = (RESULTS / "records.jsonl").read_text(encoding="utf-8").splitlines()
    lines = [line for line in lines if not ids or json.loads(line)["id"] in ids]
    rng = random.Random(2)
    for _ in range(count):
        record = json.loads(rng.choice(lines))
        inner = record
        while True:
            key = rng.choice(list(inner))
            if isinstance(inner[key], dict) and inner[key] and rng.random() < 0.7:
                inner = inner[key]
                continue
            if rng.random() < 0.3:
                del inner[key]
            else:
                inner[key] = rng.choice(JUNK)
            break
        yield record


def test_the_playground_passes_over_records_that_are_none(tmp_path: Path) -> None:
    from rasp.apps.playground.trained import trained

    path = tmp_path / "records.jsonl"
    first = json.loads((RESULTS / "records.jsonl").read_text(encoding="utf-8").splitlines()[0])
    task = first["config"]["task"]
    kept = [*records_with_junk(40), *JUNK, first]
    path.write_text("\n".join(json.dumps(each) for each in kept) + "\n" + "[" * 9999)
    request = {"program": task["program"], "name": task["output"], "records": str(path)}
    assert trained(request)["trained"]


def test_a_table_of_records_that_are_none_is_refused_in_words(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training needs torch")
    from rasp.models.training.paper_tables import cells_of, configs_of

    path = tmp_path / "records.jsonl"
    refused = 0
    for record in records_with_junk(60, {config.id for config in configs_of(cells_of("table1"))}):
        path.write_text(json.dumps(record) + "\n")
        status = main(["reproduce", "table1", "--table", "--results", str(tmp_path)])
        assert status in (0, 2)
        refused += status == 2
    assert refused
