"""The plan of a picture against the plain evaluator and the schedule."""

from collections import Counter

import pytest

import rasp
from picks import why
from rasp.base.errors import RaspError, RaspLimitError, RaspTypeError
from rasp.base.limits import Limits
from rasp.insight.drawing import as_dict, draw, draw_selector, plan_flow, plan_selection
from rasp.insight.schedule.schedule import schedule
from rasp.language.evaluator.plain import evaluate
from rasp.language.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Program,
    Select,
    SelectorAnd,
    Tokens,
    in_order,
)
from strategies import for_each
from strategies.graphs import named_program

from .flow_heads import heads_of

SEEDS = range(60)


@for_each(SEEDS)
def test_every_aggregate_is_drawn_once_with_its_selection_values_and_result(seed: int) -> None:
    outputs, program, given = named_program(seed)
    plan = plan_flow(outputs, given, program)
    values = evaluate(in_order(outputs), tuple(given))
    wanted = Counter(
        (
            tuple(map(tuple, values[node.selector])),
            tuple(values[node.values]),
            tuple(values[node]),
        )
        for node in in_order(outputs)
        if isinstance(node, Aggregate)
    )
    drawn = Counter(
        (head.picks, plan.strips[one.values].values, plan.strips[one.result].values)
        for head in heads_of(plan).values()
        for one in head.aggregates
    )
    assert drawn == wanted


@for_each(SEEDS)
def test_each_layer_has_the_heads_of_the_schedule(seed: int) -> None:
    outputs, program, given = named_program(seed)
    plan = plan_flow(outputs, given, program)
    counts = tuple(len(layer.heads) for layer in plan.layers)
    assert counts == schedule(outputs).heads_per_layer


@for_each(SEEDS)
def test_every_strip_is_made_in_one_place_and_after_what_it_needs(seed: int) -> None:
    outputs, program, given = named_program(seed)
    plan = plan_flow(outputs, given, program)
    made = [*plan.embedding, *plan.input_feed_forward]
    for layer in plan.layers:
        made += [one.result for head in layer.heads for one in head.aggregates]
        made += layer.feed_forward
    constants = [strip.id for strip in plan.strips.values() if strip.is_constant]
    assert sorted([*made, *constants]) == sorted(plan.strips)
    order = {name: at for at, name in enumerate([*constants, *made])}
    for strip in plan.strips.values():
        assert all(order[needed] < order[strip.id] for needed in strip.needs)


@for_each(SEEDS)
def test_what_feeds_an_output_reaches_back_to_all_of_the_input_it_needs(seed: int) -> None:
    outputs, program, given = named_program(seed)
    plan = plan_flow(outputs, given, program)
    for output, name in zip(outputs, plan.outputs, strict=True):
        reached = [name]
        for each in reached:
            reached += [one for one in plan.strips[each].needs if one not in reached]
        labels = {plan.strips[each].label for each in reached}
        needed = set(in_order([output]))
        assert (Tokens() in needed) == ("tokens" in labels)
        assert (Indices() in needed) == ("indices" in labels)


@for_each(SEEDS)
def test_the_reasons_of_a_conjunction_hold_exactly_where_it_picks(seed: int) -> None:
    outputs, _, given = named_program(seed)
    values = [node for node in in_order(outputs) if not isinstance(node, Aggregate)]
    keys = values[seed % len(values)]
    if not isinstance(keys, (Tokens, Indices, Const, Elementwise)):
        keys = Tokens()
    both = SelectorAnd(Select(keys, Tokens(), "<="), Select(Indices(), Indices(), "<"))
    plan = plan_selection(both, given)
    selection = evaluate([both], tuple(given))[both]
    for query, row in enumerate(selection):
        for key, picked in enumerate(row):
            lines = why(plan.strips, plan.head, query, key)
            assert all("✗" not in line for line in lines) == picked
            assert lines[-1].startswith("picked") == picked


def test_the_reason_of_select_best_names_the_score_that_won() -> None:
    names = rasp.run("best = select_best(select(1, 1, ==), score(tokens_int, 1));")
    plan = draw(names["best"], "173").plan
    assert any("the best has 7" in line for line in why(plan.strips, plan.head, 0, 2))
    assert any(line.endswith("the best") for line in why(plan.strips, plan.head, 0, 1))


def test_names_are_used_and_the_rest_is_folded() -> None:
    names = rasp.run("same = select(tokens, tokens, ==); hist = selector_width(same);")
    plan = draw(names["hist"], "hello").plan
    labels = {strip.label for strip in plan.strips.values()}
    assert {"tokens", "hist"} <= labels
    hist = next(strip for strip in plan.strips.values() if strip.label == "hist")
    assert hist.expression == "round(1 / r1) - 1 + r2"
    assert not any(label.startswith("round") for label in labels)


def test_a_name_of_the_program_is_never_taken_for_an_unnamed_aggregate() -> None:
    names = rasp.run("r1 = aggregate(select(indices, 0, ==), tokens); x = r1 == tokens; y = x == "
                     "(aggregate(select(indices, 1, ==), tokens, \"-\") == tokens);")  # fmt: skip
    labels = [strip.label for strip in draw(names["y"], "ab").plan.strips.values()]
    assert labels.count("r1") == 1
    assert "r2" in labels


def test_where_nothing_is_picked_the_default_is_marked() -> None:
    names = rasp.run('prev = aggregate(select(indices, indices - 1, ==), tokens, "-");')
    plan = draw(names["prev"], "abc").plan
    assert plan.strips[plan.outputs[0]].defaulted == (0,)


def test_a_program_without_attention_is_drawn_too() -> None:
    plan = draw(rasp.run("up = tokens + tokens;")["up"], "ab").plan
    assert plan.layers == ()
    assert plan.strips[plan.outputs[0]].values == ("aa", "bb")


def test_work_on_tokens_and_indices_together_is_shown_before_the_first_layer() -> None:
    text = 'pair = indices if tokens == "a" else 0; out = aggregate(select(pair, 1, ==), indices);'
    plan = draw(rasp.run(text)["out"], "aab").plan
    assert [plan.strips[name].label for name in plan.input_feed_forward] == ["pair"]


def test_a_plan_is_plain_json() -> None:
    import json

    outputs, program, given = named_program(3)
    plan = plan_flow(outputs, given, program)
    assert json.loads(json.dumps(as_dict(plan))) == as_dict(plan)


def test_an_s_op_that_fails_gives_the_error_of_the_evaluator() -> None:
    bad = rasp.run("bad = 1 / (indices - 1);")["bad"]
    with pytest.raises(RaspError) as by_picture:
        draw(bad, "abc")
    with pytest.raises(RaspError) as by_value:
        bad("abc")
    assert str(by_picture.value) == str(by_value.value)


def test_an_input_too_long_to_draw_is_refused_with_a_way_out() -> None:
    with pytest.raises(RaspLimitError, match="201 tokens is too long") as error:
        draw(Tokens(), "a" * 201)
    assert "shorter" in (error.value.hint or "")


def test_the_budget_of_cells_is_respected() -> None:
    same = Select(Tokens(), Tokens(), "==")
    with pytest.raises(RaspLimitError, match="over the limit of 99 cells"):
        draw_selector(same, "a" * 10, limits=Limits(dense_cells=99))
    assert draw_selector(same, "a" * 10, limits=Limits(dense_cells=100))


def test_what_has_no_selection_is_refused() -> None:
    with pytest.raises(RaspTypeError, match="no selection"):
        draw_selector(Tokens(), "ab")
    with pytest.raises(RaspTypeError, match="no s-op or selector"):
        draw("hist", "ab")  # type: ignore[arg-type]
    with pytest.raises(RaspTypeError, match="no s-op or selector"):
        draw([], "ab")


def test_the_selection_of_an_aggregate_is_that_of_its_selector() -> None:
    same = Select(Tokens(), Tokens(), "==")
    found = Aggregate(same, Indices())
    program = Program.named({same: "same"})
    of_aggregate = draw_selector(found, "aba", program).plan
    assert of_aggregate.head.picks == draw(same, "aba", program).plan.head.picks
    assert of_aggregate.head.label == "same"
