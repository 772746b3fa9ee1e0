"""Weighted sums of tokens, indices and what heads put out in; every number that these can be, out.

Outputs of one head, and of heads that share out the keys of one selector, are sums over the same
keys. So a weighted sum of them is a sum over these keys, too: of a mixture of what is picked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING

from rasp.language.graph import Const, Elementwise, SOp
from rasp.models.certificate.claims import INDEX, TOKEN, ClaimedOutput, HeadClaim, Refused
from rasp.models.certificate.program.outputs import (
    as_numbers,
    by_length,
    numbers_of_shares,
    sums_of,
)
from rasp.models.certificate.program.reach import means, pair_sums, sums_after
from rasp.models.certificate.program.tables import ExactSum

if TYPE_CHECKING:
    from rasp.models.certificate.program.values import ProvedValues


def numbers_of_sum(values: ProvedValues, linear: ExactSum) -> list[Fraction]:
    """Everything a weighted sum can be.

    The token and the index are free of each other, but for a BOS, which is at index 0 and
    only there (and is written as that). An index is below the length. Outputs of one head
    are sums over the same keys.
    """
    linear, per_position = _without_length(values, linear)
    tokens = linear.weights(TOKEN, len(values.inputs.vocabulary))
    indices = linear.weights(INDEX, values.inputs.max_length)
    if per_position:
        reach = pair_sums(tokens, sums_after(indices, per_position))
    elif values.inputs.bos is not None:
        reach = [tokens[-1] + indices[0], *pair_sums(tokens[:-1], indices[1:])]
    else:
        reach = pair_sums(tokens, indices)
    for outputs in _by_family(values, linear):
        reach = pair_sums(reach, _numbers_of_outputs(values, outputs))
    return sorted({linear.constant + number for number in reach})


def _without_length(values: ProvedValues, linear: ExactSum) -> tuple[ExactSum, Fraction]:
    """A sum without the outputs that are the length, and what all of these weigh together."""
    every = [*range(1, values.inputs.max_length + 1)]
    lengths = [part for part in linear.parts
               if part.is_output and by_length(values, part.variable) == every]  # fmt: skip
    weight = sum((linear.parts[part] for part in lengths), Fraction(0))
    parts = {part: factor for part, factor in linear.parts.items() if part not in lengths}
    return ExactSum(linear.constant, parts), weight


def mixtures_of_sum(values: ProvedValues, linear: ExactSum) -> list[SOp]:
    """The s-ops of which a weighted sum is known to be the sum, over the same keys."""
    linear, _ = _without_length(values, linear)
    return [node for outputs in _by_family(values, linear) for node in _mixtures(values, outputs)]


def _by_family(values: ProvedValues, linear: ExactSum) -> list[dict[int, Fraction]]:
    """The outputs in a weighted sum, those together that are sums over the same keys."""
    by_family: dict[object, dict[int, Fraction]] = {}
    for part, weight in linear.parts.items():
        if part.is_output:
            by_family.setdefault(_family(values, part.variable), {})[part.variable] = weight
    return [*by_family.values()]


def _family(values: ProvedValues, variable: int) -> frozenset[tuple[int, int]]:
    """The heads with which an output's head shares out keys; all that give shares are one."""
    claimed, head = values.claims.variables[variable], values.head(variable)
    assert isinstance(claimed, ClaimedOutput)
    if head.mode == "share":
        return frozenset({(claimed.layer, -1)})
    return frozenset({(claimed.layer, claimed.head), *head.family})


def _numbers_of_outputs(values: ProvedValues, weights: Mapping[int, Fraction]) -> list[Fraction]:
    """A weighted sum of sums over the same keys is the sum of their weighted values."""
    heads = _heads(values, weights)
    modes = {head.mode for head in heads}
    if modes == {"share"} and len(weights) == 2 and set(weights.values()) == {1}:
        return sorted(numbers_of_shares(values, list(weights)))
    mixed = _mixtures(values, weights)
    try:
        atoms = [atom for node in mixed for atom in values.picks.atoms(node, None)]
    except Refused:
        mixed = []
    if not mixed:  # whatever each of them is
        reach = [Fraction(0)]
        for variable, weight in weights.items():
            reach = pair_sums(reach, [weight * number for number in values.numbers(variable)])
        return reach
    if modes == {"mean"}:
        defaults = [weight * values.output(v).base for v, weight in weights.items()]
        empty = [] if heads[0].never_empty else [sum(defaults, Fraction(0))]
        return sorted({*means(as_numbers(atoms), values.inputs.max_length), *empty})
    _check_family(values, heads)
    return sums_of(values, mixed, int(any(head.never_empty for head in heads)))


def _heads(values: ProvedValues, variables: Iterable[int]) -> list[HeadClaim]:
    return list({id(head): head for head in map(values.head, variables)}.values())


def _mixtures(values: ProvedValues, weights: Mapping[int, Fraction]) -> list[SOp]:
    """What heads pick, weighted and added up: an s-op for each head, where outputs of one head are
    means, or sums of any heads, over the same keys.
    """
    heads = _heads(values, weights)
    modes = {head.mode for head in heads}
    is_plain = all(values.output(variable).is_plain for variable in weights)
    together = modes == {"sum"} or (modes == {"mean"} and len(heads) == 1)
    if len(weights) < 2 or not is_plain or not together:
        return []
    return [mixture([(values.output(variable).values, weight)
                     for variable, weight in weights.items() if values.head(variable) is head])
            for head in heads]  # fmt: skip


def _check_family(values: ProvedValues, heads: Sequence[HeadClaim]) -> None:
    """Heads that share out keys: no key is picked by two of them."""
    for place, one in enumerate(heads):
        for other in heads[place + 1 :]:
            if not values.picks.are_disjoint(one.selectors, other.selectors):
                raise Refused("heads that share out keys may pick one twice")


def mixture(terms: Sequence[tuple[SOp, Fraction]]) -> SOp:
    """A weighted sum of s-ops as an s-op."""
    scaled = [node if weight == 1 else Elementwise("*", (node, Const(weight)))
              for node, weight in terms]  # fmt: skip
    return reduce(lambda one, other: Elementwise("+", (one, other)), scaled)
