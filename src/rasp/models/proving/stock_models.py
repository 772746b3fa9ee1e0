"""Configuration and weights of Hugging Face's GPT-2 and BERT in, a network out: two rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from rasp.base.errors import RaspUnsupportedError
from rasp.models.proving.architecture_rows import Architecture, network_of
from rasp.models.proving.digits import Array
from rasp.models.proving.network_table import Network

ACTIVATION_NAMES = {
    "relu": "relu", "tanh": "tanh", "gelu": "gelu", "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
}  # fmt: skip
FAMILIES = ("gpt2", "bert")


def stock_network(config: Mapping[str, Any], arrays: Mapping[str, Array]) -> Network:
    """Choose the row of a family."""
    family = config.get("model_type")
    if family == "gpt2":
        return _gpt2(config, _without_prefix(arrays, "transformer."))
    if family == "bert":
        return _bert(config, _without_prefix(arrays, "bert."))
    raise RaspUnsupportedError(
        f"`config.json` describes a model of the family `{family}`",
        hint=f"known are {' and '.join(FAMILIES)}; describe another with an `Architecture`",
    )


def _without_prefix(arrays: Mapping[str, Array], prefix: str) -> dict[str, Array]:
    return {name.removeprefix(prefix): array for name, array in arrays.items()}


def _activation(name: object) -> str:
    if name not in ACTIVATION_NAMES:
        raise RaspUnsupportedError(
            f"there is no enclosure for the activation `{name}`",
            hint=f"known are {', '.join(ACTIVATION_NAMES)}",
        )
    return ACTIVATION_NAMES[str(name)]


def _gpt2(config: Mapping[str, Any], arrays: dict[str, Array]) -> Network:
    """Pre-LayerNorm and causal; matrices are (in, out), and queries, keys and values are one."""
    if config.get("add_cross_attention") or not config.get("scale_attn_weights", True):
        _refuse("cross attention, or attention without a scale")
    state: dict[str, Array] = {}
    for name, array in arrays.items():
        turned = array.T if name.startswith("h.") and array.ndim == 2 else array
        if ".attn.c_attn." in name:
            parts = np.split(turned, 3) if len(turned) % 3 == 0 else [turned] * 3
            for role, part in zip(("query", "key", "value"), parts, strict=True):
                state[name.replace("c_attn", role)] = part
        else:
            state[name] = turned
    state.setdefault("lm_head.weight", state.get("wte.weight", np.zeros((0, 0))))
    head = next((name for name in ("score", "classifier") if f"{name}.weight" in state), "lm_head")
    return network_of(Architecture(
        int(config["n_layer"]), int(config["n_head"]), True, "wte", "wpe",
        query="h.{}.attn.query", key="h.{}.attn.key", value="h.{}.attn.value",
        out="h.{}.attn.c_proj", inside="h.{}.mlp.c_fc", outside="h.{}.mlp.c_proj",
        activation=_activation(config.get("activation_function", "gelu_new")), norm="pre",
        norms=("h.{}.ln_1", "h.{}.ln_2"), last_norm="ln_f",
        epsilon=float(config.get("layer_norm_epsilon", 1e-5)), readout=(head,),
        scale_by_layer=bool(config.get("scale_attn_by_inverse_layer_idx")),
    ), state)  # fmt: skip


def _bert(config: Mapping[str, Any], arrays: dict[str, Array]) -> Network:
    """Post-LayerNorm, seeing the whole input (a decoder does not)."""
    if config.get("position_embedding_type", "absolute") != "absolute":
        _refuse(f"positions of the kind `{config['position_embedding_type']}`")
    if config.get("add_cross_attention"):
        _refuse("cross attention")
    layer, activation = "encoder.layer.{}", _activation(config.get("hidden_act", "gelu"))
    row = Architecture(
        int(config["num_hidden_layers"]), int(config["num_attention_heads"]),
        bool(config.get("is_decoder")), "embeddings.word_embeddings",
        "embeddings.position_embeddings", "embeddings.token_type_embeddings",
        query=f"{layer}.attention.self.query", key=f"{layer}.attention.self.key",
        value=f"{layer}.attention.self.value", out=f"{layer}.attention.output.dense",
        inside=f"{layer}.intermediate.dense", outside=f"{layer}.output.dense",
        activation=activation, norm="post",
        norms=(f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"),
        first_norm="embeddings.LayerNorm", epsilon=float(config.get("layer_norm_eps", 1e-12)),
        readout=("classifier",),
    )  # fmt: skip
    if "cls.predictions.transform.dense.weight" in arrays:
        words = arrays.get("cls.predictions.decoder.weight")
        arrays["decoder.weight"] = arrays[f"{row.tokens}.weight"] if words is None else words
        arrays["decoder.bias"] = arrays["cls.predictions.bias"]
        front = "cls.predictions.transform"
        readout = (f"{front}.dense", activation, f"norm:{front}.LayerNorm", "decoder")
        row = replace(row, readout=readout)
    elif "pooler.dense.weight" in arrays and is_sequence_classifier(config):
        row = replace(row, readout=("pooler.dense", "tanh", "classifier"))
    return network_of(row, arrays)


def is_sequence_classifier(config: Mapping[str, Any]) -> bool:
    """Whether a model has one answer for an input."""
    names = config.get("architectures") or [""]
    return "SequenceClassification" in str(names[0])


def _refuse(what: str) -> None:
    raise RaspUnsupportedError(
        f"the model has {what}, which the table does not know", hint="train it without"
    )
