"""A compiled transformer in, a stock Hugging Face folder out: GPT-2 (causal) or BERT.

Nothing is patched: the folder holds an ordinary configuration and ordinary weights, and
`from_pretrained` loads it. LayerNorm is there and changes nothing (see `blocks`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rasp.base.errors import RaspUnsupportedError
from rasp.language.graph import Program
from rasp.models.certificate import Array
from rasp.models.compiler.build import compile_nodes
from rasp.models.compiler.emitting.wiring import ROLES
from rasp.models.compiler.model.certificate import proved
from rasp.models.compiler.model.transformer import Transformer
from rasp.models.export.card import labels
from rasp.models.export.folders import Files, write_files
from rasp.models.export.foreign_check import Checked, check
from rasp.models.export.next_token_head import end_id, in_vocabulary
from rasp.models.export.standard_stack import (
    EPSILON,
    GAIN,
    EqualBlocks,
    blocks_of,
    padded,
    with_constant,
)
from rasp.models.export.tokenizer import write_tokenizer
from rasp.models.export.torch_target import run_torch

BERT_NAMES = {
    "tokens": "bert.embeddings.word_embeddings",
    "positions": "bert.embeddings.position_embeddings",
    "blocks.{}.attention.query": "bert.encoder.layer.{}.attention.self.query",
    "blocks.{}.attention.key": "bert.encoder.layer.{}.attention.self.key",
    "blocks.{}.attention.value": "bert.encoder.layer.{}.attention.self.value",
    "blocks.{}.attention.out": "bert.encoder.layer.{}.attention.output.dense",
    "blocks.{}.inside": "bert.encoder.layer.{}.intermediate.dense",
    "blocks.{}.outside": "bert.encoder.layer.{}.output.dense",
    "unembedding": "classifier",
}
GPT2_NAMES = {
    "blocks.{}.attention.out": "transformer.h.{}.attn.c_proj",
    "blocks.{}.inside": "transformer.h.{}.mlp.c_fc",
    "blocks.{}.outside": "transformer.h.{}.mlp.c_proj",
}
"""But for queries, keys and values, which are one map there."""
ONE_ROUNDING, ROUNDING = 2.0**-24, 2.0**-19
"""What one rounding changes, of the largest number; and the noise in place of LayerNorms, times the
root of the number of dimensions, of the stream's root mean square."""
SHORTEST, LONGEST = 2.0**-37, 2.0**37
"""How long the stream may be, √Σ number²: the dimension that makes the mean 0 is shorter than that
times the root of the number of dimensions, so that the variance is below 2^75 and vanishes beside
epsilon; and what 2^-50 of a number loses below 2^-126 is at most 2^-39 of the stream. (0 stays 0.)
"""
PROVED = "their rounding is within the noise that is proved to change no answer"
TESTED = "their rounding was tested on these inputs; nothing is proved of it"


def write_gpt2(model: Transformer, folder: Path) -> Checked:
    """Write a `GPT2LMHeadModel`, load it again, and compare it with the program."""
    from transformers import GPT2LMHeadModel

    if not model.settings.causal:
        raise RaspUnsupportedError(
            "GPT-2 is causal, but this model was compiled to see the whole input",
            hint="compile with `causal=True`, or export to hf-bert",
        )
    return _write(model, folder, GPT2LMHeadModel, gpt2_files, "hf-gpt2")


def write_bert(model: Transformer, folder: Path) -> Checked:
    """Write a `BertForTokenClassification`, load it again, and compare it with the program."""
    from transformers import BertForTokenClassification

    if model.settings.causal:
        raise RaspUnsupportedError(
            "BERT sees the whole input, but this model was compiled to be causal",
            hint="compile with `causal=False`, or export to hf-gpt2",
        )
    return _write(model, folder, BertForTokenClassification, bert_files, "hf-bert")


def _write(
    model: Transformer, folder: Path, kind: Any,
    files_of: Callable[[Transformer, EqualBlocks], Files], target: str,
) -> Checked:  # fmt: skip
    """Write a model and its tokenizer, load them as users do, and compare."""
    certified, statement = bearing_layer_norms(model)
    blocks = stock_blocks(certified)
    write_files(folder, files_of(certified, blocks), weights="model.safetensors")
    if certified.settings.next_token:
        _save_generation(certified, blocks, folder)
    write_tokenizer(certified, folder)
    loaded = _load(kind, folder)
    run = run_torch(lambda ids: loaded(ids).logits[..., : blocks.logits])
    checked = check(certified, run, target)
    return replace(checked, layer_norms=statement)


def stock_blocks(model: Transformer) -> EqualBlocks:
    """A model as both libraries take it; the unembedding of GPT-2 has no bias."""
    return blocks_of(model, balanced=True, constant=model.settings.causal, square=True)


def _save_generation(model: Transformer, blocks: EqualBlocks, folder: Path) -> None:
    """Let `generate` stop at the end, and take the likeliest token."""
    from transformers import GenerationConfig

    last = end_id(model)
    GenerationConfig(
        eos_token_id=last, pad_token_id=last, do_sample=False,
        max_length=blocks.positions + 1,  # the last token is not read any more
    ).save_pretrained(folder)  # fmt: skip


def gpt2_files(model: Transformer, blocks: EqualBlocks) -> Files:
    """A `GPT2LMHeadModel` as its folder holds it."""
    last, speaks = end_id(model), model.settings.next_token
    logits = max(last + 1, blocks.logits)
    config = {
        "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"],
        "vocab_size": logits, "n_positions": blocks.positions, "n_embd": blocks.size,
        "n_layer": blocks.count, "n_head": blocks.heads, "n_inner": blocks.hidden,
        "activation_function": "relu", "layer_norm_epsilon": EPSILON, "resid_pdrop": 0.0,
        "embd_pdrop": 0.0, "attn_pdrop": 0.0, "tie_word_embeddings": False, "use_cache": speaks,
        "bos_token_id": None, "eos_token_id": last if speaks else None, "pad_token_id": last,
    }  # fmt: skip
    state = {
        "transformer.wte.weight": padded(blocks["tokens.weight"], logits),
        "transformer.wpe.weight": blocks["positions.weight"],
        "lm_head.weight": padded(blocks["unembedding.weight"], logits),
    } | _norm("transformer.ln_f", blocks.size)
    for name, array in blocks.renamed(GPT2_NAMES).items():
        state[name] = array.T  # GPT-2 keeps its matrices the other way round
    for number in range(blocks.count):
        name, attention = f"transformer.h.{number}", f"blocks.{number}.attention"
        for part in ("weight", "bias"):
            maps = [blocks[f"{attention}.{role}.{part}"] for role in ROLES]
            state[f"{name}.attn.c_attn.{part}"] = np.concatenate(maps).T
        state |= _norm(f"{name}.ln_1", blocks.size) | _norm(f"{name}.ln_2", blocks.size)
    return config, state


def bert_files(model: Transformer, blocks: EqualBlocks) -> Files:
    """A `BertForTokenClassification` as its folder holds it."""
    padding, names = end_id(model), labels(model)
    config = {
        "model_type": "bert", "architectures": ["BertForTokenClassification"],
        "vocab_size": padding + 1, "max_position_embeddings": blocks.positions,
        "hidden_size": blocks.size, "num_hidden_layers": blocks.count,
        "num_attention_heads": blocks.heads, "intermediate_size": blocks.hidden,
        "hidden_act": "relu", "layer_norm_eps": EPSILON, "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0, "type_vocab_size": 1, "pad_token_id": padding,
        "id2label": {str(place): name for place, name in enumerate(names)},
        "label2id": {name: place for place, name in enumerate(names)},
    }  # fmt: skip
    norms = ["bert.embeddings.LayerNorm"]
    for number in range(blocks.count):
        layer = f"bert.encoder.layer.{number}"
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
    state = blocks.renamed(BERT_NAMES)
    words = BERT_NAMES["tokens"] + ".weight"
    state[words] = padded(state[words], padding + 1)
    state["bert.embeddings.token_type_embeddings.weight"] = np.zeros((1, blocks.size))
    for norm in norms:
        state |= _norm(norm, blocks.size)
    return config, state


def bearing_layer_norms(model: Transformer) -> tuple[Transformer, str]:
    """The same program with weights that bear what LayerNorms do, and how that is known.

    The robust style is certified for noise, so that a program of the compact style is compiled
    again. A LayerNorm rounds each number once (see `blocks`), by 2^-24 of the largest at most:
    2^-24 times the root of the number of dimensions, in units of their root mean square. Where the
    root that it divides by is off, by two units in the last place on a GPU, that is 4 roundings
    more, and one for the product. Up to 3 LayerNorms come together between two places where there
    is noise. In every reading, one more number is added: the mean, as far as rounding leaves one.
    As a sum of float32 is off by no more than the smaller of two numbers, that costs less than one
    rounding. That makes 19, and the checker is asked for 32. For GPT-2, it looks at the model whose
    biases are read from a 1.
    """
    if model.settings.style == "compact":
        settings = replace(model.settings, style="robust", extra_feed_forwards=0)
        try:
            program = Program.named(model.words.names, model.outputs)
            model = in_vocabulary(compile_nodes(model.outputs, settings, program))
        except RaspUnsupportedError:
            return model, TESTED
    stock = with_constant(model) if model.settings.causal else model
    verdict = proved(stock, noise=ROUNDING * stock.d_model**0.5)
    fine = all(not length or SHORTEST <= length <= LONGEST for length in verdict.lengths)
    return model, PROVED if verdict.holds and fine else TESTED


def _norm(name: str, size: int) -> dict[str, Array]:
    """A LayerNorm that undoes what its huge epsilon does."""
    return {f"{name}.weight": np.full(size, GAIN), f"{name}.bias": np.zeros(size)}


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
