"""Random programs as text: mistakes are told in RASP's words, and what is printed reads back."""

from __future__ import annotations

import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import rasp
from rasp.base.errors import RaspError
from rasp.base.source import Source
from rasp.language.embedding.handle_operators import handle_of
from rasp.language.embedding.handles import RESERVED
from rasp.language.graph import Program
from rasp.language.meaning.loader import Loader
from rasp.language.meaning.session import Session
from rasp.language.syntax import parse, parse_with_errors, print_program
from rasp.language.syntax.lexer import lex
from rasp.language.words import COMMANDS
from strategies import examples
from strategies.programs import LIMITS, Case, cases

pytestmark = pytest.mark.slow

SCRAPS = ("", "(", ")", "{", "}", '"', "\\", ";", ",", "=", "0", " ", "\n", "#", "\0", "if",
          "else ", "for ", "not ", "\u2028", "1.", "é")  # fmt: skip
BLANKS = (" ", " ", "  ", "\n", "\t", "\r\n")
randoms = st.randoms(use_true_random=False)


def is_told_well(error: RaspError, text: str) -> bool:
    """An error has a hint and a place, and is not longer than the program needs."""
    return bool(error.hint) and error.span is not None and len(str(error)) < 5_000 + len(text)


def printed(text: str) -> str:
    return print_program(parse(Source("case", text)))


@given(cases())
@examples(80)
def test_a_formatted_program_is_formatted(case: Case) -> None:
    try:
        tidy = printed(case.text)
    except RaspError:
        return
    assert printed(tidy) == tidy


@given(cases(), randoms)
@examples(80)
def test_blanks_between_words_change_nothing(case: Case, rng: random.Random) -> None:
    """A line of one word may be a command to the REPL, so such a word does not end one here."""
    text = "\n".join(line for line in case.text.splitlines() if not line.startswith("#"))
    words = [token.text for token in lex(Source("case", text)).tokens]
    spaced = "".join(word + rng.choice(BLANKS[: 3 if word in COMMANDS else 6]) for word in words)
    try:
        expected = printed(text)
    except RaspError:
        return
    lines, expected_lines = printed(spaced).split(), expected.split()  # blank lines are kept
    assert lines == expected_lines


@given(cases(), randoms)
@examples(100)
def test_a_mangled_program_is_read_or_refused_in_words(case: Case, rng: random.Random) -> None:
    text = case.text
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text) + 1)
        put = rng.choice([*SCRAPS, text[at : at + 9]])
        text = text[:at] + put + text[at + rng.randint(0, 3) :]
    tree, errors = parse_with_errors(Source("mangled", text))
    assert all(is_told_well(error, text) for error in errors), text
    if not errors:
        assert parse(Source("again", print_program(tree))) == tree


@given(cases())
@examples(80)
def test_what_stops_a_run_is_among_the_mistakes_that_checking_finds(case: Case) -> None:
    _, errors = Session(LIMITS, Loader(enabled=False)).check(Source("case", case.text))
    assert all(is_told_well(error, case.text) for error in errors)
    session = Session(LIMITS, Loader(enabled=False))
    if not errors:
        session.run(Source("case", case.text))
        return
    with pytest.raises(RaspError) as stopped:
        session.run(Source("case", case.text))
    assert str(stopped.value) in map(str, errors)


@given(cases())
@examples(80)
def test_to_rasp_writes_a_text_that_makes_the_same_nodes(case: Case) -> None:
    nodes = {name: node for name, node in case.outputs.items() if name not in RESERVED}
    assume(nodes)
    known = Program.named(case.program.names)
    try:
        text = rasp.to_rasp({name: handle_of(node, known) for name, node in nodes.items()})
    except rasp.RaspUnsupportedError:
        return
    again = rasp.run(text)
    for name, node in nodes.items():
        assert again[name].node is node, text
