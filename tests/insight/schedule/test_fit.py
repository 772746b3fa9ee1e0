"""Does a program fit? By layers and heads, by an order of sublayers, under a pattern."""

from __future__ import annotations

import re
from itertools import product

import pytest

import rasp
from rasp.base.errors import RaspError, RaspLimitError, RaspTypeError, RaspValueError
from rasp.insight.schedule import explain, fit, front, schedule
from rasp.insight.schedule.patterns import Pattern, under
from rasp.insight.schedule.sublayer_order import Order, earliest_times
from rasp.language.evaluator.plain import EvaluationError, evaluate
from rasp.language.graph import (
    Aggregate,
    Elementwise,
    Indices,
    Node,
    Score,
    Selector,
    SOp,
    Tokens,
    in_order,
)
from strategies.graphs import random_outputs

from .paper_programs import PAPER_PROGRAMS


def handle_of(task: str):
    program = PAPER_PROGRAMS[task]
    return rasp.run(program.text, "paper.rasp")[program.name]


NEIGHBOURS = """
before = shift(tokens, 1, "-");
after = shift(tokens, -1, "-");
both = before + tokens + after;
"""


def test_pure_dyck_2_does_not_fit_into_three_layers_and_the_reason_is_its_chain():
    found = fit(handle_of("Dyck-2, pure"), layers=3)
    assert not found
    text = str(found)
    assert text.startswith("3 layers: no\n  4 layers are needed: 4 attentions in a row")
    for name in ("n_opens", "depth_index", "matched_opener", "had_problem"):
        assert f"`{name}`" in text
    assert "paper.rasp:14" in text


@pytest.mark.parametrize("task", PAPER_PROGRAMS)
def test_a_program_fits_its_own_size_and_nothing_shallower_or_narrower(task: str):
    handle, heads = handle_of(task), PAPER_PROGRAMS[task].heads
    assert fit(handle, layers=len(heads), heads=max(heads))
    assert fit(handle, layers=len(heads) + 2)
    assert not fit(handle, layers=len(heads) - 1)
    assert not fit(handle, layers=len(heads), heads=max(heads) - 1)
    assert fit(handle, heads=1)


def test_more_layers_make_up_for_fewer_heads():
    handle = handle_of("Dyck-2, pure")
    assert not fit(handle, layers=4, heads=1)
    assert fit(handle, layers=5, heads=1)
    assert "in 5 layers: heads per layer: 1 1 1 1 1" in str(fit(handle, heads=1))


def can_be_computed(outputs: list[Node], order: str) -> bool:
    """Whether sublayers in this order reach the outputs: by carrying out each in turn."""
    nodes = in_order(outputs)
    base: set[Node] = {node for node in nodes if isinstance(node, SOp) and not node.needs}
    known = set(base)
    for other in (Tokens(), Indices()):  # the embedding: functions of one input alone
        alone = base - {other}
        for node in nodes:
            if isinstance(node, Elementwise) and alone.issuperset(node.needs):
                alone.add(node)
        known |= alone
    attended: set[Node] = set()
    for sublayer in order:
        before = set(known)
        for node in nodes:
            if sublayer == "f" and isinstance(node, Elementwise) and known.issuperset(node.needs):
                known.add(node)
            if sublayer == "s" and _can_attend(node, before):
                (known if isinstance(node, SOp) else attended).add(node)
    return all(output in known or output in attended for output in outputs)


def _can_attend(node: Node, known: set[Node]) -> bool:
    if isinstance(node, SOp) and not isinstance(node, Aggregate):
        return False
    return all(
        needed in known if isinstance(needed, SOp) else _can_attend(needed, known)
        for needed in node.needs
    )


def test_orders_agree_with_carrying_out_one_sublayer_after_another():
    orders = ["".join(letters) for size in range(1, 7) for letters in product("sf", repeat=size)]
    answers: set[bool] = set()
    for seed in range(30):
        outputs = [node for node in random_outputs(seed, 16) if not isinstance(node, Selector)]
        for text in orders[seed % 9 :: 9]:
            order = Order.read(text)
            times = earliest_times(outputs, order)
            fits = all(times[node] <= order.end for node in outputs)
            assert fits == can_be_computed(outputs, text), text
            assert fits == fit(outputs, order=text).fits
            answers.add(fits)
    assert answers == {True, False}


@pytest.mark.parametrize("task", PAPER_PROGRAMS)
def test_feed_forwards_first_compute_none_of_the_paper_s_programs(task: str):
    handle, depth = handle_of(task), len(PAPER_PROGRAMS[task].heads)
    assert not fit(handle, order="f" * 20 + "s" * 20)
    assert fit(handle, order="sf" * depth)
    assert fit(handle, order="s" + "sf" * depth + "fff")


def test_an_order_with_heads_counts_the_heads_of_each_attention():
    handle = handle_of("Dyck-2, pure")
    assert not fit(handle, order="sfsfsfsf", heads=1)
    assert fit(handle, order="sfssfsfsf", heads=1)
    # the spare attention must come before the feed-forward that needs both heads
    assert not fit(handle, order="sfsfsfsfs", heads=1)


def test_work_on_tokens_and_indices_together_needs_a_feed_forward_before_attention():
    handle = rasp.run('odd = tokens if indices % 2 == 0 else "-"; x = aggregate('
                      'select(odd, odd, ==), indices);')["x"]  # fmt: skip
    assert fit(handle, order="fs")
    assert not fit(handle, order="sf")
    assert fit(handle, order="sfs")
    found = fit(handle, layers=1)
    assert found
    assert "before the first attention" in found.notes[0]
    assert "would need 2 layers" in found.notes[0]
    assert "tokens and indices together, which takes an `f`" in str(fit(handle, order="ss"))


@pytest.mark.parametrize("task", ["sort", "reverse"])
@pytest.mark.parametrize("attention", ["window:1", "window:3", "window:12"])
def test_a_window_breaks_sort_and_reverse(task: str, attention: str):
    handle = handle_of(task)
    found = fit(handle, attention=attention)
    assert not found
    example = found.counterexample
    assert example is not None
    confirm(handle.node, example.tokens, attention)
    assert example.is_shortest
    assert len(example.tokens) == int(attention.partition(":")[2]) + 2


def confirm(node: Node, tokens: tuple, attention: str) -> None:
    """The plain evaluator has the last word on a counterexample."""
    (cut,) = under(Pattern.read(attention), [node], len(tokens))
    meant = evaluate([node], tokens)[node]
    try:
        got = evaluate([cut], tokens)[cut]
    except EvaluationError:
        return
    assert meant != got


@pytest.mark.slow
@pytest.mark.parametrize("task", PAPER_PROGRAMS)
@pytest.mark.parametrize("attention", ["strided:2", "block:2", "bigbird:1,1,1", "causal"])
def test_every_counterexample_is_one_and_none_is_shorter(task: str, attention: str):
    handle = handle_of(task)
    found = fit(handle, attention=attention, alphabet="(){}"[:3] if "Dyck" in task else "ab")
    example = found.counterexample
    assert found.fits == (example is None)
    if example is None:
        return
    confirm(handle.node, example.tokens, attention)
    if example.is_shortest and len(example.tokens) <= 4:
        alphabet = "(){}"[:3] if "Dyck" in task else "ab"
        for length in range(1, len(example.tokens)):
            (cut,) = under(Pattern.read(attention), [handle.node], length)
            for tokens in product(alphabet, repeat=length):
                assert evaluate([handle.node], tokens)[handle.node] == evaluate([cut], tokens)[cut]


def test_a_program_that_needs_its_neighbours_only_fits_a_window_by_proof():
    handle = rasp.run(NEIGHBOURS)["both"]
    found = fit(handle, attention="window:1")
    assert found
    assert found.verdicts[0].is_proved
    assert not fit(handle, attention="window:0")
    assert not fit(handle, attention="causal")
    assert fit(handle, attention="strided:1").verdicts[0].is_proved


def test_what_only_trying_can_tell_says_what_was_tried():
    handle = rasp.run('a = aggregate(select(indices % 1000, indices - 1, ==), tokens, "-");')["a"]
    found = fit(handle, attention="window:1")
    assert found
    assert not found.verdicts[0].is_proved
    assert "no answer changes on all inputs up to length 6 over {a, b, c} and on 2," in str(found)
    assert '6 over {"0", "1", "2"} and on 2,000 random ones up to length 40' in str(found)


@pytest.mark.parametrize("task", ["Dyck-1", "Dyck-2, pure", "Dyck-2 with select_best"])
def test_prefix_programs_are_causal_by_proof(task: str):
    found = fit(handle_of(task), attention="causal")
    assert found
    assert found.verdicts[0].is_proved


def test_the_alphabet_is_what_the_program_compares_tokens_with():
    handle = handle_of("Dyck-1")
    example = fit(handle, attention="window:2").counterexample
    assert example is not None
    assert set(example.tokens) <= {"(", ")"}
    digits = rasp.run("s = aggregate(select(indices, indices, <=), tokens_int);")["s"]
    example = fit(digits, attention="window:1").counterexample
    assert example is not None
    assert all(isinstance(token, str) and token.isdecimal() for token in example.tokens)
    given = fit(digits, attention="window:1", alphabet=[7, 9]).counterexample
    assert given is not None
    assert set(given.tokens) <= {7, 9}


@pytest.mark.slow
def test_inputs_that_cannot_be_computed_are_not_counted_as_checked():
    text = "x = aggregate(select(indices % 1000, indices - 1, ==), {7: 1, 8: 2}[tokens]);"
    found = fit(rasp.run(text)["x"], attention="window:1", alphabet=[7, 8, 9])
    assert found
    told = re.search(r"computed on ([\d,]+) of these ([\d,]+)", found.verdicts[0].reason)
    assert told is not None
    computed, tested = (int(number.replace(",", "")) for number in told.groups())
    short = sum(2**length for length in range(3, 7))
    assert short < computed < tested / 2


def test_a_selector_under_a_pattern_is_compared_pair_by_pair():
    handle = rasp.run("same = select(tokens, tokens, ==);")["same"]
    found = fit(handle, attention="causal")
    assert str(found).splitlines()[1:3] == [
        '  same("aa") = rows 11 11',
        "  under the pattern it gives rows 1· 11",
    ]


@pytest.mark.parametrize(
    ("demand", "message"),
    [
        ({"order": "sfx"}, "is written with `s` and `f`, but `sfx` has `x` in it"),
        ({"order": ""}, "is written with `s` and `f`, but this one is empty"),
        ({}, "fit into what? No architecture is given"),
        ({"layers": 2, "order": "sf"}, "an order of sublayers says itself how many layers there"),
        ({"layers": -1}, "there are no fewer than 0 layers or heads"),
        ({"attention": "sliding"}, "there is no attention pattern `sliding`"),
        ({"attention": "causal", "alphabet": ["a", 1]}, "holds strings or numbers, not both"),
    ],
)
def test_nonsense_is_refused_with_a_hint(demand: dict, message: str):
    with pytest.raises(RaspError) as raised:
        fit(handle_of("reverse"), **demand)
    assert message in raised.value.message
    assert raised.value.hint


@pytest.mark.slow
def test_an_s_op_that_fails_on_every_input_is_said_to():
    handle = rasp.run("x = aggregate(select(tokens, tokens, ==), 1 / (indices - indices));")["x"]
    with pytest.raises(RaspValueError) as raised:
        fit(handle, attention="causal")
    assert raised.value.message.startswith("this fails on every input tested: division by zero")
    assert "alphabet" in (raised.value.hint or "")
    words = rasp.run('x = aggregate(select(indices, 0, ==), {"yes": 1}[tokens]);')["x"]
    with pytest.raises(RaspError, match="this fails on every input tested"):
        fit(words, attention="window:1", alphabet="ab")


def test_a_scorer_has_no_layers_and_heads():
    scorer = Score(Indices(), Indices())
    for ask in (schedule, lambda node: fit(node, layers=1)):
        with pytest.raises(RaspTypeError, match="a scorer alone has no layers and heads"):
            ask(scorer)


@pytest.mark.parametrize("given", [3, "reverse", [], None, [Tokens(), 1]])
def test_what_is_no_s_op_is_refused(given: object):
    for ask in (schedule, explain, front, lambda outputs: fit(outputs, layers=1)):
        with pytest.raises(RaspTypeError, match="s-ops and selectors, and this is neither"):
            ask(given)


def test_several_outputs_share_layers_and_heads():
    names = rasp.run("a = aggregate(select_all, tokens_int); b = aggregate(select_all, indices);")
    both = [names["a"], names["b"]]
    assert schedule(both).heads_per_layer == (1,)
    assert fit(both, layers=1, heads=1)
    assert "a, b: 1 layer" in str(explain(both))
    example = fit(both, attention="window:0").counterexample
    assert example is not None
    assert len(example.left) == 2


def test_a_bad_method_or_too_few_layers_are_refused():
    with pytest.raises(RaspValueError, match="there is no scheduling method `fast`"):
        schedule(Tokens(), "fast")
    with pytest.raises(RaspValueError, match="this needs 2 layers"):
        schedule(handle_of("reverse"), depth=1)


def test_the_exact_schedule_says_when_it_runs_out_of_time(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("scipy", reason="the exact schedule needs SciPy")
    from rasp.insight.schedule import placing

    monkeypatch.setattr(placing, "exact_placement", lambda *_: None)
    hard = next(
        outputs
        for outputs in (random_outputs(seed, 60) for seed in range(100))
        if schedule(outputs, "greedy").exact is False
    )
    with pytest.raises(RaspLimitError, match="was not found in 60 seconds"):
        schedule(hard, "exact")
    found = schedule(hard)
    assert (found.method, found.exact) == ("greedy", False)
    assert "ran out of time" in found.remark


def test_without_scipy_the_greedy_schedule_is_taken_and_says_so(monkeypatch: pytest.MonkeyPatch):
    from rasp.insight.schedule import exact, placing

    monkeypatch.setattr(placing, "solver_is_installed", lambda: False)
    monkeypatch.setattr(exact, "solver_is_installed", lambda: False)
    methods = set()
    for seed in range(60):
        outputs = random_outputs(seed, 60)
        found = schedule(outputs)
        methods.add((found.method, found.exact))
        if not found.exact:
            assert "[schedule]" in found.remark
            with pytest.raises(RaspError, match="needs `scipy`"):
                schedule(outputs, "exact")
    assert ("greedy", False) in methods


def test_a_single_layer_or_head_is_needed() -> None:
    hist = rasp.run("hist = selector_width(select(tokens, tokens, ==), assume_bos=True);")["hist"]
    assert "1 layer is needed: one attention" in str(rasp.fit(hist, layers=0))
    assert "1 head is needed in one" in str(rasp.fit(hist, order="sf", heads=0))
