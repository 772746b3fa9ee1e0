"""A verdict says what is true: same graphs, proofs by trying, shortest counterexamples."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest

import rasp
from rasp import (
    aggregate,
    equivalent,
    indices,
    length,
    select,
    select_all,
    tokens,
    tokens_int,
    where,
)
from rasp.base.errors import RaspError
from rasp.insight.equivalence import Equivalence
from rasp.insight.equivalence.answering import answer
from rasp.language.embedding.handles import Handle

earlier = select(indices, indices, "<")
same = select(tokens, tokens, "==")
hist = rasp.lib.histf(tokens)
reverse = aggregate(select(indices, length - 1 - indices, "=="), tokens)


def plainly_differ(left: Handle, right: Handle, given: tuple[Any, ...]) -> bool:
    one, other = answer([left.node], given), answer([right.node], given)
    if isinstance(one, RaspError) or isinstance(other, RaspError):
        return not (isinstance(one, RaspError) and isinstance(other, RaspError)
                    and one.kind == other.kind)  # fmt: skip
    return one != other


def shortest_by_brute_force(left: Handle, right: Handle, alphabet: tuple[Any, ...]) -> int | None:
    for size in range(1, 7):
        for given in product(alphabet, repeat=size):
            if plainly_differ(left, right, given):
                return size
    return None


def test_one_graph_is_the_same_everywhere() -> None:
    verdict = equivalent(
        reverse, rasp.run("x = aggregate(select(indices, length - 1 - indices, ==), tokens);")["x"]
    )
    assert verdict
    assert verdict.same_graph
    assert "every input" in str(verdict)
    assert verdict.tested == 0


EQUAL = {
    "sums commute": (indices + length, length + indices),
    "negated selectors": (~earlier, select(indices, indices, ">=")),
    "reverse either way": (reverse, aggregate(select(length - 1 - indices, indices, "=="), tokens)),
    "a count by hand": (hist, round(length * aggregate(select_all, 0 * indices)) + hist),
    "sorted twice": (
        rasp.lib.sort(tokens, tokens),
        rasp.lib.sort(rasp.lib.sort(tokens, tokens), rasp.lib.sort(tokens, tokens)),
    ),
    "both fail alike": (tokens - 1, (tokens - 2) + 1),
    "scorers": (rasp.score(indices, 2), rasp.score(indices + indices, 1)),
}


@pytest.mark.parametrize("name", EQUAL)
def test_programs_that_are_the_same_are_called_so(name: str) -> None:
    left, right = EQUAL[name]
    verdict = equivalent(left, right, random=200)
    assert verdict.same, verdict
    assert not verdict.same_graph
    assert verdict.difference is None
    assert "proved" in str(verdict)
    assert "tested, not proved" in str(verdict)


DIFFERENT = {
    "off by one": (indices + 1, indices),
    "first copies": (rasp.lib.has_prev(tokens), hist > 1),
    "which of three": (where(hist > 2, 1, 0), where(hist > 3, 1, 0)),
    "only from length four": (where(length > 3, tokens, "-"), where(indices < 0, tokens, "-")),
    "one token": (where(tokens == "q", 1, 0), indices * 0),
    "order of keys": (earlier, select(indices, indices, ">")),
    "one fails": (tokens_int + 1, where(tokens == "7", 1, tokens_int + 1)),
    "ties": (rasp.lib.sort(indices, tokens), rasp.lib.sort(indices, rasp.lib.sort(tokens, tokens))),
    "two of a kind and another": (
        where((hist == 2) & (tokens == "x"), 1, 0),
        where((hist == 2) & (tokens == "x") & (length < 4), 1, 0),
    ),
    "default": (aggregate(earlier, 1, 5), aggregate(earlier, 1, 6)),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_difference_is_shown_on_a_shortest_input(name: str) -> None:
    left, right = DIFFERENT[name]
    verdict = equivalent(left, right)
    assert not verdict
    found = verdict.difference
    assert found is not None
    assert found.is_shortest
    assert plainly_differ(left, right, found.tokens)
    alphabet = (*verdict.inputs.alphabet[:6], "ö")
    if all(isinstance(token, str) for token in alphabet):
        assert len(found.tokens) == shortest_by_brute_force(left, right, alphabet)
    assert str(found.left) != str(found.right)


@pytest.mark.slow
def test_a_long_difference_is_found_at_random_and_made_short() -> None:
    late = where(length > 24, indices, indices * 2 + hist - hist)
    verdict = equivalent(late, indices * 2 + hist - hist, max_length=4)
    assert verdict.difference is not None
    assert len(verdict.difference.tokens) == 25
    assert not verdict.difference.is_shortest
    assert "a shorter one may exist" in str(verdict)


def test_programs_that_read_no_tokens_are_compared_by_length_alone() -> None:
    late = where(length > 55, 1, 0)
    verdict = equivalent(late, indices * 0)
    assert verdict.difference is not None
    assert len(verdict.difference.tokens) == 56
    assert verdict.difference.is_shortest


def test_an_input_on_which_only_one_fails_is_a_difference() -> None:
    verdict = equivalent(1 / indices, 1 / where(indices == 0, 1, indices))
    assert verdict.difference is not None
    assert verdict.difference.input == "a"
    assert isinstance(verdict.difference.left, rasp.RaspValueError)
    assert verdict.difference.right == [1]
    assert "fails: division by zero" in str(verdict)


@pytest.mark.slow
def test_failing_in_different_ways_is_a_difference_and_alike_is_not() -> None:
    assert not equivalent(tokens + indices, tokens - indices + 1 / indices, alphabet=[1, 2])
    verdict = equivalent(
        1 / (tokens - tokens), 2 / (tokens - tokens), alphabet=[1, 2], max_length=3
    )
    assert verdict
    assert verdict.failing > 0
    assert "both fail alike" in str(verdict)


def test_kinds_count_only_when_asked_for() -> None:
    verdict = equivalent(indices, indices / 1)
    assert verdict
    assert verdict.kinds is not None
    assert "the kinds differ" in str(verdict)
    assert not equivalent(indices, indices / 1, kinds=True)
    assert not equivalent(indices == 0, rasp.indicator(indices == 0), kinds=True)
    assert equivalent(indices == 0, rasp.indicator(indices == 0))


def test_a_bos_comes_first_and_is_not_compared() -> None:
    with_bos = rasp.lib.histf(tokens, assume_bos=True)
    assert not equivalent(hist, with_bos)
    verdict = equivalent(hist, with_bos, bos="§")
    assert verdict
    assert 'begin with "§"' in str(verdict)
    assert not equivalent(hist, with_bos + 1, bos="§")


def test_a_given_alphabet_and_length_are_tried_whole() -> None:
    told: list[tuple[int, int]] = []
    verdict = equivalent(reverse, aggregate(select(length - 1 - indices, indices, "=="), tokens),
                         alphabet="ab", max_length=7, random=0,
                         progress=lambda done, total: told.append((done, total)))  # fmt: skip
    assert verdict.tested == sum(2**size for size in range(1, 8))
    assert verdict.at_random == 0
    assert verdict.all_up_to == 7
    assert told[-1] == (verdict.tested, verdict.tested)
    assert "over {a, b} up to length 7" in str(verdict)


def test_numbers_can_be_an_alphabet() -> None:
    mean = rasp.lib.average(tokens)
    verdict = equivalent(
        mean, aggregate(select(0, 0, "=="), tokens), alphabet=[0.5, 1, 3], random=100, max_length=5
    )
    assert verdict
    assert verdict.inputs.alphabet == (Fraction(1, 2), 1, 3)
    assert not equivalent(mean, round(mean), alphabet=[0.5, 1, 3])


def specified_by(program: Handle, function: Any, **options: Any) -> Equivalence:
    return equivalent(program, function, max_length=5, random=100, **options)


def test_a_python_function_says_what_should_come_out() -> None:
    assert specified_by(reverse, lambda given: given[::-1])
    assert specified_by(reverse, lambda given: "".join(reversed(given)))
    assert specified_by(hist, lambda given: [given.count(token) for token in given], kinds=True)
    assert equivalent(lambda given: list(range(len(given))), indices, max_length=3)
    assert specified_by(indices / 3, lambda given: [at / 3 for at in range(len(given))])
    assert specified_by(
        earlier,
        lambda given: [[key < query for key in range(len(given))] for query in range(len(given))],
    )
    verdict = specified_by(reverse, lambda given: sorted(given, reverse=True))
    assert verdict.difference is not None
    assert verdict.difference.input == "ba"
    assert "over {a, b, c}" in specified_by(reverse, lambda given: given[::-1]).proved


def test_a_function_may_leave_positions_open_and_may_fail() -> None:
    assert specified_by(indices, lambda given: [None, *range(1, len(given))])
    assert specified_by(1 / indices, lambda given: [1 / at for at in range(len(given))])
    assert not specified_by(indices, lambda given: [])
    assert not specified_by(indices, lambda given: {}["no"])
    assert "ZeroDivisionError" in str(specified_by(indices, lambda given: 1 / 0))


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((tokens, earlier), {}, "never the same"),
        ((max, min), {}, "at least one"),
        ((tokens, 3), {}, "neither"),
        ((tokens, indices), {"max_length": 0}, "there are no inputs up to length 0"),
        ((tokens, indices), {"alphabet": "abc", "max_length": 30}, "more than"),
        ((tokens, indices), {"alphabet": ""}, "empty"),
        ((tokens, indices), {"alphabet": ["a", 1]}, "not both"),
        ((tokens, indices), {"alphabet": "§", "bos": "§"}, "nothing but"),
        ((tokens, lambda given: 3), {}, "not a list"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_a_hint(
    arguments: tuple[Any, Any], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(rasp.RaspError) as caught:
        equivalent(*arguments, **options)
    assert message in caught.value.message
    assert caught.value.hint


def test_a_budget_that_is_exceeded_is_not_an_answer() -> None:
    huge = 2 ** (2 ** (indices + 20))
    with pytest.raises(rasp.RaspLimitError):
        equivalent(huge, huge + 1)
