"""Claims in; everything that the checker believes of them, or finds by them, that is not so, out.

`untrue` takes claims that hold as far as `certificate/program` is asked, and compares every table,
space, weighted sum and fact about selectors with what is the case (`truth`) on every input on which
the program has a value. No weights are looked at.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from truth import Truth, Unknown, fits

from models import all_inputs
from rasp.base.atoms import Atom
from rasp.language.evaluator.plain import EvaluationError, evaluate
from rasp.language.graph import Aggregate, Node, SelectBest, Selector, SOp, expression, in_order
from rasp.models.certificate.check import NONSENSE, _check_meanings
from rasp.models.certificate.claims import Claims, HeadClaim, Inputs, Refused
from rasp.models.certificate.program.aggregates import is_width
from rasp.models.certificate.program.tables import same
from rasp.models.certificate.program.total import has_always_a_value
from rasp.models.certificate.program.values import ProvedValues

Belief = Any
"""What is believed, in words, and whether it is so on an input."""


def untrue(
    claims: Claims, inputs: Inputs, outputs: dict[str, Node], chooser: random.Random, most: int = 30
) -> Iterator[str]:
    """Everything that the checker believes of claims, or finds by them, and that is not so."""
    nodes = list(outputs.values())
    try:
        values = ProvedValues(claims, inputs, nodes)
        _check_meanings(values, nodes)
        believed = list(_believed(values, nodes, chooser))
        total = has_always_a_value(values, nodes)
    except (Refused, *NONSENSE):
        return
    yield "accepted"
    every = _inputs(inputs)
    for tokens in chooser.sample(every, min(most, len(every))):
        try:
            evaluate([*nodes, *([inputs.where] if inputs.where else [])], tokens)
        except EvaluationError:
            if total and _keeps(inputs, tokens):
                yield f"{tokens} has no value, and every input is said to have one"
            continue
        if not _keeps(inputs, tokens):
            continue
        truth = Truth(values, tokens)
        for what, holds in believed:
            try:
                fine = holds(truth)
            except Unknown:
                continue
            except (Refused, *NONSENSE) as error:
                fine = False
                what = f"{what} ({type(error).__name__} {error})"
            if not fine:
                yield f"on {tokens}: {what}"
                return


def _inputs(inputs: Inputs) -> list[tuple[Atom, ...]]:
    class Model:
        settings = inputs

    return all_inputs(Model)  # type: ignore[arg-type]


def _keeps(inputs: Inputs, tokens: tuple[Atom, ...]) -> bool:
    if inputs.where is None:
        return True
    try:
        return all(atom is True for atom in evaluate([inputs.where], tokens)[inputs.where])
    except EvaluationError:
        return False


def _believed(values: ProvedValues, nodes: list[Node], chooser: random.Random) -> Any:
    claims = values.claims
    known = list(dict.fromkeys([*in_order(nodes), *claims.over]))
    sops = [node for node in known if isinstance(node, SOp)]
    selectors = [node for node in known if isinstance(node, Selector)
                 and not isinstance(node, SelectBest)]  # fmt: skip
    heads = [head for layer in (*claims.heads, claims.spare) for head in layer]
    selectors += [selector for head in heads for selector in head.selectors]
    for node in sops:
        yield from _tried(lambda node=node: _table(values, node))
        yield from _tried(lambda node=node: _line(values, node))
        yield from _tried(lambda node=node: _injective(values, node))
        for mean in sops:
            if isinstance(mean, Aggregate):
                yield from _tried(lambda node=node, mean=mean: _width(values, node, mean))
    count = len(claims.variables)
    spaces = [*claims.outputs, *claims.over.values()]
    spaces += [group.inputs for layer in claims.groups for group in layer]
    spaces += [
        each for head in heads for cond in head.conjuncts for each in (cond.keys, cond.queries)
    ]
    spaces += [tuple(chooser.sample(range(count), min(count, chooser.randint(1, 4))))
               for _ in range(6)]  # fmt: skip
    for variables in dict.fromkeys(spaces):
        yield from _tried(lambda variables=variables: _space(values, variables))
        for node in chooser.sample(sops, min(len(sops), 3)):
            yield from _tried(
                lambda node=node, variables=variables: _column(
                    values, node, values.space(variables)
                )
            )
    for head in heads:
        yield from _tried(lambda head=head: _facts(values, head))
    for one in selectors:
        other = chooser.choice(selectors)
        yield from _tried(lambda one=one, other=other: _pairs(values, one, other))


def _tried(make: Any) -> list[Any]:
    try:
        return list(make())
    except (Refused, *NONSENSE):
        return []


def _table(values: ProvedValues, node: SOp) -> Any:
    space, column = values.table(node)
    yield from _of_column(values, node, space, column)


def _column(values: ProvedValues, node: SOp, space: Any) -> Any:
    yield from _of_column(values, node, space, values.column(node, space))


def _of_column(values: ProvedValues, node: SOp, space: Any, column: Any) -> Any:
    grid = space.grid

    def holds(truth: Truth) -> bool:
        for at in range(truth.size):
            fine = np.ones(space.size, bool)
            for row, variable in zip(grid, space.variables, strict=True):
                fine &= np.isin(row, [*truth.state(variable, at), -1])
            atom = truth.of(node)[at]
            found = [column.atoms[place] for place in column.places[fine].tolist()]
            if not any(fits(atom, one, column.kinds) for one in found):
                return False
            if len(space.variables) == len({*space.variables}) and not all(
                one is None or same(one, atom) for one in found
            ):
                return False
        return True

    yield f"{expression(node)} over {space.variables}", holds


def _space(values: ProvedValues, variables: tuple[int, ...]) -> Any:
    space = values.space(variables)

    def holds(truth: Truth) -> bool:
        for at in range(truth.size):
            fine = np.ones(space.size, bool)
            for row, variable in zip(space.grid, space.variables, strict=True):
                fine &= np.isin(row, truth.state(variable, at))
            if not fine.any():
                return False
        return True

    yield f"space {variables}", holds


def _line(values: ProvedValues, node: SOp) -> Any:
    linear = values.linear(node)
    if linear is None:
        return

    def holds(truth: Truth) -> bool:
        for at in range(truth.size):
            number = linear.constant + sum(
                (weight * truth.part(part, at) for part, weight in linear.parts.items()),
                Fraction(0),
            )
            atom = truth.of(node)[at]
            if isinstance(atom, str) or atom != number:
                return False
        return True

    yield f"{expression(node)} is {linear}", holds


def _injective(values: ProvedValues, node: SOp) -> Any:
    if values.picks.is_injective(node):
        yield f"{node} is injective", lambda truth: len({*truth.of(node)}) == truth.size


def _width(values: ProvedValues, node: SOp, mean: Aggregate) -> Any:
    if not isinstance(mean.selector, SelectBest) and is_width(values, node, mean):
        yield (
            "a width",
            lambda truth: truth.of(node) == [sum(row) for row in truth.of(mean.selector)],
        )


def _facts(values: ProvedValues, head: HeadClaim) -> Any:
    picks = values.picks
    if picks.never_empty(head.selectors) or head.never_empty:
        yield "never empty", lambda truth: all(truth.picked(head, at) for at in range(truth.size))
    if picks.picks_one(head):
        yield (
            "picks one",
            lambda truth: all(len(truth.picked(head, at)) < 2 for at in range(truth.size)),
        )
    for output in head.outputs:
        if picks.picks_one_value(head, output):
            yield (
                "picks one value",
                lambda truth, output=output: all(
                    len({truth.of(output.values)[key] for key in truth.picked(head, at)}) < 2
                    for at in range(truth.size)
                ),
            )


def _pairs(values: ProvedValues, one: Selector, other: Selector) -> Any:
    picks = values.picks
    if picks.are_equal([one], [other]):
        yield "equal selectors", lambda truth: truth.of(one) == truth.of(other)
    if picks.are_disjoint([one], [other]):
        yield (
            "disjoint selectors",
            lambda truth: (
                not any(
                    a and b
                    for rows in zip(truth.of(one), truth.of(other), strict=True)
                    for a, b in zip(*rows, strict=True)
                )
            ),
        )
    if picks.is_causal([one]):
        yield "causal", lambda truth: not np.triu(truth.of(one), 1).any()
    never = picks.never_picks([one])
    yield (
        "never picks",
        lambda truth: not any(any(truth.of(one)[at]) for at in range(truth.size) if never[at]),
    )
