"""A weighted sum of tokens, indices and outputs in; every number that it can be, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING

from rasp.certificate.claims import HeadClaim, OutputVariable, Refused
from rasp.certificate.linear import Linear, index_table, token_table
from rasp.certificate.outputs import is_length, numbers_of_shares, sums_of
from rasp.certificate.reach import means, pair_sums
from rasp.graph import Const, Elementwise, SelectorAnd, SelectorOr, SOp

if TYPE_CHECKING:
    from rasp.certificate.values import Values


def numbers_of_sum(values: Values, linear: Linear) -> list[Fraction]:
    """Everything a weighted sum can be.

    The token and the index are free of each other, but for a BOS, which is at index 0 and
    only there (and is written as that). An index is below the length. Outputs of one head
    are sums over the same keys.
    """
    linear, length = _with_one_length(values, linear)
    tokens, indices = token_table(linear, values.inputs), index_table(linear, values.inputs)
    if length is not None:
        weight, most = linear.parts["out", length], values.inputs.max_length
        below = {index + weight * count for place, index in enumerate(indices)
                 for count in range(place + 1, most + 1)}  # fmt: skip
        reach = pair_sums(tokens, below)
    elif values.inputs.bos is not None:
        reach = [tokens[-1] + indices[0], *pair_sums(tokens[:-1], indices[1:])]
    else:
        reach = pair_sums(tokens, indices)
    by_head: dict[object, dict[int, Fraction]] = {}
    for (kind, variable), weight in linear.parts.items():
        if kind == "out" and variable != length:
            by_head.setdefault(_family(values, variable), {})[variable] = weight
    for outputs in by_head.values():
        reach = pair_sums(reach, _numbers_of_outputs(values, outputs))
    return sorted({linear.constant + number for number in reach})


def _with_one_length(values: Values, linear: Linear) -> tuple[Linear, int | None]:
    """Outputs that are the length are one: the weights of all of them are that of the first."""
    lengths = [part for part in linear.parts if part[0] == "out" and is_length(values, part[1])]
    weight = sum((linear.parts[part] for part in lengths), Fraction(0))
    parts = {part: known for part, known in linear.parts.items() if part not in lengths}
    if not weight:
        return Linear(linear.constant, parts), None
    return Linear(linear.constant, {**parts, lengths[0]: weight}), lengths[0][1]


def _family(values: Values, variable: int) -> frozenset[tuple[int, int]]:
    """The heads with which an output's head shares out keys; all that give shares are one."""
    known, head = values.claims.variables[variable], values.head(variable)
    assert isinstance(known, OutputVariable)
    if head.mode == "share":
        return frozenset({(known.layer, -1)})
    return frozenset({(known.layer, known.head), *head.family})


def _numbers_of_outputs(values: Values, weights: Mapping[int, Fraction]) -> list[Fraction]:
    """A weighted sum of sums over the same keys is the sum of their weighted values."""
    heads = list({id(head): head for head in map(values.head, weights)}.values())
    modes = {head.mode for head in heads}
    if modes == {"share"} and len(weights) == 2 and set(weights.values()) == {1}:
        return sorted(numbers_of_shares(values, list(weights)))
    is_plain = all(values.output(variable).is_plain for variable in weights)
    together = modes == {"sum"} or (modes == {"mean"} and len(heads) == 1)
    if len(weights) > 1 and is_plain and together:
        mixed = [_mixture(values, weights, head) for head in heads]
        try:
            atoms = [Fraction(atom) for node in mixed for atom in values.picks.atoms(node, None)]
        except Refused:
            pass
        else:
            if modes == {"mean"}:
                defaults = [weight * values.output(v).base for v, weight in weights.items()]
                empty = [] if heads[0].never_empty else [sum(defaults, Fraction(0))]
                return sorted({*means(atoms, values.inputs.max_length), *empty})
            _check_family(values, heads)
            return sums_of(values, mixed, int(_some_is_picked(values, heads)))
    reach = [Fraction(0)]  # whatever each of them is
    for variable, weight in weights.items():
        reach = pair_sums(reach, [weight * number for number in values.numbers(variable)])
    return reach


def _check_family(values: Values, heads: Sequence[HeadClaim]) -> None:
    """Heads that share out keys: no key is picked by two of them."""
    for place, one in enumerate(heads):
        for other in heads[place + 1 :]:
            if not values.picks.are_disjoint(one.selectors, other.selectors):
                raise Refused("heads that share out keys may pick one twice")


def _some_is_picked(values: Values, heads: Sequence[HeadClaim]) -> bool:
    """Whether every query picks some key in one of the heads."""
    if len(heads) == 1 or not all(head.conjuncts for head in heads):
        return heads[0].never_empty
    wholes = [reduce(SelectorAnd, head.selectors) for head in heads]
    return values.picks.never_empty([reduce(SelectorOr, wholes)])


def _mixture(values: Values, weights: Mapping[int, Fraction], head: HeadClaim) -> SOp:
    terms = [(values.output(variable).values, weight) for variable, weight in weights.items()
             if values.head(variable) is head]  # fmt: skip
    return mixture(terms)


def mixture(terms: Sequence[tuple[SOp, Fraction]]) -> SOp:
    """A weighted sum of s-ops as an s-op."""
    scaled = [node if weight == 1 else Elementwise("*", (node, Const(weight)))
              for node, weight in terms]  # fmt: skip
    return reduce(lambda one, other: Elementwise("+", (one, other)), scaled)
