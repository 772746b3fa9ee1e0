"""Every claim matters: with one of them changed, a model is refused, or it is still true."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from models import KINDS, mistakes, model_of, verdict
from rasp.base.errors import RaspError
from rasp.language.graph import Const, Elementwise, Indices, Select, SelectorNot, Tokens
from rasp.models.certificate.claims import (
    ClaimedOutput,
    ClaimedSum,
    Claims,
    HeadOutputClaim,
    SumPart,
)
from rasp.models.compiler.model.forms import from_data, to_data


@pytest.mark.parametrize("name", KINDS)
def test_claims_survive_json(name: str) -> None:
    model, outputs = model_of(name)
    data = json.loads(json.dumps(to_data(model.claims)))
    claims = from_data(Claims, data)
    assert claims == model.claims
    assert verdict(model, outputs, claims=claims).holds


def leaves(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to every number, text and list of claims."""
    if path and path[0] in ("graph", "readers"):
        return
    if isinstance(data, dict):
        for key, part in data.items():
            yield from leaves(part, (*path, key))
    elif isinstance(data, list):
        if path:
            yield path
        for place, part in enumerate(data):
            yield from leaves(part, (*path, place))
    elif path:
        yield path


def perturbed(data: Any, path: tuple[Any, ...], chooser: random.Random) -> Any:
    """The same claims with one part of them changed: dropped, doubled, another number or word."""
    found = deepcopy(data)
    inner = found
    for key in path[:-1]:
        inner = inner[key]
    old = inner[path[-1]]
    if isinstance(old, list):
        inner[path[-1]] = chooser.choice([old[1:], old[:-1], old + old[:1], old[::-1]])
    elif isinstance(old, bool):
        inner[path[-1]] = not old
    elif isinstance(old, int):
        inner[path[-1]] = chooser.choice([old + 1, max(0, old - 1), 0, 1])
    elif isinstance(old, str):
        inner[path[-1]] = chooser.choice(["0", "1", "2", "-1", "mean", "sum", "out", "ratio"])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_changed_claims_are_refused_or_still_true(name: str) -> None:
    """The arrays are right, so whatever is still accepted is a true statement about the outputs;
    what is tried here is that nothing crashes, and that most changes are noticed.
    """
    model, outputs = model_of(name)
    data = to_data(model.claims)
    chooser = random.Random(name)
    paths = list(leaves(data))
    refused = 0
    for path in chooser.sample(paths, min(60, len(paths))):
        try:
            claims = from_data(Claims, perturbed(data, path, chooser))
        except RaspError:
            refused += 1
            continue
        refused += not verdict(model, outputs, claims=claims).holds
    assert refused > 5


def broken_model() -> tuple[Any, dict[str, Any]]:
    """A model whose program is another one: no claims can make it true."""
    model, _ = model_of("sum")
    node = Elementwise("+", (Const(1), Const(1)))
    return model, {"out": node}


def test_no_claims_about_a_wrong_model_hold() -> None:
    model, outputs = broken_model()
    data = to_data(model.claims)
    chooser = random.Random(1)
    assert not verdict(model, outputs).holds
    for path in chooser.sample(list(leaves(data)), 60):
        try:
            claims = from_data(Claims, perturbed(data, path, chooser))
        except RaspError:
            continue
        assert not verdict(model, outputs, claims=claims).holds


def test_claims_cannot_hide_a_wrong_array() -> None:
    """Arrays that are wrong, with claims changed at random: whatever passes is right."""
    name = "default"
    model, outputs = model_of(name)
    arrays = model.weights.arrays()
    arrays = arrays | {"layer1.head1.out": arrays["layer1.head1.out"] * 2}
    data = to_data(model.claims)
    chooser = random.Random(2)
    for path in chooser.sample(list(leaves(data)), 60):
        try:
            claims = from_data(Claims, perturbed(data, path, chooser))
        except RaspError:
            continue
        assert not verdict(model, outputs, arrays, claims).holds


# -- claims that a liar would make ------------------------------------------------------------


def head(model: Any, **changes: Any) -> Any:
    claims = model.claims
    return replace(claims, heads=((replace(claims.heads[0][0], **changes),), *claims.heads[1:]))


def test_that_something_is_always_picked_is_not_believed() -> None:
    model, outputs = model_of("default")
    found = verdict(model, outputs, claims=head(model, never_empty=True))
    assert "may pick nothing" in found.reason


def test_another_selector_is_not_believed() -> None:
    model, outputs = model_of("default")
    (conjunct,) = model.claims.heads[0][0].conjuncts
    for selector in (SelectorNot(conjunct.selector), Select(Tokens(), Tokens(), "==")):
        conjuncts = (replace(conjunct, selector=selector),)
        assert not verdict(model, outputs, claims=head(model, conjuncts=conjuncts)).holds


def test_another_value_is_not_believed() -> None:
    model, outputs = model_of("sum")
    changed = tuple(HeadOutputClaim(Indices()) for _ in model.claims.heads[0][0].outputs)
    assert not verdict(model, outputs, claims=head(model, outputs=changed)).holds


def test_a_condition_left_out_is_missed() -> None:
    model, outputs = model_of("default")
    assert not verdict(model, outputs, claims=head(model, conjuncts=())).holds


def test_a_mean_is_no_lone_pick() -> None:
    model, outputs = model_of("mean")
    claims = model.claims
    assert not verdict(model, outputs, claims=replace(claims, outputs=((0,),))).holds
    assert not verdict(model, outputs, claims=replace(claims, outputs=((),))).holds


def test_a_variable_that_is_its_own_part_makes_no_sense() -> None:
    model, outputs = model_of("two layers of counts")
    variables = list(model.claims.variables)
    place = next(i for i, each in enumerate(variables) if isinstance(each, ClaimedSum))
    variables[place] = ClaimedSum(
        variables[place].constant, {SumPart(place): variables[place].constant + 1}
    )  # type: ignore[union-attr]
    found = verdict(model, outputs, claims=replace(model.claims, variables=tuple(variables)))
    assert not found.holds


@pytest.mark.parametrize(
    "part", [SumPart(0), SumPart(1), SumPart(2, 0), SumPart(99), SumPart(0, -1)]
)
def test_a_sum_is_of_tokens_indices_and_outputs_that_there_are(part: SumPart) -> None:
    model, outputs = model_of("two layers of counts")
    assert isinstance(model.claims.variables[2], ClaimedOutput)
    variables = (*model.claims.variables, ClaimedSum(Fraction(0), {part: Fraction(1)}))
    found = verdict(model, outputs, claims=replace(model.claims, variables=variables))
    assert found.reason == "a weighted sum is of something that there is not"


def test_an_output_has_one_variable() -> None:
    model, outputs = model_of("sum")
    variables = (*model.claims.variables, ClaimedOutput(1, 0, 0))
    found = verdict(model, outputs, claims=replace(model.claims, variables=variables))
    assert "several" in found.reason


def test_all_models_here_are_right() -> None:
    assert not [name for name in KINDS if mistakes(name, model_of(name)[0])]
