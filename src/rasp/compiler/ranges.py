"""A weighted sum in, every number that it can be out, as far as the embedding decides."""

from __future__ import annotations

from fractions import Fraction

from rasp.compiler.linear import Linear, index_values, token_values
from rasp.compiler.settings import Settings
from rasp.compiler.variables import HeadOutput


def embedding_range(linear: Linear, settings: Settings) -> list[Fraction]:
    """What the token and the index add up to; a BOS stands at index 0 and only there."""
    tokens = token_values(linear, settings)
    indices = index_values(linear, settings)
    if settings.bos is not None:
        reach = {token + index for token in tokens[:-1] for index in indices[1:]} | {indices[0]}
    else:
        reach = {token + index for token in set(tokens) for index in set(indices)}
    return sorted(linear.constant + each for each in reach)


def range_with_length(linear: Linear, output: HeadOutput, settings: Settings) -> list[Fraction]:
    """The same with a multiple of the length, which the index is always below."""
    weight = linear.parts["out", output]
    tokens = set(token_values(linear, settings))
    indices = index_values(linear, settings)
    reach = {
        linear.constant + token + index + weight * length
        for place, index in enumerate(indices)
        for length in range(place + 1, settings.max_length + 1)
        for token in tokens
    }
    return sorted(reach)
