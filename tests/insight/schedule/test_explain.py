"""Explanations name what forces the size, in the user's words, and suggest only what is true."""

from __future__ import annotations

from itertools import pairwise

import pytest

import rasp
from rasp.insight.schedule import Explanation, explain, schedule
from rasp.insight.schedule.reasons import deepest_chain
from rasp.insight.schedule.sublayer_order import Order, earliest_layers, earliest_times
from rasp.language.evaluator.plain import evaluate
from rasp.language.graph import Aggregate, Elementwise, Indices, Select, Tokens, in_order
from strategies.graphs import random_outputs

from .paper_programs import PAPER_PROGRAMS


def explained(task: str) -> Explanation:
    program = PAPER_PROGRAMS[task]
    return explain(rasp.run(program.text, "paper.rasp")[program.name])


def of(text: str, name: str) -> Explanation:
    return explain(rasp.run(text, "mine.rasp")[name])


def test_the_chain_has_one_attention_in_every_layer_each_needing_the_one_before():
    for seed in range(100):
        outputs = random_outputs(seed, 50)
        layers = earliest_layers(outputs)
        depth = max(layers.values())
        chain = deepest_chain(outputs, earliest_times(outputs, Order.layered(depth)))
        assert [layers[each] for each in chain] == list(range(1, depth + 1))
        for before, after in pairwise(chain):
            assert before in in_order([after])


def test_the_depth_is_explained_with_names_words_and_lines():
    assert explained("Dyck-2, pure").why_so_deep == (
        "4 attentions in a row, each of which needs the one before it:",
        "1  `n_opens`         num_prevs(opens)                        paper.rasp:7",
        "2  `depth_index`     selector_width(earlier_same_depth)      paper.rasp:14",
        '3  `matched_opener`  aggregate(open_for_close, tokens, "-")  paper.rasp:18',
        "4  `had_problem`     num_prevs(mismatch or depth < 0)        paper.rasp:21",
    )


def test_the_width_is_explained_with_the_layer_and_its_selectors():
    assert explained("double hist").why_so_wide == (
        "layer 1 has 2 selectors that no other layer can take:",
        "same_tok or select(indices, 0, ==)        `hist`   paper.rasp:3",
        "same_tok and select(indices, indices, <)  `first`  paper.rasp:4",
    )
    assert explained("reverse").why_so_wide == ()


def test_a_width_that_several_layers_force_together_names_them():
    text = "a = aggregate(select(indices, 1, ==), indices);\n"
    text += "".join(f"b{n} = aggregate(select(indices, {n}, ==), tokens_int);\n" for n in "234")
    text += "c = aggregate(select(indices, a, ==), tokens_int) + b2 + b3 + b4;"
    explanation = of(text, "c")
    assert explanation.schedule.width == 3
    assert explanation.schedule.layers == 2
    assert "layers 1 to 2 must share the heads of these selectors:" in explanation.why_so_wide[0]


def test_every_name_of_the_program_s_own_heads_is_in_the_table():
    text = str(explained("most freq"))
    for name in ("freq", "is_repr", "keys", "values", "most_freq", "a step of most_freq"):
        assert name in text
    assert text.startswith("most_freq: 3 layers, heads per layer: 2 1 1\n")


def test_work_before_the_first_attention_is_never_hidden():
    text = 'odd = tokens if indices % 2 == 0 else "-";\n'
    text += "x = aggregate(select(odd, odd, ==), indices);"
    explanation = of(text, "x")
    assert [explanation.naming.label(node) for node in explanation.schedule.input_feed_forward] == [
        "odd"
    ]
    (note,) = explanation.notes
    assert note == (
        "before the first attention, a feed-forward must compute `odd` from tokens and indices "
        "together; a plain stack has none there and would need 2 layers"
    )
    assert str(explanation).splitlines()[3].split() == ["0", "feed-forward", "odd"]


def test_an_s_op_without_attention_needs_no_layer():
    explanation = of("x = indices * 2;", "x")
    assert str(explanation) == "x: no layers: elementwise work on the embedding"


def test_a_missing_bos_is_pointed_out_with_what_it_saves():
    (suggestion,) = explained("hist without BOS").suggestions
    assert "assume_bos=True" in suggestion.advice
    assert "`hist`" in suggestion.advice
    assert suggestion.schedule.heads_per_layer == (1,)
    (suggestion,) = explained("Dyck-2, pure").suggestions
    assert suggestion.schedule.heads_per_layer == (1, 1, 1, 1)


def test_with_a_bos_the_suggested_histogram_is_right():
    (suggestion,) = explained("hist without BOS").suggestions
    original = explained("hist without BOS").naming.outputs
    tokens = tuple("§hello")
    before = evaluate(original, tokens)[original[0]]
    after = evaluate(suggestion.outputs, tokens)[suggestion.outputs[0]]
    assert before[1:] == after[1:] == [1, 1, 2, 2, 1]


def test_length_for_the_last_position_is_pointed_out():
    (suggestion,) = explained("Shuffle-Dyck-2 as printed").suggestions
    assert "select_best(select_all, score(indices, 1))" in suggestion.advice
    assert suggestion.schedule.heads_per_layer == PAPER_PROGRAMS["Shuffle-Dyck-2"].heads
    (suggestion,) = of("last = tokens[-1];", "last").suggestions
    assert suggestion.schedule.heads_per_layer == (1,)


def test_length_for_another_position_is_left_alone():
    assert of("x = tokens[-2];", "x").suggestions == ()
    assert explained("reverse").suggestions == ()


def test_selectors_that_pick_the_same_are_pointed_out():
    text = """
    p = select(indices, indices - 1, ==);
    q = select((indices + 1) * (indices + 1), indices * indices, ==);
    x = aggregate(p, tokens, "-") + aggregate(q, tokens, "+");
    y = aggregate(p, tokens, "-") + aggregate(select(indices, indices - 2, ==), tokens, "+");
    """
    (suggestion,) = of(text, "x").suggestions
    assert suggestion.advice.startswith("`p` and `q` picked the same on")
    assert suggestion.schedule.heads_per_layer == (1,)
    assert of(text, "y").suggestions == ()


def test_a_mean_before_and_a_mean_up_to_here_can_share_a_head():
    text = """
    a = aggregate(select(indices, indices, <), indices % 3, 7);
    b = aggregate(select(indices, indices, <=), indices);
    x = a + b;
    """
    (suggestion,) = of(text, "x").suggestions
    assert suggestion.schedule.heads_per_layer == (1,)
    x = of(text, "x").naming.outputs[0]
    for length in range(1, 9):
        tokens = ("a",) * length
        changed = evaluate(suggestion.outputs, tokens)[suggestion.outputs[0]]
        assert changed == evaluate([x], tokens)[x]


@pytest.mark.slow
def test_nothing_is_suggested_that_saves_nothing():
    for seed in range(15):
        outputs = random_outputs(seed, 30)
        explanation = explain(outputs)
        found = explanation.schedule
        for suggestion in explanation.suggestions:
            better = schedule(suggestion.outputs)
            assert (better.layers, better.width, better.heads) < (
                found.layers,
                found.width,
                found.heads,
            )


def test_more_layers_are_offered_where_they_save_width():
    assert "more layers could be narrower: 5 of 1 head" in explained("Dyck-2, pure").notes


def test_a_schedule_that_moved_heads_tells_the_paper_s_counts():
    moved = next(
        explanation
        for explanation in (explain(random_outputs(seed, 40)) for seed in range(50))
        if explanation.schedule.heads_per_layer != explanation.paper.heads_per_layer
    )
    early = " ".join(map(str, moved.paper.heads_per_layer))
    assert f"with everything as early as it can be, heads per layer: {early}" in str(moved)


def test_nodes_built_without_names_are_explained_by_what_they_compute():
    found = Aggregate(Select(Tokens(), Tokens(), "=="), Indices())
    text = str(explain(Elementwise("+", (found, Indices()))))
    assert "select(tokens, tokens, ==)" in text
    assert "aggregate(select(tokens, tokens, ==), indices)" in text


def test_a_deep_schedule_is_told_in_few_lines():
    node = Tokens()
    for _ in range(300):
        node = Aggregate(Select(node, node, "=="), Indices())
    explanation = explain(node)
    assert len(str(explanation).splitlines()) < 80
    assert "(260 more layers)" in str(explanation)
    assert "(288 more)" in "\n".join(explanation.why_so_deep)


@pytest.mark.parametrize("task", PAPER_PROGRAMS)
def test_every_explanation_of_the_paper_s_programs_fits_a_terminal(task: str):
    for line in str(explained(task)).splitlines():
        assert len(line) <= 200
