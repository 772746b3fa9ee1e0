"""A MODEL AND A PROGRAM -> ARE THEY THE SAME? Proved up to a length, or a shortest difference.

The files in the order data flows: `network_table` says what a model is made of, `architecture_rows`
which array is which part; `model_files` (with `stock_models`, `tokenizers` and `trained_models`)
reads a model with its `adapter`; `specification` is the program; a `proof_task` is all of these and
the inputs. A forward pass walks the network over an arithmetic: `single_precision` is float32, as
models run; `enclosures` are balls that hold the real numbers, made of the `digits` of float64,
`double_double` or mpmath, with `radii` and `activations`; `prefixes` shares what inputs have in
common. `margins` says what logits decide, `search` goes through all inputs, and `comparison` is
what came of it. `proof_files` keeps that, and `proof_pictures` (with `margin_chart`) draws it.
"""

from rasp.models.proving.adapter import Adapter
from rasp.models.proving.architecture_rows import Architecture
from rasp.models.proving.comparison import ModelComparison, ModelDifference
from rasp.models.proving.search import prove

__all__ = ["Adapter", "Architecture", "ModelComparison", "ModelDifference", "prove"]
