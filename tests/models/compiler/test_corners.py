"""Small programs, each for a rare turn of the compiler: the model answers as the program does."""

from __future__ import annotations

import random
from typing import Any

import pytest
from test_random_programs import inputs

import rasp
from rasp.base.errors import RaspUnsupportedError
from rasp.language.evaluator.plain import EvaluationError, evaluate
from rasp.language.graph import Node, Program
from rasp.models.compiler import Transformer, compile
from rasp.models.compiler.compact import attempt
from rasp.models.compiler.settings import read_settings

FIRST = "out = aggregate(select(indices, 0, ==), tokens);"
WIDTH = "c = selector_width(select(tokens, tokens, ==)); "
SETS = """s1 = select(1, indices, ==) and (select(tokens, "a", ==) or select(tokens, "b", ==));
s2 = select(2, indices, ==) and (select(tokens, "b", ==) or select(tokens, "c", ==)
                                 or select(tokens, "e", ==));
s3 = select(3, indices, ==) and (select(tokens, "c", ==) or select(tokens, "d", ==));
"""
HAVE = "".join(
    f'{letter} = aggregate(select(tokens, "{letter}", ==), 1) > 0; ' for letter in "abcde"
)
A_OR_B = '(select(tokens, "a", ==) or select(tokens, "b", ==))'
KNOWN = """s = select(tokens, tokens, ==); t = select(tokens, tokens, <);
m = aggregate(s, indices);
"""
PROGRAMS: dict[str, tuple[str, Any, int]] = {
    # scores of select_best
    "far from best to worst": (
        "aggregate(select_best(select_all, score(indices^2, 1)), tokens)",
        "ab",
        24,
    ),
    "the best are the least": (
        "aggregate(select_best(select_all, score(tokens, -1)), indices)",
        [0, 3, 7],
        4,
    ),
    # comparisons of numbers that lie far apart
    "equal, too far apart for squares": (
        "aggregate(select(tokens, tokens, ==), indices)",
        [0, 1, 4000],
        3,
    ),
    "ordered, near enough": ("aggregate(select(tokens, tokens, <), 1)", [0, 1, 1400], 3),
    "ordered, too far apart": ("aggregate(select(tokens, tokens, <), 1)", [0, 1, 4000], 3),
    # selectors as tables
    "a class of queries that picks nothing": (
        SETS + "out = aggregate(s1 or s2 or s3, indices, -1);",
        "abcdef",
        5,
    ),
    "and one that picks everything": (
        SETS + "out = aggregate(s1 or s2 or s3 or select(4, indices, ==), indices, -1);",
        "abcdef",
        6,
    ),
    "a choice of keys in a sum": (
        f"selector_width(select(indices, indices, <=) and {A_OR_B})",
        "abc",
        5,
    ),
    "keys of two kinds": (
        'aggregate(select("a" if indices == 0 else 1, tokens, ==), indices)',
        "ab",
        3,
    ),
    "positions named by tokens": ("aggregate(select(indices, tokens, ==), indices)", [0, 1], 4),
    "positions outside the input": (
        "aggregate(select(indices, length - indices, ==), indices)",
        "ab",
        4,
    ),
    # sums
    "a sum of large numbers": ("length * aggregate(select_all, tokens)", [0, 1, 9999], 4),
    "one sum under two names": (
        """one = aggregate(select_all, indicator(indices == 0));
        two = aggregate(select_all, 2 * indicator(indices == 0)); out = 1 / one + 2 / two;""",
        "ab",
        4,
    ),
    "a prefix mean times another number": (
        "aggregate(select(indices, indices, <=), tokens) * tokens",
        [0, 1, 2],
        4,
    ),
    "a mean times another quotient": (
        "aggregate(select_all, tokens) * (indices / 2)",
        [0, 1, 2],
        4,
    ),
    "a number over a share": ("indices / aggregate(select_all, indicator(indices == 0))", "ab", 4),
    # several outputs of one head
    "two strings moved by one head": (
        """s = select(indices, indices - 1, ==); one = aggregate(s, tokens, "a");
        two = aggregate(s, "x" if indices % 2 == 0 else "y", "x");
        out = indicator(one == "a") + 2 * indicator(two == "x");""",
        "ab",
        4,
    ),
    "two means with defaults": (
        "s = select(tokens, tokens, <);"
        "out = aggregate(s, indices, 1) + 3 * aggregate(s, tokens, 2);",
        [0, 1, 2],
        4,
    ),
    # functions of many inputs
    "five conditions": (HAVE + "out = a == (b == (c == (d == e)));", "abcde", 5),
    "five inputs at once": (HAVE + "out = (a and b) or (c and d and not e);", "abcde", 5),
    "what an earlier layer knows, renamed": (
        WIDTH
        + """f = c > 1 and tokens == "a"; p = aggregate(select(indices, indices - 1, ==), c);
        out = p * indicator(f);""",
        "ab",
        4,
    ),
    "what an earlier layer knows, in part": (
        WIDTH
        + """f = c if tokens == "a" else 0; p = aggregate(select(indices, indices - 1, ==), c);
        out = p if f else 7;""",
        "ab",
        4,
    ),
    "two means at once": ("aggregate(s, indices) * aggregate(s, indices % 2)", "ab", 4),
    "two means and their defaults at once": (
        "aggregate(t, indices, 1) * aggregate(t, 3, 2)",
        "ab",
        4,
    ),
    "two sums and what they are made of": (
        WIDTH + "out = (c - indices) if c > 3 else c + indices;",
        "ab",
        10,
    ),
    "two sums with the token": (WIDTH + "out = (c - tokens) * (c + tokens) > 9;", [0, 50, 100], 30),
    # the same number as an int and as a float
    "a float before an int": ("1.0 if indices == 0 else 1", "ab", 4),
    "a constant": ("0 * indices + 3", "ab", 4),
}


def check(model: Transformer, nodes: dict[str, Node]) -> None:
    """Compare a model with its program on all short inputs and some long ones."""
    compared = 0
    for tokens in inputs(model, random.Random(3)):
        try:
            expected = evaluate(list(nodes.values()), tokens)
        except EvaluationError:
            continue
        found = model.answers(model.token_ids(list(tokens))[None])
        assert found == {name: [expected[node]] for name, node in nodes.items()}, tokens
        compared += 1
    assert compared


def node_of(text: str) -> Node:
    return rasp.run(text if "out =" in text else f"{KNOWN}out = {text};")["out"].node


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_model_answers_as_the_program_does(name: str) -> None:
    text, vocabulary, length = PROGRAMS[name]
    node = node_of(text)
    model = compile({"out": node}, vocabulary=vocabulary, max_length=length, style="compact")
    check(model, {"out": node})
    trace = model.trace(list(model.settings.vocabulary)[:length])
    assert trace.s_ops["out"]


@pytest.mark.parametrize(
    "values", ['indicator(tokens == "a") * indices', 'indices if tokens == "a" else 0']
)
@pytest.mark.parametrize("selector", ["", " and select(indices, 1, >=)"])
def test_without_a_sink_a_default_is_refused(values: str, selector: str) -> None:
    node = node_of(
        f'aggregate(select(tokens, "a", ==){selector}, ({values}) * indicator(indices > 0))'
    )
    with pytest.raises(RaspUnsupportedError, match="may pick nothing, and without a sink"):
        compile({"out": node}, vocabulary="ab", max_length=5, sink=False, style="compact")
    check(compile({"out": node}, vocabulary="ab", max_length=5, style="compact"), {"out": node})


@pytest.mark.parametrize(
    "selector",
    [
        'select(tokens, "a", ==) or select(indices, indices, <)',
        "select(tokens, tokens, <) and select(indices, indices, !=) or select(tokens, tokens, >)",
    ],
)
def test_a_selector_is_split_where_its_parts_share_no_key(selector: str) -> None:
    node = node_of(f"selector_width({selector})")
    model = compile({"out": node}, vocabulary="abc", max_length=5, heads="split", style="compact")
    assert model.heads_per_layer == ((1,) if "or select(ind" in selector else (2,))
    check(model, {"out": node})


@pytest.mark.parametrize(
    "text",
    [
        "length",
        "selector_width(s)",
        "1 / aggregate(s or select(indices, 0, ==), indicator(indices == 0)) + m",
        """one = selector_width(select(tokens, tokens, ==)) > 1;
        out = aggregate(select(indices, indices, ==), indices) if one else length;""",
    ],
)
def test_widths_are_had_without_a_sink(text: str) -> None:
    node = node_of(text)
    model = compile({"out": node}, vocabulary="ab", max_length=5, sink=False, style="compact")
    assert not model.uses_sink
    check(model, {"out": node})


def test_a_program_that_fails_on_some_inputs_is_compiled_for_the_others() -> None:
    node = node_of('1 / aggregate(select_all, indicator(tokens == "a"))')
    model = compile({"out": node}, vocabulary="ab", max_length=4, style="compact")
    check(model, {"out": node})
    assert model.certificate is not None
    assert "on which the program is defined" in model.certificate.statement
    assert "the program itself fails on" in str(model.certificate)


MEANS = """s = select(tokens, tokens, ==); half = indices / 2;
one = aggregate(s, indices); two = aggregate(s, indices + 1); all = aggregate(select_all, half);
"""


@pytest.mark.parametrize("text", ["one > two", "one / two", "all * length", "one", "all + one"])
def test_a_trace_tells_no_s_op_by_the_name_of_another(text: str) -> None:
    names = rasp.run(f"{MEANS}out = {text};")
    model = compile(names["out"], vocabulary="ab", max_length=5, style="compact")
    for given in ("a", "abb", "babab"):
        trace = model.trace(given)
        for label, numbers in trace.s_ops.items():
            name = label.partition(" (line")[0]
            if name in names:
                assert numbers == pytest.approx(names[name](given), abs=1e-4), name


@pytest.mark.parametrize("default", ['""', "False", "0", "1"])
def test_where_nothing_is_picked_the_default_is_compared(default: str) -> None:
    node = node_of(f"""s = select(tokens, tokens, <); one = aggregate(s, indices);
    two = aggregate(s, indices + 1); three = aggregate(s, indices % 2, {default});
    out = (one > two) or (three == 0);""")
    model = compile({"out": node}, vocabulary="ab", max_length=5, style="compact")
    check(model, {"out": node})


def test_ties_broken_by_less_than_float32_tells_apart() -> None:
    node = node_of("""key = tokens_int + indices * 0.00000000000001;
    rank = selector_width(select(key, key, <));
    out = aggregate(select(rank, indices, ==), tokens_int) * 100 + rank;""")
    model = compile({"out": node}, vocabulary="0123", max_length=6, style="compact")
    check(model, {"out": node})


def test_a_constant_is_not_looked_up_in_a_careful_plan() -> None:
    nodes = {"always": node_of('out = aggregate(select_all, "x");'), "first": node_of(FIRST)}
    settings = read_settings("ab", 4, None, False, True, "paper", "compact")
    model = attempt(nodes, settings, Program(), is_careful=True)
    check(model, nodes)
