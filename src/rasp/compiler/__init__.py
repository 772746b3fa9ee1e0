"""GRAPH -> WEIGHTS: exact, small transformers with a certificate.

settings → values (with heads: which aggregates are sums) → plan (selectors, attention,
features, ridges, from the last layer to the first) → layout → weights → certificate.
"""

from rasp.compiler.build import compile
from rasp.compiler.certificate import Certificate
from rasp.compiler.store import load, save, verify
from rasp.compiler.transformer import Transformer

__all__ = ["Certificate", "Transformer", "compile", "load", "save", "verify"]
