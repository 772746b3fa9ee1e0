"""Every way to score a condition, against its selection: a new one is tested by the same test."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from rasp.insight.schedule.schedule import schedule
from rasp.language.evaluator.plain import evaluate
from rasp.language.graph import Aggregate, Const, Elementwise, Indices, Program, Select, SOp
from rasp.models.compiler.analysis.linear import Linear, index_is
from rasp.models.compiler.analysis.task import Deadlines
from rasp.models.compiler.analysis.variables import PlannedHead
from rasp.models.compiler.compile_refusals import Refusals
from rasp.models.compiler.heads.analyse import analyse
from rasp.models.compiler.planning.features import Features
from rasp.models.compiler.planning.scores import make_conjunct
from rasp.models.compiler.settings import read_settings

LENGTH = 6
STRENGTH = 96


def shifted(multiplier: int, modulus: int, shift: int) -> SOp:
    """(indices * multiplier) % modulus + shift"""
    scaled = Elementwise("*", (Indices(), Const(multiplier)))
    return Elementwise("+", (Elementwise("%", (scaled, Const(modulus))), Const(shift)))


sides = st.just(Indices()) | st.builds(
    shifted, st.integers(1, 4), st.integers(2, 7), st.integers(-2, 2)
)


def at(linear: Linear, index: int) -> Fraction:
    """A function of the index alone, at an index."""
    assert linear.parts.keys() <= {index_is(place) for place in range(LENGTH)}
    return linear.constant + linear.parts.get(index_is(index), 0)


@settings(deadline=None, max_examples=150)
@given(sides, sides, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), st.booleans())
def test_every_match_scores_its_reference_and_every_other_key_less(
    keys: SOp, queries: SOp, op: str, uniform: bool
) -> None:
    selector = Select(keys, queries, op)
    node = Aggregate(selector, Indices())
    options = read_settings("ab", LENGTH, None, False, True, "paper", "compact")
    deadlines = Deadlines(schedule([node]))
    analysis = analyse([node], options, Refusals(Program(), [node]), deadlines)
    formula, _ = analysis.selectors.formula(node)
    if isinstance(formula, bool):
        return
    head = PlannedHead(1, "mean", formula, None, may_be_empty=True, needs_uniform=uniform)
    conjunct = make_conjunct(Features(analysis.values, 1), formula, head, STRENGTH, uniform)
    selection = evaluate([selector], "a" * LENGTH)[selector]
    for query in range(LENGTH):
        for key in range(LENGTH):
            score = sum(at(asked, query) * at(sent, key) for asked, sent in conjunct.products)
            above = score - at(conjunct.reference, query)
            assert above <= conjunct.spread and at(conjunct.reference, query) >= conjunct.lowest
            assert above >= 0 if selection[query][key] else above <= -STRENGTH
            assert not uniform or not selection[query][key] or above == 0
