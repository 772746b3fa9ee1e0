"""Every model of a test bed is the same model in each library that loads it, whatever its dials."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import rasp  # noqa: E402
from rasp.models.export import lens_module, torch_module  # noqa: E402
from rasp.models.testbed import folder, superposition  # noqa: E402
from rasp.models.testbed.dials import Dials  # noqa: E402

SETTINGS = {
    "plain": Dials(),
    "everything": Dials(heads=2, units=3, layers=2, rotation=True, noise=1e-5, seed=3),
    "superposition": Dials(superposition=0.3, rotation=True),
}
ROOM = 1e-4
"""How far apart logits of two libraries may be, relative to the largest: orders of adding."""
HIST = "hist = selector_width(select(tokens, tokens, ==){});"

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # the libraries' own


@pytest.fixture(scope="module", params=[(name, causal) for name in SETTINGS
                                        for causal in (False, True)], ids=str)  # fmt: skip
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    name, causal = request.param
    torch.set_num_threads(1)
    before = " and select(indices, indices, <=)" if causal else ""
    program = rasp.run(HIST.format(before))["hist"]
    model = rasp.compile(program, vocabulary="abc", max_length=5, causal=causal, style="robust")
    place: Path = tmp_path_factory.mktemp("testbed") / "hist"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(superposition, "INPUTS", 100)
        patch.setattr(folder, "superposed", partial(superposition.superposed, steps=20))
        folder.write(folder.make("hist", model, SETTINGS[name]), place)
    return place


def inputs() -> Any:
    """Ids of three inputs of five tokens, with the sink first."""
    return torch.tensor([[3, 0, 1, 2, 0, 0], [3, 2, 2, 2, 2, 2], [3, 1, 0, 2, 1, 0]])


def assert_same(logits: Any, written: Path) -> None:
    """The logits of all tokens; those of the sink are nobody's."""
    expected = torch_module.load(written)(inputs())[:, 1:].detach()
    found = logits[:, 1:].detach()
    assert found.shape == expected.shape
    assert float((found - expected).abs().max()) <= ROOM * float(expected.abs().max())
    assert torch.equal(found.argmax(-1), expected.argmax(-1))


def test_torch_gives_the_logits_of_the_numpy_model(written: Path) -> None:
    if (written / "trained.safetensors").exists():
        pytest.skip("a trained model is not what `certified/` holds")
    certified = rasp.models.compiler.load(written / "certified")
    answers = certified.answers(inputs()[:, 1:].numpy())["hist"]
    found = torch_module.load(written)(inputs())[:, 1:].argmax(-1)
    atoms = certified.readouts[0].atoms
    assert [[atoms[place] for place in row] for row in found.tolist()] == answers


def test_a_stock_hugging_face_model_has_the_same_logits(written: Path) -> None:
    pytest.importorskip("transformers")
    from transformers import AutoModelForCausalLM, AutoModelForTokenClassification, AutoTokenizer

    place = written / "hugging-face"
    causal = "gpt2" in (place / "config.json").read_text()
    kind = AutoModelForCausalLM if causal else AutoModelForTokenClassification
    loaded, told = kind.from_pretrained(place, output_loading_info=True)
    assert not any(told[name] for name in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    logits = loaded.eval()(inputs()).logits
    assert_same(logits[..., : torch_module.load(written)(inputs()).shape[-1]], written)
    assert AutoTokenizer.from_pretrained(place)("abcaa").input_ids == inputs()[0].tolist()


def test_the_installed_transformer_lens_has_the_same_logits(written: Path) -> None:
    pytest.importorskip("transformer_lens", reason="TransformerLens is not installed")
    loaded = lens_module.load(written / "transformer-lens")
    assert_same(loaded(inputs(), return_type="logits"), written)
    _, kept = loaded.run_with_cache(inputs())
    assert "blocks.0.hook_mlp_out" in kept


class AsTransformerLensHadIt:
    """What `HookedTransformer` of TransformerLens 3.9 computes, without LayerNorm."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config

    def load_state_dict(self, state: dict[str, Any], strict: bool) -> Any:
        self.state = state
        return type("Told", (), {"missing_keys": ["blocks.0.attn.mask"], "unexpected_keys": []})

    def eval(self) -> AsTransformerLensHadIt:
        return self

    def __call__(self, ids: Any) -> Any:
        state, count = self.state, ids.shape[1]
        stream = state["embed.W_E"][ids] + state["pos_embed.W_pos"][:count]
        for layer in range(self.config["n_layers"]):
            part = {name.removeprefix(f"blocks.{layer}."): array for name, array in state.items()}
            query, key, value = (
                torch.einsum("bpm,hmd->bphd", stream, part[f"attn.W_{role}"])
                + part[f"attn.b_{role}"]
                for role in "QKV"
            )
            scores = torch.einsum("bqhd,bkhd->bhqk", query, key) / self.config["d_head"] ** 0.5
            if self.config["attention_dir"] == "causal":
                scores = scores.masked_fill(torch.ones(count, count).triu(1) > 0, float("-inf"))
            mixed = torch.einsum("bhqk,bkhd->bqhd", scores.softmax(-1), value)
            stream = stream + torch.einsum("bqhd,hdm->bqm", mixed, part["attn.W_O"])
            hidden = torch.relu(stream @ part["mlp.W_in"] + part["mlp.b_in"])
            stream = stream + part["attn.b_O"] + hidden @ part["mlp.W_out"] + part["mlp.b_out"]
        return stream @ state["unembed.W_U"] + state["unembed.b_U"]


def test_the_weights_of_a_hooked_transformer_are_in_their_places(written: Path) -> None:
    config, state = lens_module.read(written / "transformer-lens")
    loaded = lens_module.hooked(AsTransformerLensHadIt, config, state)
    assert_same(loaded(inputs()), written)
