"""A model with its dials turned in, the files that other libraries load out.

The same weights are written three times: for a plain torch module (in the folder itself), for
TransformerLens, and as a stock Hugging Face model. Nothing is compiled again, as an export of a
certified model to Hugging Face is: these are the weights that the dials made, and a LayerNorm
leaves an error in their last bits.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from rasp.models.certificate import Array
from rasp.models.compiler.model.transformer import Transformer
from rasp.models.export import hugging_face, lens_target, torch_target
from rasp.models.export.standard_stack import blocks_of
from rasp.models.export.tokenizer import tokenizer_files

LENS, HUGGING_FACE = "transformer-lens", "hugging-face"
WEIGHTS = "weights.safetensors"
CODE = Path(torch_target.__file__).parent
MODULES = {"model.py": CODE / "torch_module.py", f"{LENS}/model.py": CODE / "lens_module.py"}
"""The modules that are copied beside the weights."""

Documents = dict[str, Any]
Arrays = dict[str, dict[str, Array]]


def exported(model: Transformer) -> tuple[Documents, Arrays]:
    """Every JSON file and every file of weights, by its place in the folder."""
    blocks, lens = blocks_of(model), blocks_of(model, constant=True)
    stock = hugging_face.gpt2_files if model.settings.causal else hugging_face.bert_files
    plain_config, plain = torch_target.files_of(model, blocks)
    lens_config, lens_state = lens_target.files_of(model, lens)
    config, state = stock(model, hugging_face.stock_blocks(model))
    documents: Documents = {
        "config.json": plain_config,
        f"{LENS}/config.json": lens_config,
        f"{HUGGING_FACE}/config.json": config,
    }
    for name, data in tokenizer_files(model).items():
        documents[f"{HUGGING_FACE}/{name}"] = data
    return documents, {
        WEIGHTS: plain,
        f"{LENS}/{WEIGHTS}": lens_state,
        f"{HUGGING_FACE}/model.safetensors": state,
    }


def copy_modules(place: Path) -> None:
    """Put the code that loads the weights beside them."""
    for name, module in MODULES.items():
        shutil.copy(module, place / name)
