"""Judges of text: what is written reads back, and mistakes are told in RASP's words."""

from __future__ import annotations

import random

import rasp
from fuzzing.bare_trees import bare
from fuzzing.layouts import Spacing
from rasp.apps.fuzzing.cases import LIMITS, Case
from rasp.apps.fuzzing.outcomes import Disagreement, NothingToCompare
from rasp.base.errors import RaspError, RaspSyntaxError
from rasp.base.source import Source
from rasp.language.embedding.handle_operators import handle_of
from rasp.language.graph import Program
from rasp.language.meaning.loader import Loader
from rasp.language.meaning.session import Session
from rasp.language.syntax import parse, print_program
from rasp.language.syntax.tree import Statement

SCRAPS = ("", "(", ")", "{", "}", '"', "\\", ";", ",", "=", "0", " ", "\n", "#", "\0", "if",
          "else ", "for ", "not ", "\u2028", "1.", "é")  # fmt: skip


def judge_parser(case: Case) -> None:
    """The printer's text, and any other way to write the tree, is read as the tree."""
    wanted = bare(case.statements)
    _reads_as(wanted, case.text, "as printed")
    tidy = print_program(parse(Source("<case>", case.text)))
    again = print_program(parse(Source("<tidy>", tidy)))
    if again != tidy:
        raise Disagreement(f"formatted once more, the text is another:\n{tidy}\n{again}")
    written = Spacing(random.Random(case.seed)).program(case.statements)
    _reads_as(wanted, written, "with every operand in brackets")


def _reads_as(wanted: tuple[Statement, ...], text: str, how: str) -> None:
    try:
        found = bare(parse(Source("<written>", text)))
    except RaspSyntaxError as error:
        raise Disagreement(f"written {how}, it is refused: {error}\n{text}") from None
    if found != wanted:
        raise Disagreement(f"written {how}, it is read as another tree:\n{text}")


def judge_mangled(case: Case) -> None:
    """A text with letters changed is read, or refused in words; what is read can be printed."""
    rng = random.Random(case.seed)
    text = case.text
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text) + 1)
        put = rng.choice([*SCRAPS, text[at : at + 9]])
        text = text[:at] + put + text[at + rng.randint(0, 3) :]
    try:
        tree = parse(Source("<mangled>", text))
    except RaspError as error:
        _is_told_well(error, text)
        return
    _reads_as(bare(tree), print_program(tree), "as printed")


def judge_running(case: Case) -> None:
    """What stops a text that is run is among the mistakes found by going on after them."""
    errors = case.elaborated.errors
    for error in errors:
        _is_told_well(error, case.text)
    try:
        Session(LIMITS, Loader(enabled=False)).run(Source("<case>", case.text))
    except RaspError as error:
        if str(error) not in map(str, errors):
            raise Disagreement(f"running says:\n{error}\nchecking says: {errors}") from None
        return
    if errors:
        raise Disagreement(f"running says nothing, but checking says:\n{errors[0]}")


def _is_told_well(error: RaspError, text: str) -> None:
    if not error.hint or error.span is None:
        raise Disagreement(f"an error without a hint or a place: {error}")
    if len(str(error)) > 5_000 + len(text):
        raise Disagreement("an error that is longer than the program")


def judge_writing(case: Case) -> None:
    """`to_rasp` writes a text that makes the same nodes."""
    nodes = {name: node for name, node in case.outputs.items() if _can_be_named(name)}
    if not nodes:
        raise NothingToCompare
    known = Program.named(case.elaborated.program.names)
    try:
        text = rasp.to_rasp({name: handle_of(node, known) for name, node in nodes.items()})
    except rasp.RaspUnsupportedError:
        raise NothingToCompare from None
    again = rasp.run(text)
    for name, node in nodes.items():
        if again[name].node is not node:
            raise Disagreement(f"`{name}` is another node in\n{text}")


def _can_be_named(name: str) -> bool:
    from rasp.language.embedding.handles import RESERVED

    return name not in RESERVED
