"""The REPL: `rasp` alone. On a terminal with history, completion and colours; else plain lines."""

from __future__ import annotations

import re
import sys
from contextlib import redirect_stdout

from rasp.apps.repl.conversation import Conversation, Leave
from rasp.base.terminal_text import behind, shown
from rasp.language.meaning.loader import Loader, read_source
from rasp.language.meaning.session import Session
from rasp.language.words import BINDING
from rasp.teaching.gallery.gallery_files import gallery_program

EITHER = ("+", "-", "(", "[")
"""What continues an expression, and also begins one."""
_SIGNS = "|".join(
    re.escape(sign) for sign in (*BINDING, *EITHER, "=", ",") if not sign[0].isalpha()
)
_FIRST = re.compile(rf"([ \t]*)({_SIGNS}|(?:and|or|in|if|else|not +in)\b)")


def talk(session: Session | None = None, file: str | None = None) -> int:
    """Hold a conversation on standard input and output; return the exit code.

    A file is run before, as far as it is right.
    """
    conversation = Conversation(session or Session(loader=Loader(elsewhere=gallery_program)))
    if file is not None:
        limits = conversation.session.limits
        source = gallery_program(file) or read_source(file, limits)
        print(conversation.open(source), flush=True)
    if sys.stdin.isatty() and sys.stdout.isatty():
        from rasp.apps.repl.terminal import talk_on_terminal

        with redirect_stdout(behind(sys.stdout)):  # it has colours
            return talk_on_terminal(conversation)
    return talk_in_lines(conversation)


def talk_in_lines(conversation: Conversation) -> int:
    """Read whole statements from standard input, a line at a time; 1 if any of them failed.

    A statement without its `;` runs when the next line comes, for that may continue it.
    """
    waiting, runs_with_next = "", False
    try:
        for line in sys.stdin:
            if runs_with_next and not _is_blank(line) and not continues(waiting, line):
                _print(conversation.respond(waiting))
                waiting = ""
            waiting += line
            runs_with_next = conversation.could_continue(waiting)
            if runs_with_next or conversation.needs_more(waiting):
                continue
            _print(conversation.respond(waiting))
            waiting = ""
        _print(conversation.respond(waiting))
    except Leave:
        pass
    return 1 if conversation.failures else 0


def continues(text: str, line: str) -> bool:
    """Tell whether a line continues the statement that the text before it could be.

    One that begins with an operator does; with a sign or bracket only if it is indented.

    >>> continues("x = a", "or b;"), continues("x = a", "- b;"), continues("x = a", "  - b;")
    (True, False, True)
    """
    first = _FIRST.match(line)
    if first is None:
        return False
    return first[2] not in EITHER or len(first[1]) > len(text) - len(text.lstrip(" \t"))


def _is_blank(line: str) -> bool:
    return not line.partition("#")[0].strip()


def _print(text: str) -> None:
    if text:
        print(shown(text), flush=True)
