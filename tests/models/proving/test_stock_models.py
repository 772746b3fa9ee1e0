"""Models of transformers, our exports and tokenizers: what is read is what the library computes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rasp
from rasp.base.errors import RaspError
from rasp.models.proving import Adapter, Architecture, prove
from rasp.models.proving.digits import Float64
from rasp.models.proving.enclosures import Balls
from rasp.models.proving.model_files import open_model
from rasp.models.proving.network_table import forward
from rasp.models.proving.prefixes import lay_out

pytestmark = pytest.mark.slow
torch: Any = pytest.importorskip("torch")
transformers: Any = pytest.importorskip("transformers")
SIZES: dict[str, Any] = {
    "gpt2": {"n_embd": 12, "n_head": 3, "n_positions": 9, "vocab_size": 7, "bos_token_id": None,
             "eos_token_id": None},
    "bert": {"hidden_size": 12, "num_attention_heads": 3, "max_position_embeddings": 9,
             "vocab_size": 7, "intermediate_size": 20},
}  # fmt: skip
CASES = [
    ("GPT2LMHeadModel", {"n_layer": 2}),
    ("GPT2LMHeadModel", {"n_layer": 3, "activation_function": "relu", "n_inner": 5}),
    ("GPT2LMHeadModel", {"n_layer": 2, "scale_attn_by_inverse_layer_idx": True,
                         "activation_function": "gelu", "tie_word_embeddings": False}),
    ("GPT2ForTokenClassification", {"n_layer": 1, "num_labels": 3}),
    ("GPT2ForSequenceClassification", {"n_layer": 1, "num_labels": 2, "pad_token_id": 6}),
    ("BertForTokenClassification", {"num_hidden_layers": 2, "num_labels": 3}),
    ("BertForSequenceClassification", {"num_hidden_layers": 1, "num_labels": 2}),
    ("BertForMaskedLM", {"num_hidden_layers": 2, "hidden_act": "gelu_new"}),
    ("BertLMHeadModel", {"num_hidden_layers": 2, "is_decoder": True, "hidden_act": "relu"}),
]  # fmt: skip


def stock(folder: Path, name: str, given: dict[str, Any]) -> Any:
    """A random model of the library, saved: all its weights far from what they begin as."""
    kind = getattr(transformers, name)
    config = kind.config_class(**SIZES[kind.config_class.model_type], **given)
    torch.manual_seed(1)
    model = kind(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.5)
    model.save_pretrained(folder)
    return model


def vocabulary(folder: Path, tokens: str = "abcdefg") -> None:
    ids = {token: number for number, token in enumerate(tokens)}
    (folder / "vocab.json").write_text(json.dumps(ids), encoding="utf-8")


@pytest.mark.parametrize(("name", "given"), CASES)
def test_a_stock_model_is_read_as_its_library_computes_it(
    name: str, given: dict[str, Any], tmp_path: Path
) -> None:
    model = stock(tmp_path, name, given)
    vocabulary(tmp_path)
    opened = open_model(tmp_path)
    assert opened.adapter is not None
    ids = np.array([[0, 1, 2, 3], [0, 1, 2, 4], [3, 3, 5, 1]])
    layout = lay_out(ids, opened.network.causal)
    ball = forward(opened.network, layout, Balls(Float64()))
    with torch.no_grad():
        real = model.double()(torch.tensor(ids)).logits.numpy()
    columns = {"each": slice(None), "last": -1, "first": 0}[opened.adapter.at]
    rows = layout.nodes[:, columns]
    off = np.linalg.norm(ball.middle[rows] - real, axis=-1)
    assert (off <= ball.radius[rows] + 1e-12).all(), off.max()
    assert off.max() < 1e-12


def test_a_stock_model_is_compared_with_what_it_answers(tmp_path: Path) -> None:
    model = stock(tmp_path, "GPT2ForSequenceClassification",
                  {"n_layer": 1, "num_labels": 2, "pad_token_id": 6}).double()  # fmt: skip
    vocabulary(tmp_path)

    def answer(tokens: list[str]) -> bool:
        ids = torch.tensor([["abcdefg".index(token) for token in tokens]])
        with torch.no_grad():
            return bool(model(ids).logits[0].argmax())

    found = prove(tmp_path, answer, alphabet="abc", up_to=5)
    assert found.verdict == "proved" and found.inputs == 363 and found.margin is not None
    wrong = prove(tmp_path, lambda tokens: answer(tokens) != (tokens == ["b", "a", "c"]),
                  alphabet="abc", up_to=5)  # fmt: skip
    assert wrong.difference is not None and wrong.difference.input == "bac"


HIST = "hist = selector_width(select(tokens, tokens, ==));"
TARGETS = ("torch", "hf-bert", "hf-gpt2", "transformer-lens", "onnx")


@pytest.mark.parametrize("target", TARGETS)
def test_every_export_is_proved_to_be_its_program(target: str, tmp_path: Path) -> None:
    if target == "transformer-lens":
        pytest.importorskip("transformer_lens")
    causal = target == "hf-gpt2"
    text = 'seen = num_prevs(tokens == "a");' if causal else HIST
    program = next(iter(rasp.run(text).values()))
    model = rasp.compile(program, alphabet="abc", max_length=6, causal=causal)
    rasp.export(model, target, tmp_path / "model")
    found = prove(tmp_path / "model", program)
    assert (found.verdict, found.up_to, found.inputs) == ("proved", 6, 1092)
    assert found.adapter.source == "rasp.json, which `rasp export` wrote"
    other = prove(tmp_path / "model", program + (program == 4))
    assert other.difference is not None and len(other.difference.tokens) == 4


def test_a_tokenizer_says_what_stands_around_an_input(tmp_path: Path) -> None:
    stock(tmp_path, "BertForSequenceClassification", {"num_hidden_layers": 1, "num_labels": 2})
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"]
    made = transformers.BertTokenizer({token: place for place, token in enumerate(tokens)})
    made.save_pretrained(tmp_path)
    adapter = open_model(tmp_path).adapter
    assert adapter is not None
    row = adapter.rows(np.array([[adapter.tokens.index("a"), adapter.tokens.index("b")]]), 2, None)
    assert row[0].tolist() == made("a b").input_ids == [2, 5, 6, 3]
    assert (adapter.at, adapter.answers, adapter.longest) == ("first", (False, True), 7)
    assert adapter.tokens == ("a", "b")


@pytest.mark.parametrize("broken", ["missing", "nan", "family", "activation", "pickle", "letter"])
def test_a_model_that_does_not_fit_is_refused(broken: str, tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    stock(tmp_path, "GPT2LMHeadModel", {"n_layer": 1})
    vocabulary(tmp_path)
    path, config = tmp_path / "model.safetensors", tmp_path / "config.json"
    state, alphabet = load_file(path), "abc"
    told = json.loads(config.read_text(encoding="utf-8"))
    match broken:
        case "missing":
            del state["transformer.h.0.mlp.c_fc.weight"]
        case "nan":
            state["transformer.wte.weight"][0, 0] = np.nan
        case "family":
            told["model_type"] = "llama"
        case "activation":
            told["activation_function"] = "silu"
        case "letter":
            alphabet = "abz"
    save_file(state, path)
    config.write_text(json.dumps(told), encoding="utf-8")
    if broken == "pickle":
        path.rename(tmp_path / "pytorch_model.bin")
    words = {"missing": "no weights `h.0.mlp.c_fc", "nan": "not finite", "family": "llama",
             "activation": "silu", "pickle": "pickled", "letter": 'no token "z"'}  # fmt: skip
    with pytest.raises(RaspError, match=words[broken].replace("[", r"\[")):
        prove(tmp_path, rasp.tokens, alphabet=alphabet, up_to=3)


def test_a_torch_module_is_described_by_a_row() -> None:
    torch.manual_seed(0)
    module = torch.nn.ModuleDict({
        "embed": torch.nn.Embedding(2, 6), "q": torch.nn.Linear(6, 4), "k": torch.nn.Linear(6, 4),
        "v": torch.nn.Linear(6, 4), "o": torch.nn.Linear(4, 6), "read": torch.nn.Linear(6, 2),
    })  # fmt: skip
    row = Architecture(1, 2, False, "embed", None, query="q", key="k", value="v", out="o",
                       inside=None, readout=("read",))  # fmt: skip
    adapter = Adapter(tokens="xy", ids=(0, 1), answers=(False, True), at="last")
    found = prove((row, module), lambda tokens: True, adapter=adapter, up_to=4)
    other = prove((row, module), lambda tokens: False, adapter=adapter, up_to=4)
    assert found.verdict == "different" or other.verdict == "different"
