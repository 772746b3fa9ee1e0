"""`generate` at the prompt: every step is shown."""

from __future__ import annotations

import pytest

from rasp.apps.repl.conversation import Conversation

PROGRAM = """
bar = aggregate(select(tokens, "|", ==), indices);
made = length - 1 - bar;
copy = aggregate(select(indices, made, ==), tokens) if made < bar else "";
"""


@pytest.fixture
def conversation() -> Conversation:
    talk = Conversation()
    talk.respond(PROGRAM)
    assert talk.failures == 0
    return talk


def test_each_step_is_shown_with_what_was_made(conversation: Conversation) -> None:
    lines = conversation.respond('generate copy "ab|"').splitlines()
    assert [line.split() for line in lines] == [
        ["step", "0:", '"a"', '"a"'],
        ["step", "1:", '"b"', '"ab"'],
        ["step", "2:", '""', "it", "stops"],
    ]


def test_without_an_input_the_running_example_is_taken(conversation: Conversation) -> None:
    conversation.respond('set example "xy|"')
    assert conversation.respond("generate copy") == conversation.respond('generate copy "xy|"')


def test_what_does_not_stop_is_cut_off(conversation: Conversation) -> None:
    lines = conversation.respond('generate tokens "a"').splitlines()
    assert len(lines) == 51 and "cut off after 50 tokens" in lines[-1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('generate select_all "a"', "only an s-op gives tokens"),
        ('generate max "a"', "`max` is a function, not an s-op"),
        ("generate copy 3", "an input is a string or a list"),
        ('generate nothing "a"', "`nothing` is not defined"),
    ],
)
def test_what_cannot_generate_is_refused(
    conversation: Conversation, text: str, message: str
) -> None:
    assert message in conversation.respond(text)
    assert conversation.failures == 1


def test_generate_stays_a_name_where_it_is_used_as_one(conversation: Conversation) -> None:
    conversation.respond("generate = indices + 1;")
    assert "[1, 2, 3]" in conversation.respond('generate("abc");')
