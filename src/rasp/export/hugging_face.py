"""A compiled transformer in, a stock Hugging Face folder out: GPT-2 (causal) or BERT.

Nothing is patched: the folder holds an ordinary configuration and ordinary weights, and
`from_pretrained` loads it. LayerNorm is there and changes nothing (see `blocks`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rasp.compiler.build import compile_nodes
from rasp.compiler.emitting.weights import Array
from rasp.compiler.model.certificate import proved
from rasp.compiler.model.tensors import to_safetensors
from rasp.compiler.model.transformer import Transformer
from rasp.errors import RaspUnsupportedError
from rasp.export.blocks import EPSILON, GAIN, Block, Blocks, blocks_of
from rasp.export.card import labels
from rasp.export.check import Checked, Run, check
from rasp.export.next_token import end_id, in_vocabulary
from rasp.export.tokenizer import write_tokenizer
from rasp.graph import Program
from rasp.graph.portable import graph_from_json

Files = tuple[dict[str, Any], dict[str, Array]]
"""The configuration, and the weights by name."""
ROUNDING = 2.0**-21
"""The noise that stands for LayerNorms, times the root of the number of dimensions, of the stream's
root mean square."""
PROVED = "their rounding is within the noise that is proved to change no answer"
TESTED = "their rounding was tested on these inputs; nothing is proved of it"


def write_gpt2(model: Transformer, folder: Path) -> Checked:
    """Write a `GPT2LMHeadModel`, load it again, and compare it with the program."""
    from transformers import GenerationConfig, GPT2LMHeadModel

    if not model.settings.causal:
        raise RaspUnsupportedError(
            "GPT-2 is causal, but this model was compiled to see the whole input",
            hint="compile with `causal=True` (`--causal`), or export to hf-bert",
        )
    certified, statement = bearing_layer_norms(model)
    blocks = blocks_of(certified, balanced=True, constant=True, square=True)
    _save(*gpt2_files(certified, blocks), folder)
    if model.settings.next_token:
        last = end_id(certified)
        GenerationConfig(
            eos_token_id=last, pad_token_id=last, do_sample=False,
            max_length=len(blocks.positions) + 1,  # the last token is not read any more
        ).save_pretrained(folder)  # fmt: skip
    write_tokenizer(certified, folder)
    loaded = _load(GPT2LMHeadModel, folder)
    checked = check(certified, run_hugging_face(loaded, blocks), "hf-gpt2")
    return replace(checked, layer_norms=statement)


def gpt2_files(model: Transformer, blocks: Blocks) -> Files:
    """A `GPT2LMHeadModel` as its folder holds it."""
    last, speaks = end_id(model), model.settings.next_token
    logits = max(last + 1, len(blocks.unembedding))
    config = {
        "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"],
        "vocab_size": logits, "n_positions": len(blocks.positions), "n_embd": blocks.size,
        "n_layer": len(blocks.blocks), "n_head": blocks.heads, "n_inner": blocks.hidden,
        "activation_function": "relu", "layer_norm_epsilon": EPSILON, "resid_pdrop": 0.0,
        "embd_pdrop": 0.0, "attn_pdrop": 0.0, "tie_word_embeddings": False, "use_cache": speaks,
        "bos_token_id": None, "eos_token_id": last if speaks else None, "pad_token_id": last,
    }  # fmt: skip
    state = {
        "transformer.wte.weight": _padded(blocks.tokens, logits),
        "transformer.wpe.weight": blocks.positions,
        "lm_head.weight": _padded(blocks.unembedding, logits),
    } | _norm("transformer.ln_f", blocks.size)
    for number, block in enumerate(blocks.blocks):
        state |= _gpt2_block(f"transformer.h.{number}", block, blocks.size)
    return config, state


def _gpt2_block(name: str, block: Block, size: int) -> dict[str, Array]:
    """GPT-2 keeps its matrices the other way round."""
    joined = {
        f"{name}.attn.c_attn.weight": np.concatenate([block.query, block.key, block.value]).T,
        f"{name}.attn.c_attn.bias": np.concatenate(
            [block.query_bias, block.key_bias, block.value_bias]
        ),
        f"{name}.attn.c_proj.weight": block.out.T,
        f"{name}.mlp.c_fc.weight": block.inside.T,
        f"{name}.mlp.c_fc.bias": block.inside_bias,
        f"{name}.mlp.c_proj.weight": block.outside.T,
    }
    zeros = {f"{name}.{part}.c_proj.bias": block.out[:, 0] * 0 for part in ("attn", "mlp")}
    return joined | zeros | _norm(f"{name}.ln_1", size) | _norm(f"{name}.ln_2", size)


def write_bert(model: Transformer, folder: Path) -> Checked:
    """Write a `BertForTokenClassification`, load it again, and compare it with the program."""
    from transformers import BertForTokenClassification

    if model.settings.causal:
        raise RaspUnsupportedError(
            "BERT sees the whole input, but this model was compiled to be causal",
            hint="compile with `causal=False` (no `--causal`), or export to hf-gpt2",
        )
    certified, statement = bearing_layer_norms(model)
    blocks = blocks_of(certified, balanced=True, square=True)
    _save(*bert_files(certified, blocks), folder)
    write_tokenizer(certified, folder)
    loaded = _load(BertForTokenClassification, folder)
    checked = check(certified, run_hugging_face(loaded, blocks), "hf-bert")
    return replace(checked, layer_norms=statement)


def bert_files(model: Transformer, blocks: Blocks) -> Files:
    """A `BertForTokenClassification` as its folder holds it."""
    padding, names = end_id(model), labels(model)
    config = {
        "model_type": "bert", "architectures": ["BertForTokenClassification"],
        "vocab_size": padding + 1, "max_position_embeddings": len(blocks.positions),
        "hidden_size": blocks.size, "num_hidden_layers": len(blocks.blocks),
        "num_attention_heads": blocks.heads, "intermediate_size": blocks.hidden,
        "hidden_act": "relu", "layer_norm_eps": EPSILON, "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0, "type_vocab_size": 1, "pad_token_id": padding,
        "id2label": {str(place): name for place, name in enumerate(names)},
        "label2id": {name: place for place, name in enumerate(names)},
    }  # fmt: skip
    state = {
        "bert.embeddings.word_embeddings.weight": _padded(blocks.tokens, padding + 1),
        "bert.embeddings.position_embeddings.weight": blocks.positions,
        "bert.embeddings.token_type_embeddings.weight": blocks.tokens[:1] * 0,
        "classifier.weight": blocks.unembedding,
        "classifier.bias": blocks.unembedding_bias,
    } | _norm("bert.embeddings.LayerNorm", blocks.size)
    for number, block in enumerate(blocks.blocks):
        state |= _bert_block(f"bert.encoder.layer.{number}", block, blocks.size)
    return config, state


def _bert_block(name: str, block: Block, size: int) -> dict[str, Array]:
    state: dict[str, Array] = {}
    for part in ("query", "key", "value"):
        state[f"{name}.attention.self.{part}.weight"] = getattr(block, part)
        state[f"{name}.attention.self.{part}.bias"] = getattr(block, f"{part}_bias")
    zeros = block.out[:, 0] * 0
    state |= {
        f"{name}.attention.output.dense.weight": block.out,
        f"{name}.attention.output.dense.bias": zeros,
        f"{name}.intermediate.dense.weight": block.inside,
        f"{name}.intermediate.dense.bias": block.inside_bias,
        f"{name}.output.dense.weight": block.outside,
        f"{name}.output.dense.bias": zeros,
    }
    norms = (f"{name}.attention.output.LayerNorm", f"{name}.output.LayerNorm")
    return state | _norm(norms[0], size) | _norm(norms[1], size)


def bearing_layer_norms(model: Transformer) -> tuple[Transformer, str]:
    """The same program with weights that bear what LayerNorms do, and how that is known.

    The robust style is certified for noise, so that a program of the compact style is compiled
    again. A LayerNorm rounds each number once (see `blocks`), by 2^-24 of the largest at most:
    2^-24 times the root of the number of dimensions, in units of their root mean square. Up to 3
    roundings come together between two places where there is noise; one more addition in every
    reading, and a bias that is read from a rounded 1, cost no more than one each. That makes 5,
    and the checker is asked for 8.
    """
    outputs, names = graph_from_json(model.graph)
    if model.settings.style == "compact":
        settings = replace(model.settings, style="robust", extra_feed_forwards=0)
        try:
            model = in_vocabulary(compile_nodes(outputs, settings, Program.named(names, outputs)))
        except RaspUnsupportedError:
            return model, TESTED
    if not proved(model, outputs, noise=ROUNDING * model.d_model**0.5).holds:
        return model, TESTED
    return model, PROVED


def _norm(name: str, size: int) -> dict[str, Array]:
    """A LayerNorm that undoes what its huge epsilon does."""
    return {f"{name}.weight": np.full(size, GAIN), f"{name}.bias": np.zeros(size)}


def _padded(rows: Array, count: int) -> Array:
    return np.pad(rows, ((0, count - len(rows)), (0, 0)))


def _save(config: dict[str, Any], state: dict[str, Array], folder: Path) -> None:
    text = json.dumps(config, ensure_ascii=False, indent=1)
    (folder / "config.json").write_text(text, encoding="utf-8")
    (folder / "model.safetensors").write_bytes(to_safetensors(state))


def _load(kind: Any, folder: Path) -> Any:
    """The stock call, with its progress bars off; every weight must have found its place."""
    with _without_progress_bars():
        loaded, told = kind.from_pretrained(folder, output_loading_info=True)
    amiss = [*told["missing_keys"], *told["unexpected_keys"], *told["mismatched_keys"]]
    assert not amiss, amiss
    return loaded.eval()


@contextmanager
def _without_progress_bars() -> Iterator[None]:
    """Keep the library's progress bars off the terminal."""
    from transformers.utils import logging

    was_on = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_on:
            logging.enable_progress_bar()


def run_hugging_face(loaded: Any, blocks: Blocks) -> Run:
    """A Hugging Face model as a function of arrays."""

    def run(ids: Array) -> Array:
        with torch.no_grad():
            found = loaded(torch.tensor(ids, dtype=torch.long)).logits
        logits: Array = found[..., : len(blocks.unembedding)].numpy()
        return logits

    return run
