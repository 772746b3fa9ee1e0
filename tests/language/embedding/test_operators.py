"""Each operator and function of the embedding builds the node of its text, and answers like it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy
import pytest

import rasp
from rasp import (
    aggregate,
    constant,
    contains,
    indicator,
    indices,
    length,
    score,
    select,
    select_all,
    select_best,
    table,
    tokens,
    tokens_bool,
    tokens_float,
    tokens_int,
    tokens_str,
    where,
)

earlier = select(indices, indices, "<")
same = select(tokens, tokens, "==")

PAIRS = [
    ("indices + 1", indices + 1),
    ("1 + indices", 1 + indices),
    ("indices - 1", indices - 1),
    ("1 - indices", 1 - indices),
    ("indices * 2", indices * 2),
    ("2 * indices", 2 * indices),
    ("indices / 2", indices / 2),
    ("2 / (indices + 1)", 2 / (indices + 1)),
    ("indices % 2", indices % 2),
    ("7 % (indices + 1)", 7 % (indices + 1)),
    ("indices ^ 2", indices**2),
    ("2 ^ indices", 2**indices),
    ("tokens + tokens", tokens + tokens),
    ('"x" + tokens', "x" + tokens),
    ('tokens + "x"', tokens + "x"),
    ('"ab" * indices', "ab" * indices),
    ('tokens == "a"', tokens == "a"),
    ('tokens != "a"', tokens != "a"),
    ("indices < 2", indices < 2),
    ("indices <= 2", indices <= 2),
    ("indices > 2", indices > 2),
    ("indices >= 2", indices >= 2),
    ("2 < indices", constant(2) < indices),
    ("indices > 2", indices > 2),
    ("indices < length", indices < length),
    ("indices == 1 and indices < 3", (indices == 1) & (indices < 3)),
    ("indices == 1 or True", (indices == 1) | True),
    ("True and indices == 1", True & (indices == 1)),
    ("False or indices == 1", False | (indices == 1)),
    ('indices and "a"', indices & constant("a")),
    ("not indices == 1", ~(indices == 1)),
    ("-indices", -indices),
    ("+indices", +indices),
    ("round(indices / 3)", round(indices / 3)),
    ("indicator(indices == 0)", indicator(indices == 0)),
    ("0.1 + indices", 0.1 + indices),
    ("1 / 3 + indices", Fraction(1, 3) + indices),
    ("(1 / 9) ^ indices", rasp.constant(Fraction(1, 9)) ** indices),
    ("True + indices", True + indices),
    ("1 + indices", numpy.int64(1) + indices),
    ("0.5 * indices", numpy.float64(0.5) * indices),
    ("indices == 3", indices == numpy.int32(3)),
    ("3 + indices", (constant(1) + 2) + indices),
    ("tokens if indices % 2 == 0 else '-'", where(indices % 2 == 0, tokens, "-")),
    ("1 if indices == 0 else 0.5", where(indices == 0, 1, 0.5)),
    ("tokens[0]", tokens[0]),
    ("tokens[0]", tokens.at(0)),
    ("tokens[-1]", tokens[-1]),
    ("tokens in ['a', 'b']", tokens.is_in(["a", "b"])),
    ("tokens in ['a', 'b']", tokens.is_in("ab")),
    ("indices in []", indices.is_in([])),
    ("'a' in tokens", contains(tokens, "a")),
    ("{'a': 1, 'b': indices}[tokens]", tokens.lookup({"a": 1, "b": indices})),
    ("{'a': 1, 'b': indices}[tokens]", table({"a": 1, "b": indices})[tokens]),
    ("[5, tokens_int, 7][indices % 3]", table([5, tokens_int, 7])[indices % 3]),
    ("'xyz'[indices % 3]", (indices % 3).lookup("xyz")),
    ("tokens_str", tokens_str),
    ("tokens_float + 1", tokens_float + 1),
    ("not tokens_bool", ~tokens_bool),
    ("length", length),
    ("select_all", select_all),
    ("select(indices, indices, <)", earlier),
    ("select(tokens, 'a', !=)", select(tokens, "a", "!=")),
    ("select(1, 1, ==)", select(1, 1, "==")),
    ("select(1, 1, ==)", select(constant(1), 1, "==")),
    ("select(indices, indices, <) and select(tokens, tokens, ==)", earlier & same),
    ("select(indices, indices, <) or select(tokens, tokens, ==)", earlier | same),
    ("not select(indices, indices, <)", ~earlier),
    ("aggregate(select(indices, indices, <), indices)", aggregate(earlier, indices)),
    ("aggregate(select(indices, indices, <), tokens, '-')", aggregate(earlier, tokens, "-")),
    ("aggregate(select(indices, indices, <), 1, 0.5)", aggregate(earlier, 1, default=0.5)),
    ("score(indices, 1)", score(indices, 1)),
    ("select_best(select_all, score(indices, -1))", select_best(select_all, score(indices, -1))),
    ("selector_width(select(tokens, tokens, ==))", rasp.selector_width(same)),
    ("has_focus(select(indices, indices, <))", rasp.has_focus(earlier)),
]


@pytest.mark.parametrize(
    ("text", "handle"), PAIRS, ids=[f"{n}: {t}" for n, (t, _) in enumerate(PAIRS)]
)
def test_python_builds_the_node_of_the_text(text: str, handle: Any) -> None:
    by_text = rasp.run(f"it = {text};")["it"]
    assert handle.node is by_text.node
    assert type(handle) is type(by_text)


def test_an_atom_chooses_between_things_that_are_not_s_ops() -> None:
    assert where(True, earlier, same).node is earlier.node
    assert where(False, [1], [2]) == [2]


def test_atoms_stay_exact_on_their_way_through_python() -> None:
    third = indices / 3
    assert (third + third + third == indices)("abcd") == [True] * 4
    assert (indices * 0.1 * 3 == indices * 0.3)("abcd") == [True] * 4


def test_handles_answer_in_plain_python() -> None:
    assert (indices / 2)("abc") == [0.0, 0.5, 1.0]
    assert [type(atom) for atom in (indices / 2)("abc")] == [float] * 3
    assert earlier("ab") == [[False, False], [True, False]]
    assert score(indices, indices)([5, 6]) == [[0, 0], [0, 1]]
    assert tokens([1, True, 2.5]) == [1, True, 2.5]
