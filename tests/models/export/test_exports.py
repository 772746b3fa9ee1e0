"""Loaded by other people's libraries, the paper's tasks give the program's answers."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_examples import CAUSAL, TASKS, WHOLE, compiled, needs

import rasp
from rasp.base.errors import RaspUnsupportedError, RaspValueError
from rasp.models.compiler import Transformer
from rasp.models.compiler.model.describe import Words
from rasp.models.compiler.model.vocabulary_inputs import random_input
from rasp.models.export import TARGETS, decoded, export, input_ids, to_torch
from rasp.models.export.foreign_check import check, inputs_to_try
from rasp.models.export.standard_stack import blocks_of

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # the libraries' own

OF_WHOLE_INPUTS = [target for target in TARGETS if target != "hf-gpt2"]
"""What takes a model that sees the whole input; every new export is among them."""
OF_CAUSAL = [target for target in TARGETS if target != "hf-bert"]


@pytest.mark.parametrize("name", [*WHOLE, *CAUSAL])
def test_torch_agrees_at_length_40(name: str, tmp_path: Path) -> None:
    needs("torch")
    assert export(compiled(name, 40), "torch", tmp_path) >= 80


@pytest.mark.parametrize(
    ("name", "length"),
    [("reverse", 40), ("double hist", 40), ("shuffle-dyck-2", 40), ("most freq, split", 10),
     ("dyck-2, pure", 10)],
)  # fmt: skip
def test_bert_agrees(name: str, length: int, tmp_path: Path) -> None:
    needs("torch", "transformers")
    assert export(compiled(name, length), "hf-bert", tmp_path) >= 80


@pytest.mark.parametrize("target", OF_WHOLE_INPUTS)
def test_a_robust_model_is_exported(target: str, tmp_path: Path) -> None:
    needs(*TARGETS[target].needs)
    assert export(compiled("reverse", 10, "robust"), target, tmp_path) >= 80


@pytest.mark.parametrize("target", OF_CAUSAL)
def test_a_causal_model_is_exported(target: str, tmp_path: Path) -> None:
    needs(*TARGETS[target].needs)
    assert export(compiled("dyck-1, causal", 8), target, tmp_path) >= 50


@pytest.mark.parametrize("name", CAUSAL)
def test_gpt2_agrees_at_length_40(name: str, tmp_path: Path) -> None:
    needs("torch", "transformers")
    assert export(compiled(name, 40), "hf-gpt2", tmp_path) >= 80


@pytest.mark.parametrize("name", ["double hist", "dyck-1, causal"])
def test_transformer_lens_agrees_at_length_40(name: str, tmp_path: Path) -> None:
    needs("torch", "transformer_lens")
    assert export(compiled(name, 40), "transformer-lens", tmp_path) >= 80


@pytest.mark.parametrize("name", [*WHOLE, *CAUSAL])
def test_onnxruntime_agrees_at_length_40(name: str, tmp_path: Path) -> None:
    needs("onnx", "onnxruntime")
    assert export(compiled(name, 40), "onnx", tmp_path) >= 80


# What a stranger runs who has the library, the folder and its card, and has never heard of rasp.
STRANGER = """
import json, sys
from pathlib import Path
import numpy

for folder, inputs in json.loads(sys.argv[1]):
    card = json.loads((Path(folder) / "rasp.json").read_text())
    names = {"folder": folder}
    exec("\\n".join(card["load"]), names)
    run = lambda ids: names["logits_of"](numpy.array([ids]))[0].tolist()
    (output,) = card["outputs"]
    start, end = output["logits"]
    for given in inputs:
        ids = [card["tokens"][json.dumps(token)] for token in given]
        if card["first_token_id"] is not None:
            rows = run([card["first_token_id"], *ids])[1:]
        else:
            rows = run(ids)
        answers = []
        for row in rows:
            scores = row[start:end]
            if "codes" in output:
                scores = [-abs(scores[0] - code) for code in output["codes"]]
            answers.append(output["labels"][scores.index(max(scores))])
        print(json.dumps(answers))
assert "rasp" not in sys.modules
"""


def answers_of_a_stranger(folders: list[tuple[Path, list[str]]]) -> list[list[str]]:
    given = json.dumps([(str(folder), inputs) for folder, inputs in folders])
    done = subprocess.run([sys.executable, "-c", STRANGER, given], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("packages", sorted({target.needs for target in TARGETS.values()}),
                         ids=" ".join)  # fmt: skip
def test_a_fresh_process_needs_the_folder_and_the_library_alone(
    packages: tuple[str, ...], tmp_path: Path
) -> None:
    needs(*packages)
    folders, expected = [], []
    for target in (name for name, target in TARGETS.items() if target.needs == packages):
        name = "dyck-1, causal" if target == "hf-gpt2" else "double hist"
        model, program = compiled(name, 8), rasp.run(TASKS[name].text)["out"]
        export(model, target, tmp_path / target)
        chooser = random.Random(3)
        inputs = ["".join(map(str, random_input(model.settings, chooser))) for _ in range(10)]
        folders.append((tmp_path / target, inputs))
        expected += [[shown(atom) for atom in program(each)] for each in inputs]
    assert answers_of_a_stranger(folders) == expected


def shown(atom: object) -> str:
    return json.dumps(atom)


def test_bert_takes_inputs_of_different_lengths_with_an_attention_mask(tmp_path: Path) -> None:
    needs("torch", "transformers")
    import torch
    from transformers import BertForTokenClassification

    model = compiled("double hist", 8)
    export(model, "hf-bert", tmp_path)
    bert = BertForTokenClassification.from_pretrained(tmp_path)
    program = rasp.run(TASKS["double hist"].text)["out"]
    rows = [input_ids(model, given).tolist() for given in ("abcabc", "aab")]
    padded = torch.tensor([row + [0] * (7 - len(row)) for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (7 - len(row)) for row in rows])
    with torch.no_grad():
        logits = bert(padded, attention_mask=mask).logits.numpy()
    for given, row, found in zip(("abcabc", "aab"), rows, logits, strict=True):
        assert decoded(model, found[: len(row)])["out"] == program(given)


def test_a_module_in_memory_answers_batches() -> None:
    needs("torch")
    import torch

    model, program = compiled("reverse", 12), rasp.run(TASKS["reverse"].text)["out"]
    module, inputs = to_torch(model), ["abcd", "jjjj", "hgfe"]
    with torch.no_grad():
        logits = module(torch.tensor(np.stack([input_ids(model, each) for each in inputs])))
    found = [decoded(model, each)["out"] for each in logits.numpy()]
    assert found == [program(each) for each in inputs]


def two_outputs() -> Transformer:
    program = rasp.run("hist = selector_width(select(tokens, tokens, ==)); half = indices / 2;")
    outputs = {"hist": program["hist"], "half": program["half"]}
    return rasp.compile(outputs, vocabulary="ab", max_length=5, bos="§")


@pytest.mark.parametrize("target", OF_WHOLE_INPUTS)
def test_several_outputs_and_a_bos_are_exported(target: str, tmp_path: Path) -> None:
    needs(*TARGETS[target].needs)
    assert export(two_outputs(), target, tmp_path) >= 20
    card = json.loads((tmp_path / "rasp.json").read_text())
    assert [each["name"] for each in card["outputs"]] == ["hist", "half"]
    assert card["outputs"][0]["logits"][1] == card["outputs"][1]["logits"][0]
    assert card["bos"] == '"§"'


def test_the_inputs_tried_hold_the_smallest_and_the_largest_counts() -> None:
    tried = inputs_to_try(two_outputs().settings)
    assert {("§", "a"), ("§", "b"), ("§", "a", "a", "a", "a")} <= set(tried)
    assert all(each[0] == "§" and each.count("§") == 1 and len(each) <= 5 for each in tried)


@pytest.mark.parametrize("target", OF_WHOLE_INPUTS)
def test_feed_forward_blocks_without_heads_are_exported(target: str, tmp_path: Path) -> None:
    """Each target compares what it loads with the program; a difference would raise."""
    needs(*TARGETS[target].needs)
    program = rasp.run("""
    few = count(tokens, "a") > count(tokens, "b") * count(tokens, "c");
    many = count(tokens, "d") * count(tokens, "e") < count(tokens, "f") + 1;
    chosen = length if (few and many if indices > 3 else count(tokens, "g") % 3 == 1) else indices;
    """)
    model = rasp.compile(
        program["chosen"], alphabet="abcdefg", max_length=6, extra_feed_forwards=3, style="compact"
    )
    assert model.extra_feed_forwards
    export(model, target, tmp_path / "model")
    assert json.loads((tmp_path / "model" / "rasp.json").read_text())["checked"]


def test_a_model_that_answers_differently_is_not_called_done() -> None:
    needs("torch")
    from rasp.models.export.torch_target import run_torch

    model = compiled("hist", 6)
    right = run_torch(to_torch(model))
    with pytest.raises(RaspUnsupportedError, match=r"exported to torch.*answers .* differently"):
        check(model, lambda ids: np.roll(right(ids), 1, axis=-1), "torch")


def test_a_program_that_never_has_a_value_cannot_be_checked() -> None:
    program = rasp.run("out = indices / (tokens_int - tokens_int + 1);")["out"]
    model = rasp.compile(program, vocabulary=["1"], max_length=3)
    failing: Any = rasp.run("out = 1 / (tokens_int - tokens_int);")["out"]
    model.words = Words({"out": failing.node}, {}, {})
    with pytest.raises(RaspUnsupportedError, match="no value on any of the inputs tried"):
        check(model, lambda ids: np.zeros((*ids.shape, 9)), "torch")


def test_a_wrong_kind_of_attention_is_refused(tmp_path: Path) -> None:
    needs("torch", "transformers")
    with pytest.raises(RaspUnsupportedError, match="GPT-2 is causal"):
        export(compiled("hist", 5), "hf-gpt2", tmp_path / "gpt2")
    with pytest.raises(RaspUnsupportedError, match="compiled to be causal"):
        export(compiled("dyck-1, causal", 5), "hf-bert", tmp_path / "bert")
    assert not list(tmp_path.iterdir())


def test_an_unknown_target_offers_the_closest(tmp_path: Path) -> None:
    with pytest.raises(RaspValueError, match="no export to `hf-bart`") as caught:
        export(compiled("hist", 5), "hf-bart", tmp_path)
    assert caught.value.hint == "did you mean `hf-bert`?"


@pytest.mark.parametrize("name", [name for name, target in TARGETS.items() if target.extra])
def test_a_missing_library_names_the_extra(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = TARGETS[name]
    *others, package = target.needs
    needs(*others)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(RaspUnsupportedError, match=f"needs `{package}`") as caught:
        export(compiled("hist", 5), name, tmp_path)
    assert f"[{target.extra}]" in (caught.value.hint or "")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(RaspUnsupportedError, match="a torch module needs `torch`"):
        to_torch(compiled("hist", 5))


def test_equal_blocks_keep_the_heads_and_pad_to_a_power_of_four() -> None:
    model = compiled("double hist", 10)
    blocks = blocks_of(model, balanced=True, constant=True, square=True)
    assert blocks.heads == max(model.heads_per_layer)
    assert blocks.count == model.layers
    assert blocks.inner in (4**power for power in range(8))
    assert blocks.size == blocks.heads * blocks.inner
    heads = [blocks[f"blocks.{number}.attention.out.weight"].T for number in range(blocks.count)]
    for written in (blocks["positions.weight"], blocks["tokens.weight"], *heads):
        assert np.allclose(written.sum(axis=1), 0, atol=1e-6 * (1 + np.abs(written).max()))
