"""Arrays that do not do what the plan says are noticed, and a head adds what dimensions hold."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import rasp
from rasp.language.graph import Program
from rasp.models.compiler.analysis.linear import Linear
from rasp.models.compiler.compact import build
from rasp.models.compiler.emitting.emitter import Emitter
from rasp.models.compiler.planning.plan import make_plan
from rasp.models.compiler.settings import read_settings


@pytest.mark.parametrize(
    "text",
    [
        "out = length;",
        "out = aggregate(select(tokens, tokens, <), indices);",
        "out = selector_width(select(tokens, tokens, <));",
        "out = aggregate(select(tokens, tokens, ==), indices) + length;",
    ],
)
def test_a_sink_that_is_out_of_place_is_noticed(text: str) -> None:
    nodes = {"out": rasp.run(text)["out"].node}
    plan = make_plan(
        nodes, read_settings("abc", 5, None, False, True, "paper", "compact"), Program()
    )
    assert build(plan, Program())[1].exact
    for place, head in enumerate(plan.heads[0]):
        higher = replace(head, sink=head.sink + Linear(Fraction(10**6)))
        heads = [*plan.heads[0][:place], higher, *plan.heads[0][place + 1 :]]
        assert not build(replace(plan, heads=[heads, *plan.heads[1:]]), Program())[1].exact


def test_products_that_are_not_those_of_the_comparisons_are_noticed() -> None:
    text = "out = aggregate(select(tokens, tokens, >) and select(indices, indices, <), indices);"
    program = rasp.run(text)["out"]
    settings = read_settings("abc", 4, None, False, True, "paper", "compact")
    plan = make_plan({"out": program.node}, settings, Program())
    ((head,),) = plan.heads
    noticed = 0
    for place, (query, key) in enumerate(head.products):
        changed = list(head.products)
        changed[place] = (query.plus(1000), key)
        other = replace(plan, heads=[[replace(head, products=changed)]])
        model, certificate = build(other, Program())
        noticed += bool(certificate.refused)
        for tokens in product("abc", repeat=4):
            assert certificate.refused or model(tokens) == program(tokens)
    assert noticed >= len(head.products) - 1


THIRDS = """s = select(indices, indices - 1, ==);
x = aggregate(s, tokens); y = aggregate(s, indices); z = aggregate(s, tokens^2 % 7);
a = (x + y + tokens^3 % 5) % 3; b = (x - 2 * y + tokens^2 % 3) % 3;
c = (x + K * z + tokens * (tokens + 1) % 11) % 3; d = (K * y + K * z + 2^tokens % 13) % 3;"""


@pytest.mark.parametrize("factor", [1, 1000])
def test_what_a_head_adds_is_what_its_dimensions_hold(factor: int) -> None:
    """Here a dimension takes a third of what the head moves: no small binary fraction."""
    names = rasp.run(THIRDS.replace("K", str(factor)))
    nodes = {name: names[name].node for name in "abcd"}
    plan = make_plan(
        nodes, read_settings(list(range(6)), 4, None, False, True, "paper", "compact"), Program()
    )
    emitter = Emitter(plan)
    ((head,),) = plan.heads
    outputs = head.head.outputs
    moved = np.array([[float(each.get(output, 0)) for output in outputs] for each in head.basis])
    added = emitter.head(head).out @ moved
    wanted = np.array([emitter.column(output) for output in outputs]).T
    assert np.allclose(added, wanted, rtol=1e-12, atol=1e-9)
