"""GRAPH -> WEIGHTS: exact, small transformers with a certificate.

Six chapters in the order data flows: `analysis` (what can each s-op hold), `heads` (which heads
there are), `planning` (which construction realises each head and feed-forward), `emitting`
(numbers, and claims about them), `robust` (both in the robust style), `model` (run, describe,
certify, save). `build` goes through them (`compact` in the compact style), `assemble` puts a model
together, `settings` is what the caller asks for, and `compile_refusals` are the reasons why a
program cannot be compiled.
"""

from rasp.models.compiler.build import compile
from rasp.models.compiler.model.certificate import Certificate
from rasp.models.compiler.model.store import load, save
from rasp.models.compiler.model.transformer import Transformer
from rasp.models.compiler.model.verify import verify

__all__ = ["Certificate", "Transformer", "compile", "load", "save", "verify"]
