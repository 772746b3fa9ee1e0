"""The arithmetic of a forward pass that is coarser than float32, and what rounding does in it.

Numbers become ones of fewer significant bits. In TF32 (11 bits) that happens to what a product
reads: weights, the stream, queries, keys, values, attention, what heads mix, hidden units. Some
machines round to the nearest and others read the first bits alone, so it may be either, each time;
but all weights are treated alike (`cuts`). In bfloat16 (8 bits, `stores`) all arrays are rounded to
the nearest, and every result: the stream after every sum, each linear map with its bias, scores,
attention, what heads mix. Inside a product and a softmax it is float32 in both.

Neither way changes the order of two numbers. So what lies between two ends lies, once rounded,
between the rounded ends: in bfloat16, a number known to be near 1 is 1 again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rasp.models.certificate.program.tables import Array

MANY_BITS = 24


@dataclass(frozen=True)
class Precision:
    """How a forward pass rounds beside float32."""

    bits: int = MANY_BITS
    stores: bool = False
    cuts: bool = False
    """Whether weights are cut off, and not rounded."""

    @property
    def is_float32(self) -> bool:
        return self.bits == MANY_BITS

    @property
    def unit(self) -> float:
        """The largest relative error of one rounding; 0 in float32, which is charged elsewhere."""
        return 0.0 if self.is_float32 else 2.0 ** -(self.bits - (not self.stores))

    @property
    def stored(self) -> float:
        """The same for results that only some precisions round."""
        return self.unit if self.stores else 0.0

    @property
    def moved(self) -> float:
        """The same for what a head puts out: read by the last product, or stored before and after
        it."""
        return self.unit * (2 if self.stores else 1)

    def rounded(self, numbers: Array) -> Array:
        """The numbers of this precision that weights become.

        >>> Precision(8).rounded(np.array([1 + 2**-9, 1 + 2**-8 + 2**-12, 0.0])).tolist()
        [1.0, 1.0078125, 0.0]
        >>> Precision(8, cuts=True).rounded(np.array([1 + 2**-8 + 2**-12])).tolist()
        [1.0]
        """
        fraction, exponent = np.frexp(numbers)
        whole = fraction * 2.0**self.bits
        whole = np.trunc(whole) if self.cuts else np.rint(whole)
        return np.asarray(np.ldexp(whole, exponent - self.bits))

    def ends(self, value: Array, off: Array | float) -> tuple[Array, Array]:
        """What numbers off by so much are once rounded: the middle, and how far off.

        Half-way between two numbers, it may be either; and what may be cut off goes towards 0.
        """
        if self.is_float32:
            return value, np.broadcast_to(off, np.shape(value))
        low, below = np.frexp(value - off)
        high, above = np.frexp(value + off)
        low, high = low * 2.0**self.bits, high * 2.0**self.bits
        least, most = np.ceil(low - 0.5), np.floor(high + 0.5)
        if not self.stores:
            least, most = np.minimum(least, np.trunc(low)), np.maximum(most, np.trunc(high))
        low, high = np.ldexp(least, below - self.bits), np.ldexp(most, above - self.bits)
        return np.asarray((low + high) / 2), np.asarray((high - low) / 2)

    def arrays(self, arrays: Mapping[str, Array]) -> dict[str, Array]:
        """A model's arrays: biases and the embedding are not factors, and only stored."""
        if self.is_float32:
            return dict(arrays)
        return {name: array if not self.stores and _is_added(name) else
                self.rounded(np.asarray(array, np.float64)) for name, array in arrays.items()
                }  # fmt: skip


def _is_added(name: str) -> bool:
    return name in ("tokens", "positions") or name.endswith("bias")


FLOAT32 = Precision()
PRECISIONS = {
    "float32": (FLOAT32,),
    "TF32": (Precision(11), Precision(11, cuts=True)),
    "bfloat16": (Precision(8, stores=True),),
}
"""What each name may mean on some machine: a model is right in all of them, or the name is not
stated."""
