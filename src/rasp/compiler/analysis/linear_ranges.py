"""A weighted sum in, every number that it can be out, as far as embedding and length decide."""

from __future__ import annotations

from fractions import Fraction

from rasp.compiler.analysis.linear import Linear, index_values, token_values
from rasp.compiler.analysis.subset_sums import MOST_PAIRS, TooMany, in_size_order, sums_of_pairs
from rasp.compiler.analysis.variables import HeadOutput
from rasp.compiler.settings import Settings


def embedding_range(linear: Linear, settings: Settings) -> list[Fraction]:
    """What the token and the index add up to; a BOS is at index 0 and only there."""
    tokens = token_values(linear, settings)
    indices = index_values(linear, settings)
    if settings.bos is not None:
        reach = {*sums_of_pairs(set(tokens[:-1]), set(indices[1:])), indices[0]}
    else:
        reach = set(sums_of_pairs(set(tokens), set(indices)))
    return in_size_order(linear.constant + number for number in reach)


def range_with_length(linear: Linear, output: HeadOutput, settings: Settings) -> list[Fraction]:
    """The same with a multiple of the length, which the index is always below."""
    if settings.max_length**2 > 2 * MOST_PAIRS:
        raise TooMany(settings.max_length**2 // 2)
    scaled = [linear.constant + linear.parts[output] * length
              for length in range(settings.max_length + 1)]  # fmt: skip
    reach = {
        index + scaled[length]
        for place, index in enumerate(index_values(linear, settings))
        for length in range(place + 1, settings.max_length + 1)
    }
    return sums_of_pairs(set(token_values(linear, settings)), reach)
