"""The REPL: `rasp` alone. On a terminal with history, completion and colours; else plain lines."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout

from rasp.apps.repl.conversation import Conversation, Leave
from rasp.base.terminal_text import behind, shown
from rasp.language.meaning.loader import read_source
from rasp.language.meaning.session import Session


def talk(session: Session | None = None, file: str | None = None) -> int:
    """Hold a conversation on standard input and output; return the exit code.

    A file is run before, as far as it is right.
    """
    conversation = Conversation(session or Session())
    if file is not None:
        source = read_source(file, conversation.session.limits)
        print(conversation.open(source), flush=True)
    if sys.stdin.isatty() and sys.stdout.isatty():
        from rasp.apps.repl.terminal import talk_on_terminal

        with redirect_stdout(behind(sys.stdout)):  # it has colours
            return talk_on_terminal(conversation)
    return talk_in_lines(conversation)


def talk_in_lines(conversation: Conversation) -> int:
    """Read whole statements from standard input, a line at a time; 1 if any of them failed."""
    waiting = ""
    try:
        for line in sys.stdin:
            waiting += line
            if conversation.needs_more(waiting):
                continue
            _print(conversation.respond(waiting))
            waiting = ""
        _print(conversation.respond(waiting))
    except Leave:
        pass
    return 1 if conversation.failures else 0


def _print(text: str) -> None:
    if text:
        print(shown(text), flush=True)
