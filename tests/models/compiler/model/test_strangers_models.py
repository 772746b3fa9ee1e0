"""Files from strangers: whatever is changed in a saved model, it is refused or found out."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rasp
from rasp.base.errors import RaspError, RaspLimitError, RaspValueError
from rasp.base.file_reading import fingerprint
from rasp.language.graph.portable import graph_to_json
from rasp.models.certificate import ReadoutWeights
from rasp.models.compiler import compile, load, verify
from rasp.models.compiler.model.certificate import certify, proved
from rasp.models.compiler.model.store import (
    FORMAT,
    LARGEST_DESCRIPTION,
    MODEL,
    WEIGHTS,
)
from rasp.models.compiler.model.tensors import from_safetensors, to_safetensors

Arrays = dict[str, np.ndarray]
TEXT = """hist = selector_width(select(tokens, tokens, ==));
out = aggregate(select(hist, 1, ==), indices, -1);"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = rasp.run(TEXT)
    place = tmp_path_factory.mktemp("saved")
    compile([names["hist"], names["out"]], vocabulary="abc", max_length=6, style="compact").save(
        place
    )
    return place


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "model"))


def put(where: tuple[Any, ...], value: object) -> Callable[[Arrays, Any], None]:
    """Put a value in one place of a model's file."""

    def change(_: Arrays, data: Any) -> None:
        for part in where[:-1]:
            data = data[part]
        data[where[-1]] = value

    return change


def rewrite(folder: Path, change: Callable[[Arrays, dict[str, Any]], object]) -> None:
    arrays = from_safetensors((folder / WEIGHTS).read_bytes())
    data = json.loads((folder / MODEL).read_text())
    change(arrays, data)
    raw = to_safetensors(arrays)
    if isinstance(data, dict) and data.get("fingerprint") != "kept":
        data["fingerprint"] = fingerprint(raw)  # whoever changes weights can do that, too
    (folder / WEIGHTS).write_bytes(raw)
    (folder / MODEL).write_text(json.dumps(data))


def more(array: np.ndarray) -> np.ndarray:
    """The same with one more row."""
    return np.concatenate([array, array[-1:]])


ANOTHER_SHAPE = {
    "tokens": more,
    "positions": more,
    "layer1.head1.query": more,
    "layer1.head1.query_bias": lambda array: array[:, None],
    "layer1.head1.key": lambda array: array[:, 1:],
    "layer1.head1.key_bias": more,
    "layer1.head1.value": more,
    "layer1.head1.value_bias": lambda array: array[None],
    "layer2.head1.out": more,
    "layer1.feed_forward.inside": more,
    "layer1.feed_forward.bias": lambda array: array[:, None],
    "layer1.feed_forward.out": lambda array: array[0],
    "output0.weight": more,
    "output1.bias": more,
}


@pytest.mark.parametrize("name", ANOTHER_SHAPE)
def test_weights_of_another_shape_are_refused(folder: Path, name: str) -> None:
    rewrite(folder, lambda arrays, _: arrays.update({name: ANOTHER_SHAPE[name](arrays[name])}))
    with pytest.raises(RaspValueError, match="is damaged"):
        load(folder)


def stored_sum(constant: str, *parts: object) -> dict[str, Any]:
    return {"kind": "ClaimedSum", "constant": constant, "parts": list(parts)}


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("settings", "max_length"), 7),
        (("settings", "vocabulary"), [["string", "a"]] * 3),
        (("settings", "vocabulary", 1), ["bool", True]),
        (("settings", "bos"), ["float", "1e9"]),
        (("outputs", 0, "scored"), 1),
        (("outputs",), []),
        (("outputs", 0, "scored"), False),
        (("outputs", 0, "codes"), [1.0]),
        (("outputs", 0, "codes"), [5.0, 6.0, 7.0, 8.0, 9.0, 10.0]),
        (("outputs", 0, "atoms", 0), ["int", "one"]),
        (("outputs", 0, "atoms", 0), ["float", "1/0"]),
        (("heads_per_layer",), [2, 1]),
        (("claims",), []),
        (("claims", "readers", 0), 3),
        (("claims", "readers", 0, "weights"), [[99, 1.0]]),
        (("claims", "readers", 0, "weights"), [[0, "x"]]),
        (("claims", "readers", 0, "after"), []),
        (("claims", "variables", 2), stored_sum("1/0")),
        (("claims", "variables", 2), stored_sum("1e999999999")),
        (("claims", "variables", 2), {"kind": "ClaimedNode", "node": 10**6}),
        (("claims", "groups", 1, 0, "inputs"), [-1]),
        (("claims", "heads", 0, 0, "conjuncts", 0, "selector"), 0),
        (("certificate", "runs"), None),
        (("certificate", "blocks", 0), ["x"]),
    ],
)
def test_a_description_that_does_not_fit_is_refused(
    folder: Path, where: tuple[Any, ...], value: object
) -> None:
    rewrite(folder, put(where, value))
    with pytest.raises(RaspError) as caught:
        load(folder)
    assert caught.value.hint


def replaced_program(text: str) -> Callable[[Arrays, dict[str, Any]], None]:
    names = rasp.run(text)

    def change(_: Arrays, data: dict[str, Any]) -> None:
        nodes = {name: names[name].node for name in data["program"]["outputs"]}
        data["program"] = graph_to_json(nodes, {})

    return change


ONE_LAYER_LESS = {"heads_per_layer": [1]}
ANOTHER_PROGRAM: dict[str, Callable[[Arrays, dict[str, Any]], object]] = {
    "fewer layers": lambda _, data: data.update(ONE_LAYER_LESS),
    "no heads": lambda _, data: data.update(heads_per_layer=[0, 0]),
    "another name": lambda _, data: data["outputs"][0].update(name="count"),
    "no outputs": lambda _, data: data["program"].update(outputs={}),
    "other values": replaced_program(TEXT.replace("-1", "-2")),
    "a smaller one": replaced_program("hist = indices; out = indices;"),
    "numbers beyond float32": replaced_program("hist = indices; out = indices * 10^400;"),
}


@pytest.mark.parametrize("name", ANOTHER_PROGRAM)
def test_a_model_of_another_program_is_found_out(folder: Path, name: str) -> None:
    rewrite(folder, ANOTHER_PROGRAM[name])
    try:
        certificate = verify(folder)
    except RaspError:
        return
    assert not certificate.exact
    assert certificate.refused


def test_a_header_of_a_million_heads_is_refused_at_once(folder: Path) -> None:
    rewrite(folder, lambda _, data: data.update(heads_per_layer=[1, 10**6]))
    with pytest.raises(RaspValueError, match="damaged"):
        load(folder)


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("uses_sink",), False),
        (("uses_sink",), 1),
        (("labels",), []),
        (("labels", "dimensions", 1), "something else"),
        (("labels", "heads", 0, 0), "something else"),
        (("labels", "hidden", 1, 0), "something else"),
        (("readers", 0), 3),
        (("readers", 0, "constant"), 3.5),
        (("circuit", "edges"), []),
        (("circuit", "nodes", 0, "kind"), "head"),
        (("parameters",), 7),
        (("hidden_per_layer",), [0, 0, 0]),
        (("certificate", "statement"), "exact for all inputs of any length, in bfloat16"),
        (("certificate", "runs"), 10**6),
        (("certificate", "blocks", 0, 2), 1e9),
        (("program", "nodes", 0, "name"), "sneaky"),
        (("more",), "said"),
        (("outputs", 0, "atoms", 0), ["float", "1"]),
        (("format",), float(FORMAT)),
        (("settings", "sink"), False),
        (("settings", "dropout"), 0.5),
        (("settings", "extra_feed_forwards"), 1),
        (("settings", "next_token"), True),
        (("claims", "more"), []),
    ],
)
def test_whatever_a_folder_says_is_compared(
    folder: Path, where: tuple[Any, ...], value: object
) -> None:
    assert verify(folder).exact
    rewrite(folder, put(where, value))
    assert not verify(folder).exact


def test_heads_beyond_the_schedule_are_said(tmp_path: Path) -> None:
    tied = rasp.run("out = sort(tokens, tokens, assume_bos=True);")["out"]
    model = compile(tied, vocabulary="ab", max_length=4, bos="§", heads="split", style="compact")
    assert model.heads_per_layer == (2, 1)
    model.save(tmp_path)
    assert verify(tmp_path).exact
    rewrite(tmp_path, lambda _, data: data["settings"].update(heads="paper"))
    assert "more heads than the schedule" in verify(tmp_path).refused


def test_a_promise_is_called_by_its_own_text(tmp_path: Path) -> None:
    model = compile(rasp.tokens, vocabulary="ab", max_length=3, where=rasp.tokens != "b")
    model.save(tmp_path)
    certificate = verify(tmp_path)
    assert certificate.exact and '`tokens != "b"`' in certificate.statement

    def rename(_: Arrays, data: Any) -> None:
        data["settings"]["where_name"] = "indices >= 0"
        data["certificate"]["statement"] = certificate.statement.replace(
            'tokens != "b"', "indices >= 0"
        )

    rewrite(tmp_path, rename)
    assert "the text or the name of another s-op" in verify(tmp_path).refused


def test_codes_are_weights() -> None:
    """A read-out that compares a number with codes has these for weights."""
    model = compile(rasp.tokens, vocabulary=[0, 10_000], max_length=2, style="compact")
    settings = replace(model.settings, style="robust")
    weights = replace(
        model.weights, tokens=np.array([[0.0], [100.0]]), positions=np.zeros((2, 1)),
        readouts=[ReadoutWeights(np.array([[100.0]]), np.zeros(1))],
    )  # fmt: skip
    readout = replace(model.readouts[0], codes=(0.0, 10_000.0), scored=False)
    claims = replace(model.claims, readers=())
    model = replace(model, settings=settings, weights=weights, readouts=(readout,), claims=claims)
    certificate = certify(model, proved(model))
    assert certificate.exact and certificate.robust is not None
    assert certificate.robust.largest_weight == 10_000


def test_a_steep_model_says_so_whatever_its_style_is_called(tmp_path: Path) -> None:
    model = compile(rasp.tokens, vocabulary="ab", max_length=3, style="compact")
    (readout,) = model.weights.readouts
    weights = replace(
        model.weights, tokens=np.hstack([model.weights.tokens, np.full((2, 1), 1e5)]),
        positions=np.hstack([model.weights.positions, np.zeros((3, 1))]),
        readouts=[replace(readout, weight=np.hstack([readout.weight, np.zeros((2, 1))]))],
    )  # fmt: skip
    model = replace(model, settings=replace(model.settings, style="robust"), weights=weights)
    model.proof = certify(model, proved(model))
    assert model.certificate.exact
    model.save(tmp_path)
    assert "no weight above 1e+05" in str(verify(tmp_path))


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("claims", "groups"), []),
        (("claims", "groups", 1, 0, "units"), 99),
        (("claims", "groups", 1, 0, "inputs"), [99]),
        (("claims", "variables", 2), stored_sum("0", [{"variable": 2, "state": None}, "1"])),
        (("program", "outputs"), {}),
    ],
)
def test_claims_that_nobody_has_proved_may_describe_nothing(
    folder: Path, where: tuple[Any, ...], value: object
) -> None:
    """Labels follow from claims: where they cannot, the answers are there all the same."""

    rewrite(folder, put(where, value))
    model = load(folder)
    assert model("abca")["hist"] == [2, 1, 1, 2]
    with pytest.raises(RaspValueError, match="a claim in it is damaged"):
        _ = model.circuit


def test_other_random_inputs_are_tried_each_time(folder: Path) -> None:
    first, second = verify(folder), verify(folder)
    assert first.exact and second.exact
    assert first.seed != second.seed
    assert verify(folder, first.seed) == first
    assert f"(seed {first.seed})" in str(first)


def test_an_array_too_many_is_found(folder: Path) -> None:
    rewrite(folder, lambda arrays, _: arrays.update(spare=np.zeros(3)))
    assert not verify(folder).exact


def test_a_fingerprint_that_is_not_that_of_the_weights_is_refused(folder: Path) -> None:
    def change(arrays: Arrays, data: dict[str, Any]) -> None:
        arrays["tokens"] = arrays["tokens"] * 2
        data["fingerprint"] = "kept"

    rewrite(folder, change)
    with pytest.raises(RaspValueError, match="the weights do not match their fingerprint"):
        load(folder)


def test_weights_of_any_size_are_verified_without_a_warning(folder: Path) -> None:
    rewrite(folder, lambda arrays, _: arrays.update({
        name: np.sign(array) * 3e38 for name, array in arrays.items()
    }))  # fmt: skip
    assert not verify(folder).exact


# -- the two files ----------------------------------------------------------------------------


def test_a_key_that_is_there_twice_is_refused(folder: Path) -> None:
    text = (folder / MODEL).read_text()
    (folder / MODEL).write_text(text.replace('"uses_sink"', '"uses_sink": false, "uses_sink"'))
    with pytest.raises(RaspValueError, match="a file in it is damaged"):
        load(folder)


def test_a_file_that_is_too_large_is_not_even_read(folder: Path) -> None:
    os.truncate(folder / MODEL, LARGEST_DESCRIPTION + 1)  # a hole: it takes no room on the disk
    with pytest.raises(RaspLimitError, match="is too large"):
        load(folder)


@pytest.mark.parametrize("name", [MODEL, WEIGHTS])
def test_a_link_to_a_device_is_not_read_to_its_end(folder: Path, name: str) -> None:
    (folder / name).unlink()
    (folder / name).symlink_to("/dev/zero")
    with pytest.raises(RaspValueError, match="is a device, not a file"):
        load(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": "4"}', "[" * 100_000, "\xff"])
def test_a_description_that_is_none_is_refused(folder: Path, text: str) -> None:
    (folder / MODEL).write_bytes(text.encode("latin-1"))
    with pytest.raises(RaspValueError, match=r"(a file|the format) in it is damaged"):
        load(folder)
