"""A text where an s-op is meant, and tokens as a condition: legal, told, and what to write."""

from __future__ import annotations

import pytest

from rasp.apps.repl.conversation import Conversation
from rasp.base.source import Source
from rasp.language.meaning.mistakes import check
from rasp.language.meaning.session import Session

TEXTS = {
    'histf("hello")': 'histf(tokens)("hello")',
    'histf(seq="hello", assume_bos=True)': 'histf(seq=tokens, assume_bos=True)("hello")',
    'has_prev("hello")': 'has_prev(tokens)("hello")',
    'sort("hello", "hello")': 'sort(tokens, tokens)("hello")',
    'mark_first_instance("hello", "l")': 'mark_first_instance(tokens, "l")("hello")',
    'contains("hello", "l")': 'contains(tokens, "l")("hello")',
    'mine("hello")': 'mine(tokens)("hello")',
    'outer("hello")': 'outer(tokens)("hello")',
    'select("ab", "ab", ==)': 'select(tokens, tokens, ==)("ab")',
}
"""What somebody writes, and what they are told to write."""
FUNCTIONS = (
    "def mine(seq) { return selector_width(select(seq, seq, ==)); }"
    "def outer(x) { return histf(x); }"
    "def is_it(letter) { return tokens == letter; }"
)
CONDITIONS = [
    "indicator(tokens)", "1 if tokens else 0", "not tokens", "tokens and indices > 0",
    "indices > 0 or tokens_str", "num_prevs(tokens)", "1 if tokens_asis else 0",
]  # fmt: skip
MEANT = [
    "histf(tokens)", 'contains(tokens, "hello")', 'is_it("hello")', 'shift(tokens, 1, "--")',
    'aggregate(full_s, "a")', 'select(tokens, "ab", ==)', 'pair_balance("(", ")")',
    'indicator(tokens == "a")', "1 if tokens_bool else 0", "num_prevs(tokens_bool)",
    'num_prevs(tokens == "a")', 'histf(tokens)("hello")', 'max("a", "b")', 'shift("a", 1, "b")',
]  # fmt: skip


def warnings(expression: str) -> list[tuple[str, str]]:
    errors, told = check(Source("demo", f"{FUNCTIONS}\nx = {expression};"))
    assert not errors
    return [(warned.span.text, warned.hint) for warned in told]


@pytest.mark.parametrize("written", TEXTS)
def test_a_text_for_an_s_op_is_told_with_what_to_write(written: str) -> None:
    [(place, hint)] = warnings(written)
    assert place == written
    assert hint == f"to apply it to that input, write `{TEXTS[written]}`"


@pytest.mark.parametrize("instead", sorted(set(TEXTS.values())))
def test_what_it_says_to_write_runs_without_a_warning(instead: str) -> None:
    session = Session()
    session.run(Source("demo", f"{FUNCTIONS}{instead};"))
    assert not session.warnings


@pytest.mark.parametrize("written", CONDITIONS)
def test_tokens_are_no_condition(written: str) -> None:
    [(place, hint)] = warnings(written)
    assert place == written
    assert '== "a"' in hint and "tokens_bool" in hint


@pytest.mark.parametrize("written", MEANT)
def test_nothing_is_said_of_what_is_meant(written: str) -> None:
    assert not warnings(written)


def test_a_loop_is_told_once() -> None:
    _, told = check(Source("demo", "for i in range(9) { x = indicator(tokens); }"))
    assert len(told) == 1


def test_the_prompt_says_it_before_the_value() -> None:
    answer = Conversation().respond('histf("hello")')
    first, hint, *rest = answer.splitlines()
    assert first.startswith('warning: "hello" is a text here')
    assert hint.endswith('write `histf(tokens)("hello")`')
    assert rest[-1].endswith("[5]*5  (ints)")


@pytest.mark.parametrize(("name", "part"), [
    ("hist", "histf(tokens)"), ("T", "`True`"), ("F", "`False`"), ("agg", "`aggregate("),
    ("sel", "`select("), ("sel_best", "`select_best("), ("hist_bos", "assume_bos=True"),
    ("hist_nobos", "histf(tokens)"), ("identity", "`tokens`"), ("isnt_repr", "has_prev(tokens)"),
])  # fmt: skip
def test_the_papers_spellings_get_the_right_hint(name: str, part: str) -> None:
    answer = Conversation().respond(f"x = {name}")
    assert "is not defined" in answer
    assert part in answer.rpartition("hint: ")[2]


@pytest.mark.parametrize("name", ["hist_bos", "hist_nobos", "reverse", "flip", "load1", "same_tok",
                                  "is_repr", "isnt_repr"])  # fmt: skip
def test_a_definition_in_a_hint_runs(name: str) -> None:
    answer = Conversation().respond(f"x = {name}")
    definition = answer.rpartition("hint: ")[2].strip().strip("`")
    session = Session()
    session.run(Source("hint", definition))
    assert name in session.names()
