"""Numbers near 2**53, 2**62 and 2**63 are numbers like any other: nothing wraps or is lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from robust_models import verdict

import rasp
from models import Kind, compiled, expected_of, mistakes_in, outputs_of
from rasp.language.graph import Const, Elementwise, SOp, Tokens
from rasp.models.certificate import check
from rasp.models.certificate.claims import ClaimedOutput, Claims, HeadOutputClaim
from rasp.models.checker.relations import DEFAULT_BUDGET
from rasp.models.checker.theorem import facts_of
from rasp.models.compiler import Transformer

MEAN = Kind('out = aggregate(select(indices, indices, <=), indicator(tokens == "a"));', "ab", 8,
            {"style": "robust"})  # fmt: skip
NEAR = [(2**60, 2**62), (2**53, 2**53 + 1), (2**62, -(2**62)), (2**63, 2**63 - 1), (2**64, 0)]


def with_unmoved(model: Transformer, one: int, other: int) -> Claims:
    """The claims of a model with an output that no channel moves, beside the mean."""
    is_a = Elementwise("==", (Tokens(), Const("a")))
    values = Elementwise("if", (is_a, Const(one), Const(other)))
    claims = model.claims
    head = claims.heads[0][0]
    more = HeadOutputClaim(values, None, 0)
    head = replace(head, outputs=(*head.outputs, more))
    place = len(claims.variables)
    variables = (*claims.variables, ClaimedOutput(1, 0, len(head.outputs) - 1))
    groups = tuple(tuple(replace(group, inputs=(*group.inputs, place)) for group in groups)
                   for groups in claims.groups)  # fmt: skip
    return replace(claims, variables=variables, heads=((head,),), groups=groups, readers=(),
                   outputs=tuple((*names, place) for names in claims.outputs),
                   over={**claims.over, values: (0,), is_a: (0,)})  # fmt: skip


@pytest.mark.parametrize(("one", "other"), NEAR)
def test_an_output_that_nothing_moves_is_refused(one: int, other: int) -> None:
    """The eleventh attack: sums of it wrapped, so that states that occur were in no table, and the
    atoms of the read-out could be swapped there."""
    model = compiled(MEAN)
    outputs = outputs_of(model)
    claims = with_unmoved(model, one, other)
    assert "not moved by any channel" in verdict(model, outputs, claims=claims).reason
    (readout,) = model.readouts
    atoms = list(readout.atoms)
    for place in range(len(atoms) - 1):
        others = (*atoms[:place], atoms[place + 1], atoms[place], *atoms[place + 2 :])
        swapped = replace(model, claims=claims, readouts=(replace(readout, atoms=others),))
        assert not verdict(swapped, outputs).holds
        swapped = replace(swapped, claims=model.claims)
        if mistakes_in(swapped, expected_of(model, outputs)):
            assert not verdict(swapped, outputs).holds


@pytest.mark.parametrize("style", ["robust", "compact"])
def test_the_older_checker_refuses_what_follows_from_it(style: str) -> None:
    """It takes such outputs, whose numbers no longer wrap: swapped atoms are noticed."""
    model = compiled(replace(MEAN, options={"style": style}))
    arrays, settings, readouts = model.weights.arrays(), model.settings, model.readouts
    assert check(arrays, outputs_of(model), settings, readouts, model.claims).holds
    claims = with_unmoved(model, 2**60, 2**62)
    (readout,) = readouts
    atoms = list(readout.atoms)
    for place in range(len(atoms) - 1):
        others = (*atoms[:place], atoms[place + 1], atoms[place], *atoms[place + 2 :])
        swapped = (replace(readout, atoms=others),)
        assert not check(arrays, outputs_of(model), settings, swapped, claims).holds


@pytest.mark.parametrize(("one", "other"), NEAR)
def test_what_is_said_of_such_an_output_is_true(one: int, other: int) -> None:
    """The relation of both has every pair of means that an input has."""
    model = compiled(MEAN)
    claims = with_unmoved(model, one, other)
    facts = facts_of(claims, model.settings, outputs_of(model), model.readouts, DEFAULT_BUDGET)
    mean, unmoved = [name for name in range(len(claims.variables)) if facts.head_of(name)]
    space = facts.space((mean, unmoved))
    found = {(Fraction(facts.domain(mean)[a]), Fraction(facts.domain(unmoved)[b]))  # type: ignore[arg-type]
             for a, b in space.rows.tolist()}  # fmt: skip
    wanted = {tuple(Fraction(sum(numbers), len(row)) for numbers in (
              row, [[other, one][bit] for bit in row])) for row in rows(8)}  # fmt: skip
    assert wanted <= found
    assert len(found) == len(wanted)


def rows(longest: int) -> Iterator[tuple[int, ...]]:
    for length in range(1, longest + 1):
        yield from product((0, 1), repeat=length)


@pytest.mark.parametrize("number", [2**53, 2**62, 2**63, 2**64])
def test_numbers_of_a_program_may_be_large(number: int) -> None:
    """Neighbours that float64 does not tell apart are two answers."""
    text = f'out = {number} if tokens == "a" else {number + 1};'
    (out,) = [rasp.run(text)["out"]]
    model = rasp.compile(out, alphabet="ab", max_length=2, style="robust")
    assert model("ab") == [number, number + 1]
    assert verdict(model, outputs_of(model)).holds
    (readout,) = model.readouts
    other = replace(model, readouts=(replace(readout, atoms=readout.atoms[::-1]),))
    assert not verdict(other, outputs_of(model)).holds
    assert isinstance(next(iter(model.outputs.values())), SOp)
    assert np.isfinite(model.weights.tokens).all()
