"""`export`: a compiled model and the name of a library in, a folder that the library loads out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from rasp.base.errors import RaspValueError
from rasp.base.installing import missing
from rasp.base.spelling import did_you_mean
from rasp.models.compiler import Transformer, load, verify
from rasp.models.export.card import write_card
from rasp.models.export.folders import writing
from rasp.models.export.foreign_check import Checked
from rasp.models.export.next_token_head import in_vocabulary

if TYPE_CHECKING:
    from rasp.models.export.torch_module import RaspTransformer

Write = Callable[[Transformer, Path], Checked]


@dataclass(frozen=True)
class Target:
    """Where an export is made, the packages it needs, the extra that brings them, and its use."""

    home: str
    write: str
    needs: tuple[str, ...]
    extra: str
    title: str
    load: str
    """Python that loads what is in `folder` without rasp, and calls it `logits_of`: a function of
    an array of token ids (batch, position) that returns logits (batch, position, logit)."""


def _with_torch(load: str, logits: str = "model(torch.tensor(ids))") -> str:
    """The same for a torch module that `load` names `model`."""
    return f"""\
import torch
{load}
def logits_of(ids):
    with torch.no_grad():
        return {logits}.numpy()"""


def _with_transformers(kind: str) -> str:
    load = f"from transformers import {kind}\nmodel = {kind}.from_pretrained(folder)"
    return _with_torch(load, "model(torch.tensor(ids)).logits")


MODULE = """\
import runpy
model = runpy.run_path(f"{folder}/model.py")["load"](folder)"""
"""Loads by the `model.py` that is copied beside the weights."""

TARGETS = {
    "torch": Target(
        "torch_target", "write", ("torch",), "models",
        "a plain torch module: model.py, config.json, weights.safetensors", _with_torch(MODULE),
    ),
    "hf-gpt2": Target(
        "hugging_face", "write_gpt2", ("torch", "transformers"), "transformers",
        "a stock GPT2LMHeadModel, for models compiled with causal=True",
        _with_transformers("GPT2LMHeadModel"),
    ),
    "hf-bert": Target(
        "hugging_face", "write_bert", ("torch", "transformers"), "transformers",
        "a stock BertForTokenClassification, for models that see the whole input",
        _with_transformers("BertForTokenClassification"),
    ),
    "transformer-lens": Target(
        "lens_target", "write", ("torch", "transformer_lens"), "transformer-lens",
        "a TransformerBridge: model.py, config.json, weights.safetensors", _with_torch(MODULE),
    ),
    "onnx": Target(
        "onnx_target", "write", ("onnx", "onnxruntime"), "onnx",
        "model.onnx, for onnxruntime", """\
import onnxruntime
session = onnxruntime.InferenceSession(f"{folder}/model.onnx")
def logits_of(ids):
    return session.run(None, {"ids": ids})[0]""",
    ),
}  # fmt: skip
"""What `rasp export --to` can write. What numpy alone can load needs no packages and no extra."""


def export(model: Transformer | str | Path, to: str, folder: str | Path) -> int:
    """Write a compiled model for another library, and check what that library makes of it.

    `model` is a model, or the folder of one, which is verified first. Returns on how many inputs
    the loaded export was compared with the program; an export that answers one of them differently
    is an error, and then nothing is written.

    >>> import rasp, tempfile
    >>> hist = rasp.run("hist = selector_width(select(tokens, tokens, ==));")["hist"]
    >>> model = rasp.compile(hist, vocabulary="abc", max_length=8)
    >>> compared = export(model, "torch", tempfile.mkdtemp() + "/hist")
    >>> compared > 50
    True
    """
    return write_export(model, to, folder).inputs


def write_export(model: Transformer | str | Path, to: str, folder: str | Path) -> Checked:
    """Write and check an export; say how it was checked."""
    target = find_target(to)
    _require(target.needs, target.extra, f"exporting to {to}")
    transformer = in_vocabulary(model if isinstance(model, Transformer) else _verified(model))
    write: Write = getattr(import_module(f"rasp.models.export.{target.home}"), target.write)
    with writing(Path(folder)) as place:
        checked = write(transformer, place)
        write_card(checked, {"target": to, "load": target.load.splitlines()}, place)
    return checked


def find_target(name: str) -> Target:
    """The target of a name; an unknown name offers the closest."""
    if name not in TARGETS:
        hint = did_you_mean(name, TARGETS, f"choose one of {', '.join(TARGETS)}")
        raise RaspValueError(f"there is no export to `{name}`", hint=hint)
    return TARGETS[name]


def to_torch(model: Transformer) -> RaspTransformer:
    """Make a torch module of a compiled model, in memory.

    The module takes token ids (batch, position), as `input_ids` gives them, and returns logits,
    which `decoded` reads.

    >>> import rasp, torch
    >>> hist = rasp.run("hist = selector_width(select(tokens, tokens, ==));")["hist"]
    >>> model = rasp.compile(hist, vocabulary="abc", max_length=8)
    >>> from rasp.models.export import decoded, input_ids
    >>> module = to_torch(model)
    >>> ids = torch.tensor(input_ids(model, "abca"))
    >>> decoded(model, module(ids[None])[0].detach().numpy())
    {'hist': [2, 1, 1, 2]}
    """
    _require(("torch",), "models", "a torch module")
    from rasp.models.export.torch_target import to_torch

    return to_torch(model)


def _verified(folder: str | Path) -> Transformer:
    """Load a model whose files are what its certificate says."""
    certificate = verify(folder)
    if certificate.trust == "none":
        raise RaspValueError(
            f"the model in `{folder}` is not exported: it is {certificate.statement}",
            hint="compile it again",
        )
    return load(folder)


def _require(packages: tuple[str, ...], extra: str, what: str) -> None:
    for package in packages:
        try:
            import_module(package)
        except ImportError:
            raise missing(package, extra, what) from None
