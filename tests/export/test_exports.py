"""Loaded by other people's libraries, the paper's tasks give the program's answers."""

from __future__ import annotations

import importlib.util
import json
import random
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "compiler"))

from paper_programs import TASKS

import rasp
from rasp.cli import main
from rasp.compiler import Transformer, compile
from rasp.compiler.certificate import random_input
from rasp.errors import RaspUnsupportedError, RaspValueError
from rasp.export import export
from rasp.export.blocks import blocks_of, decoded, input_ids

pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries' own

WHOLE = ("reverse", "double hist", "most freq, split", "dyck-2, pure", "shuffle-dyck-2")
CAUSAL = ("dyck-1, causal", "frac_prevs, causal")


def needs(*packages: str) -> None:
    for package in packages:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")


def compiled(name: str, length: int, **changes: object) -> Transformer:
    task = TASKS[name]
    options = {"causal": task.causal, "heads": task.heads} | changes
    handle = rasp.run(task.text)["out"]
    return compile(handle, vocabulary=task.vocabulary, max_length=length, **options)


@pytest.mark.parametrize("name", [*WHOLE, *CAUSAL])
def test_torch_agrees_at_length_40(name: str, tmp_path: Path) -> None:
    needs("torch")
    assert export(compiled(name, 40), "torch", tmp_path) == 100


@pytest.mark.parametrize("name", WHOLE)
def test_bert_agrees_at_length_40(name: str, tmp_path: Path) -> None:
    needs("torch", "transformers")
    assert export(compiled(name, 40), "hf-bert", tmp_path) == 100


@pytest.mark.parametrize("name", CAUSAL)
def test_gpt2_agrees_at_length_40(name: str, tmp_path: Path) -> None:
    needs("torch", "transformers")
    assert export(compiled(name, 40), "hf-gpt2", tmp_path) == 100


@pytest.mark.parametrize("name", ["double hist", "dyck-1, causal"])
def test_transformer_lens_agrees_at_length_40(name: str, tmp_path: Path) -> None:
    needs("torch", "transformer_lens")
    assert export(compiled(name, 40), "transformer-lens", tmp_path) == 100


@pytest.mark.parametrize("name", ["double hist", "dyck-1, causal"])
def test_onnxruntime_agrees_at_length_40(name: str, tmp_path: Path) -> None:
    needs("torch", "onnx", "onnxscript", "onnxruntime")
    import onnxruntime

    model = compiled(name, 40)
    assert export(model, "onnx", tmp_path) > 0
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"))
    program = rasp.run(TASKS[name].text)["out"]
    chooser = random.Random(1)
    for _ in range(50):
        tokens = list(random_input(model.settings, chooser))
        (logits,) = session.run(None, {"ids": input_ids(model, tokens)[None].astype(np.int64)})
        assert decoded(model, logits[0])["out"] == program(tokens)


def test_the_torch_folder_works_without_rasp(tmp_path: Path) -> None:
    needs("torch")
    import torch

    export(compiled("hist", 8), "torch", tmp_path)
    spec = importlib.util.spec_from_file_location("exported", tmp_path / "model.py")
    assert spec is not None
    assert spec.loader is not None
    exported = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(exported)
    config = json.loads((tmp_path / "config.json").read_text())["rasp"]
    ids = [config["first_token_id"], *(config["tokens"][f'"{each}"'] for each in "abca")]
    with torch.no_grad():
        logits = exported.load(tmp_path)(torch.tensor([ids]))[0, 1:]
    labels = config["outputs"][0]["labels"]
    assert [labels[each] for each in logits.argmax(-1)] == ["2", "1", "1", "2"]


def test_a_wrong_kind_of_attention_is_refused(tmp_path: Path) -> None:
    needs("torch", "transformers")
    with pytest.raises(RaspUnsupportedError, match="causal"):
        export(compiled("hist", 5), "hf-gpt2", tmp_path)
    with pytest.raises(RaspUnsupportedError, match="causal"):
        export(compiled("dyck-1, causal", 5), "hf-bert", tmp_path)


def test_an_unknown_target_offers_the_closest(tmp_path: Path) -> None:
    with pytest.raises(RaspValueError, match="no export") as caught:
        export(compiled("hist", 5), "hf-bart", tmp_path)
    assert caught.value.hint is not None
    assert "hf-bert" in caught.value.hint


def test_a_missing_library_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(RaspUnsupportedError, match="needs `torch`") as caught:
        export(compiled("hist", 5), "torch", tmp_path)
    assert caught.value.hint == 'pip install "rasp-lang[models]"'


def test_equal_blocks_keep_the_heads_and_pad_to_a_power_of_four() -> None:
    model = compiled("double hist", 10)
    blocks = blocks_of(model, balanced=True, constant=True, square=True)
    assert blocks.heads == max(model.heads_per_layer)
    assert len(blocks.blocks) == model.layers
    assert blocks.inner in (4**power for power in range(8))
    assert blocks.size == blocks.heads * blocks.inner
    for written in (blocks.positions, blocks.tokens, *(block.out.T for block in blocks.blocks)):
        assert np.allclose(written.sum(axis=1), 0, atol=1e-6 * (1 + np.abs(written).max()))


def test_the_command_line_exports_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    needs("torch")
    compiled("hist", 6).save(tmp_path / "model")
    where = str(tmp_path / "torch")
    assert main(["export", str(tmp_path / "model"), "--to", "torch", "-o", where]) == 0
    assert "agrees with the program on 100 random inputs" in capsys.readouterr().out
