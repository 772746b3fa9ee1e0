"""A wrong use of a handle is told so, at the place where it happened, with the right way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rasp
from rasp import aggregate, indices, length, score, select, select_all, select_best, table, tokens

earlier = select(indices, indices, "<")
scores = score(indices, 1)


def if_statement() -> Any:
    if tokens == "a":
        return 1
    return 2


def chained() -> Any:
    return 0 < indices < 3


def loop() -> Any:
    return [token for token in tokens]  # noqa: C416


# What somebody wrote, which part of it the error points at, what it says, and the way out.
WRONG: list[tuple[Callable[[], Any], str, str, str]] = [
    (if_statement, 'tokens == "a"', "an s-op is neither true nor false", "`where("),
    (lambda: (tokens == "a") and (indices > 1), 'tokens == "a"', "true nor false", "`&`"),
    (lambda: (tokens == "a") or (indices > 1), 'tokens == "a"', "true nor false", "`|`"),
    (lambda: not tokens, "not tokens", "true nor false", "`~`"),
    (chained, "0 < indices < 3", "true nor false", "`(0 < x) & (x < 9)`"),
    (lambda: tokens in ["a"], 'tokens in ["a"]', "neither in a list", "`tokens.is_in("),
    (lambda: earlier and earlier, "earlier", "a selector is neither true", "`select(…) & ~"),
    (lambda: bool(scores), "bool(scores)", "a scorer is neither true", "`select_best`"),
    (lambda: {tokens: 1}, "{tokens: 1}", "cannot be a key of a dict", "`handle.node`"),
    (lambda: {earlier}, "{earlier}", "a member of a set", "`handle.node`"),
    (loop, "[token for token in tokens]", "no items before it meets", "s_op('hello')"),
    (lambda: list(earlier), "list(earlier)", "no items", "apply it first"),
    (lambda: "a" in tokens, '"a" in tokens', "contains nothing", "`contains(tokens, 'a')`"),
    (lambda: len(tokens), "len(tokens)", "has no length", "`length`"),
    (lambda: [1, 2][indices], "[1, 2][indices]", "not one whole number", "`table("),
    (lambda: range(length), "range(length)", "not one whole number", "at each position"),
    (lambda: int(tokens), "int(tokens)", "not one number", "`tokens_int`"),
    (lambda: float(tokens), "float(tokens)", "not one number", "`tokens_float`"),
    (lambda: indices ^ 2, "indices ^ 2", "cannot be used with Python's `^`", "`x ** 2`"),
    (lambda: 2 ^ indices, "2 ^ indices", "cannot be used with Python's `^`", "`x ** 2`"),
    (
        lambda: tokens == "a" & earlier,
        '"a" & earlier',
        "`&` does not work on a selector",
        "selector",
    ),
    (
        lambda: tokens == "a" & (indices > 1),
        '"a" & (indices > 1)',
        "joined by `&` with 'a'",
        "brackets",
    ),
    (lambda: (indices > 1) | 1, "(indices > 1) | 1", "joined by `|` with 1", "brackets"),
    (
        lambda: earlier & tokens,
        "earlier & tokens",
        "a selector and an s-op",
        "`select(condition, True,",
    ),
    (lambda: tokens | earlier, "tokens | earlier", "an s-op and a selector", "`aggregate` turns"),
    (lambda: earlier + 1, "earlier + 1", "`+` does not work on a selector", "selectors"),
    (lambda: 1 + earlier, "1 + earlier", "`+` does not work on a selector", "selectors"),
    (
        lambda: earlier == earlier,
        "earlier == earlier",
        "does not work on two selectors",
        "`&`, `|`, `~`",
    ),
    (lambda: earlier < 1, "earlier < 1", "`<` does not work", "selectors"),
    (lambda: scores + 2, "scores + 2", "a scorer and the int 2", "take a number as a factor"),
    (lambda: scores * indices, "scores * indices", "a scorer and an s-op", "scorers add"),
    (lambda: scores & earlier, "scores & earlier", "a scorer and a selector", "selectors"),
    (lambda: scores == 1, "scores == 1", "a scorer and the int 1", "scorers add"),
    (lambda: earlier[0], "earlier[0]", "a selector cannot be indexed", "apply a selector"),
    (lambda: tokens[1:], "tokens[1:]", "cannot be cut", "shift"),
    (lambda: tokens["a"], 'tokens["a"]', "indexed by one whole number", "load_from_location"),
    (
        lambda: tokens + [1],  # noqa: RUF005
        "tokens + [1]",
        "a list and an s-op",
        "compile-time",
    ),
    (lambda: tokens + None, "tokens + None", "`None` is not a value", "leave"),
    (lambda: tokens + object(), "tokens + object()", "Python's type `object`", "an input is"),
    (lambda: tokens + float("nan"), 'tokens + float("nan")', "nan is not a number", "replace"),
    (lambda: round(indices, 2), "round(indices, 2)", "whole numbers only", "/ 100"),
    (
        lambda: select(earlier, 1, "=="),
        'select(earlier, 1, "==")',
        "an s-op for its keys",
        "selectors",
    ),
    (
        lambda: select(tokens, tokens, "="),
        'select(tokens, tokens, "=")',
        "takes a comparison last",
        '`"=="`',
    ),
    (lambda: aggregate(tokens, 1), "aggregate(tokens, 1)", "takes a selector first", '"=="'),
    (
        lambda: aggregate(earlier, 1, tokens),
        "aggregate(earlier, 1, tokens)",
        "default",
        "has_focus",
    ),
    (
        lambda: select_best(select_all, tokens),
        "select_best(select_all, tokens)",
        "takes a scorer",
        "`score(",
    ),
    (
        lambda: rasp.where(earlier, 1, 2),
        "rasp.where(earlier, 1, 2)",
        "a condition is an s-op",
        "where(",
    ),
    (
        lambda: rasp.where(tokens == "a", earlier, 1),
        "rasp.where(tokens",
        "both branches",
        "an atom",
    ),
    (lambda: rasp.indicator(earlier), "rasp.indicator(earlier)", "takes an s-op", "aggregate"),
    (lambda: tokens.is_in([tokens]), "tokens.is_in([tokens])", "looks for atoms", "`|`"),
    (lambda: table([])[indices], "table([])[indices]", "nothing to index", "put something"),
    (lambda: table([1])[0], "table([1])[0]", "indexed by an s-op, but this is the int 0", "itself"),
    (lambda: tokens(tokens), "tokens(tokens)", "applied to an input", "a Python function"),
    (lambda: rasp.selector_width(tokens), "rasp.selector_width(tokens)", "takes a selector", ""),
    (lambda: rasp.lib.has_focus(1), "rasp.lib.has_focus(1)", "takes a selector", "select("),
]


@pytest.mark.parametrize(
    ("wrong", "place", "message", "hint"), WRONG, ids=[f"{n}: {w[1]}" for n, w in enumerate(WRONG)]
)
def test_a_wrong_use_shows_the_right_way(
    wrong: Callable[[], Any], place: str, message: str, hint: str
) -> None:
    with pytest.raises(rasp.RaspError) as caught:
        wrong()
    error = caught.value
    assert message in error.message
    assert hint in (error.hint or "")
    assert error.span is not None
    assert Path(error.span.source.name).name == Path(__file__).name
    assert place in error.span.text or error.span.text in place
    assert not {"`and`", "`or`", "`not`"} & set(error.message.split())


@pytest.mark.parametrize("name", ["", "1st", "a b", "select", "tokens", "and", "not"])
def test_a_name_must_be_one_that_a_program_can_use(name: str) -> None:
    with pytest.raises(rasp.RaspNameError) as caught:
        tokens.named(name)
    assert caught.value.hint
