"""A test bed tells the truth: circuits are complete and minimal, and faults in files are found."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import rasp  # noqa: E402
from rasp.apps.cli import main  # noqa: E402
from rasp.models.compiler import Transformer  # noqa: E402
from rasp.models.compiler.model.tensors import from_safetensors, to_safetensors  # noqa: E402
from rasp.models.export import torch_module  # noqa: E402
from rasp.models.testbed import attribution, folder, many, superposition  # noqa: E402
from rasp.models.testbed.dials import Dials, read_dials, turned  # noqa: E402
from rasp.models.testbed.edges import (  # noqa: E402
    Names,
    all_edges,
    allowed_edges,
    attribution_graph,
    hook_pairs,
)
from rasp.models.testbed.folder_check import problems  # noqa: E402
from rasp.models.testbed.truth import Laboratory, find_circuit  # noqa: E402
from rasp.teaching.gallery import study_program  # noqa: E402

pytestmark = pytest.mark.slow

EVERYTHING = Dials(heads=2, units=3, layers=2, rotation=True, noise=1e-6, seed=3)
PROGRAMS = {
    "hist": ("hist = selector_width(select(tokens, tokens, ==));", "abc"),
    "reverse": ("reverse = aggregate(select(indices, length - 1 - indices, ==), tokens);", "abc"),
    "sums": ("sums = (indices + 1) * aggregate(select(indices, indices, <=), tokens);", [0, 1, 2]),
    "first": ('first = aggregate(select(indices, 0, ==), tokens) if length > 2 else "b";', "ab"),
}


@pytest.fixture(scope="module", params=PROGRAMS)
def model(request: pytest.FixtureRequest) -> Transformer:
    return _compiled(request.param)


def _compiled(name: str) -> Transformer:
    torch.set_num_threads(1)
    text, vocabulary = PROGRAMS[name]
    return rasp.compile(
        {name: rasp.run(text)[name]}, vocabulary=vocabulary, max_length=5, style="robust"
    )


def _names(edges: list[Any]) -> set[str]:
    """Edges by name, with empty layers left out of the count."""
    return {str(edge) for edge in edges}


def test_dials_leave_answers_and_circuits_as_they_are(model: Transformer) -> None:
    plain = folder.make("plain", model, Dials())
    assert (plain.wrong, plain.circuit.minimal) == (0, True)
    for dials in (Dials(heads=2, units=3), Dials(rotation=True), Dials(noise=1e-6, seed=5)):
        entry = folder.make("turned", model, dials)
        assert (entry.wrong, entry.circuit.minimal) == (0, True)
        assert _names(entry.circuit.edges) == _names(plain.circuit.edges)
    everything = folder.make("everything", model, EVERYTHING)
    assert everything.wrong == 0
    assert len(everything.circuit.edges) == len(plain.circuit.edges)
    assert everything.dialled.model.layers == model.layers + 2


def test_exact_patching_finds_every_circuit(model: Transformer) -> None:
    entry = folder.make("plain", model, Dials())
    laboratory = Laboratory(entry.dialled.model, seed=11)
    edges = all_edges(entry.dialled.readable)
    scores = attribution.patched(laboratory, edges)
    assert attribution.auroc(scores, entry.circuit.edges) == 1.0
    for steps in (0, 4):
        estimated = attribution.attributed(laboratory, edges, steps)
        assert 0.5 < attribution.auroc(estimated, entry.circuit.edges) <= 1.0
        inside = set(allowed_edges(entry.dialled.readable))
        assert all(score < 1e-9 for edge, score in estimated.items() if edge not in inside)


def test_what_rounding_leaves_of_a_gradient_is_no_score(model: Transformer) -> None:
    """A rotation changes how everything is rounded, and no score that means something."""
    scores = []
    for dials in (Dials(), Dials(rotation=True, seed=3)):
        entry = folder.make("turned", model, dials)
        laboratory = Laboratory(entry.dialled.model, seed=11)
        scores.append(attribution.attributed(laboratory, all_edges(entry.dialled.readable)))
    plain, turned = scores
    assert {edge for edge in plain if plain[edge]} == {edge for edge in turned if turned[edge]}
    for edge, score in plain.items():
        assert turned[edge] == pytest.approx(score, rel=1e-3)


def test_the_circuit_of_reverse_is_the_one_that_its_program_describes() -> None:
    entry = folder.make("reverse", _compiled("reverse"), Dials())
    names = _names(entry.circuit.edges)
    last = entry.dialled.model.layers
    assert f"tokens -> layer{last}.head1 as value" in names
    assert f"positions -> layer{last}.head1 as key" in names
    assert f"tokens -> layer{last}.head1 as key" not in names


@pytest.mark.parametrize("name", ["equal_abc", "words_ending_in_ing"])
def test_rare_answers_do_not_hide_edges(name: str) -> None:
    """Up to length 6, two inputs of `equal_abc` are answered with True; all others show little."""
    torch.set_num_threads(1)
    model = many.compiled(study_program(name), 6, "robust")
    for seed in (0, 1):
        entry = folder.make(name, model, Dials(rotation=True, seed=seed))
        assert (entry.complete, entry.circuit.minimal) == (True, True)
        last = entry.dialled.model.layers
        assert f"layer{last}.feed_forward -> output" in _names(entry.circuit.edges)


def test_formats_name_the_same_circuit() -> None:
    entry = folder.make("reverse", _compiled("reverse"), EVERYTHING)
    weights, edges = entry.dialled.model.weights, entry.circuit.edges
    graph = attribution_graph(weights, edges)
    assert {name for name, edge in graph["edges"].items() if edge["in_graph"]} == {
        Names(weights).edge(edge) for edge in edges
    }
    heads, layers = graph["cfg"]["n_heads"], graph["cfg"]["n_layers"]
    assert len(graph["nodes"]) == 2 + layers * (heads + 1)
    pairs = hook_pairs(Names(weights), edges)
    assert ["hook_embed", pairs[-1][0]] in pairs
    assert pairs[-1][1] == f"blocks.{layers - 1}.hook_resid_post"
    assert all(source.startswith(("hook_", "blocks.")) for source, _ in pairs)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("testbed") / "hist"
    folder.write(folder.make("hist", _compiled("hist"), EVERYTHING), place)
    return place


def test_a_written_model_has_no_problems_and_runs_alone(written: Path) -> None:
    assert list(problems(written)) == []
    module = torch_module.load(written)
    certified = rasp.models.compiler.load(written / "certified")
    from rasp.models.export.standard_stack import decoded, input_ids

    for tokens in ("a", "abca", "ccbbc"):
        logits = module(torch.tensor(input_ids(certified, tokens))[None])[0].detach().numpy()
        assert decoded(certified, logits)["hist"] == certified(tokens)


def _edit(path: Path, change: Callable[[Any], Any]) -> None:
    path.write_text(json.dumps(change(json.loads(path.read_text()))))


def _with_another_edge(circuit: list[dict[str, Any]]) -> list[dict[str, Any]]:
    known = {(edge["source"], edge["target"], edge["role"]) for edge in circuit}
    target = next(edge for edge in circuit if edge["role"] in ("query", "key", "value"))
    for role in ("query", "key", "value"):
        if ("positions", target["target"], role) not in known:
            return [*circuit, target | {"source": "positions", "role": role}]
    raise AssertionError("every edge is there")


def _idle_head_writes(path: Path) -> None:
    arrays = {name: array.copy() for name, array in from_safetensors(path.read_bytes()).items()}
    out = next(name for name in arrays if name.endswith("attention.out.weight"))
    arrays[out][:, -1] += np.float32(0.5)
    path.write_bytes(to_safetensors(arrays))


FAULTS: dict[str, Callable[[Path], None]] = {
    "an edge too many": lambda place: _edit(place / "circuit.json", _with_another_edge),
    "an edge too few": lambda place: _edit(place / "circuit.json", lambda edges: edges[1:]),
    "another hook": lambda place: _edit(place / "circuit-hooks.json", lambda pairs: pairs[1:]),
    "another graph": lambda place: _edit(
        place / "circuit-attribution.json", lambda graph: graph | {"nodes": {}}
    ),
    "a wrong label": lambda place: _edit(
        place / "labels.json", lambda labels: labels | {"dimensions": labels["dimensions"][::-1]}
    ),
    "an idle head that does something": lambda place: _idle_head_writes(
        place / "weights.safetensors"
    ),
    "another statement": lambda place: _edit(
        place / "testbed.json", lambda card: card | {"certified": "exact for everything"}
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_in_the_files_are_found(fault: str, written: Path, tmp_path: Path) -> None:
    place = tmp_path / "model"
    shutil.copytree(written, place)
    FAULTS[fault](place)
    assert list(problems(place))


def test_an_edge_without_use_is_no_edge_of_the_circuit() -> None:
    model = _compiled("hist")
    dialled = turned(model, EVERYTHING)
    laboratory = Laboratory(dialled.model)
    every = all_edges(dialled.model.weights)
    circuit = find_circuit(laboratory, every, every)  # without the help of structure
    assert circuit.minimal
    assert set(circuit.edges) <= set(allowed_edges(dialled.readable))


def test_the_command_writes_goes_on_and_checks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = str(tmp_path / "bed")
    words = ["testbed", place, "hist", "--max-length", "4", "--dials", "", "--dials", "rotation"]
    assert main(words) == 0
    assert "hist.rotation.0: written" in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    assert [json.loads(line)["kind"] for line in capsys.readouterr().out.splitlines()] == [
        "there", "there",
    ]  # fmt: skip
    words[4] = "3"
    assert main([*words, "--style", "compact"]) == 2
    said = capsys.readouterr().err
    assert 'length was 4 and is now 3; style was "robust" and is now "compact"' in said
    words[4] = "0"
    assert main(words) == 2
    assert "`--max-length` is between 1 and 4096, not 0" in capsys.readouterr().err
    assert main(["testbed", place, "--check"]) == 0
    assert "2 models checked, 0 with problems" in capsys.readouterr().out
    _edit(Path(place) / "hist.plain.0" / "circuit.json", lambda edges: edges[1:])
    assert main(["testbed", place, "--check"]) == 1


@pytest.mark.parametrize("text", ["turns=1", "heads=many", "noise=2", "superposition=1"])
def test_dials_that_there_are_not_are_refused(text: str) -> None:
    with pytest.raises(rasp.RaspError):
        read_dials(text)


def test_a_model_that_is_right_too_seldom_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(superposition, "INPUTS", 200)
    monkeypatch.setattr(superposition, "LESS", (1.0,))
    monkeypatch.setattr(folder, "superposed", partial(superposition.superposed, steps=1))
    text, vocabulary = PROGRAMS["reverse"]
    source = many.StudyProgram("reverse", rasp.run(text)["reverse"], vocabulary)
    [outcome] = many.write_many([source], [Dials(superposition=0.8)], tmp_path, 5, "robust")
    assert outcome.kind == "refused"
    assert "of its answers are right" in outcome.detail
    assert not list(tmp_path.glob("reverse*"))


def test_a_model_with_fewer_dimensions_says_how_often_it_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(superposition, "INPUTS", 200)
    monkeypatch.setattr(folder, "superposed", partial(superposition.superposed, steps=60))
    entry = folder.make("hist", _compiled("hist"), Dials(superposition=0.5))
    full = _compiled("hist").d_model
    assert full / 2 <= entry.model.d_model < full
    folder.write(entry, tmp_path / "hist")
    assert list(problems(tmp_path / "hist")) == []
    card = json.loads((tmp_path / "hist" / "testbed.json").read_text())
    assert f"{entry.right:.2%}" in card["agrees"]
    assert card["d_model"] == entry.model.d_model
    _edit(tmp_path / "hist" / "testbed.json",
          lambda card: card | {"agrees": card["agrees"].replace(f"{entry.right:.2%}", "100.00%")}
          if entry.right < 1 else card | {"agrees": "exact"})  # fmt: skip
    assert list(problems(tmp_path / "hist"))
