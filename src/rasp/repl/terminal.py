"""The REPL on a terminal: history, completion, colours, several lines, Ctrl-C and Ctrl-D."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer

from rasp import __version__
from rasp.atoms import show_input
from rasp.frontend.values import kind_name
from rasp.repl.conversation import Conversation, Leave
from rasp.syntax.highlight import RaspLexer
from rasp.visible import shown
from rasp.words import COMMANDS, KEYWORDS

COLOURS = (
    (re.compile(r"^error:", re.MULTILINE), "\x1b[1;31m"),
    (re.compile(r"^warning:", re.MULTILINE), "\x1b[1;33m"),
    (re.compile(r"^ *hint:", re.MULTILINE), "\x1b[36m"),
    (re.compile(r"^ *(?:s-op|selector|scorer|function|value|list|dict|doc|example):",
                re.MULTILINE), "\x1b[2m"),
)  # fmt: skip


def talk_on_terminal(conversation: Conversation) -> int:
    """Prompt until the user leaves."""
    print(f"RASP {__version__}. `help` says how to talk to it; Ctrl-D ends it.")
    session = make_prompt(conversation)
    while True:
        try:
            answer = conversation.respond(session.prompt(">> "))
            if answer:
                print(coloured(shown(answer)))
        except KeyboardInterrupt:
            print("stopped")
        except (EOFError, Leave):
            return 0


def make_prompt(conversation: Conversation) -> PromptSession[str]:
    """Make the prompt: Enter ends a complete statement, and goes on in an open one."""
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        is_last_line_blank = not buffer.document.current_line.strip()
        if conversation.needs_more(buffer.text) and not is_last_line_blank:
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    return PromptSession(
        history=_history(),
        completer=NameCompleter(conversation),
        complete_while_typing=False,
        auto_suggest=AutoSuggestFromHistory(),
        lexer=PygmentsLexer(RaspLexer),
        key_bindings=keys,
        multiline=True,
        prompt_continuation=lambda width, line, wrapped: ".. ",
        bottom_toolbar=lambda: (
            f" example: {show_input(conversation.session.settings.s_op_example)}"
            "   Tab completes   an empty line ends an open statement"
        ),
        enable_open_in_editor=True,
    )


class NameCompleter(Completer):
    """Completes every name in scope, with its documentation beside it."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        word = document.get_word_before_cursor(pattern=re.compile(r"\w+"))
        session = self.conversation.session
        names = set(session.scope.every_name()) | set(KEYWORDS)
        if document.text_before_cursor.strip() == word:
            names |= set(COMMANDS) | {"load"}
        for name in sorted(names):
            if name.startswith(word) and (word or not name.startswith("_")):
                yield Completion(name, -len(word), display_meta=self._meta(name))

    def _meta(self, name: str) -> str:
        session = self.conversation.session
        if doc := session.doc(name):
            return doc
        if name in session.scope.names:
            return kind_name(session.scope.find(name))
        return COMMANDS.get(name, "word of the language")


def coloured(text: str) -> str:
    """Colour the words that begin lines, unless the terminal asked for none."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    for pattern, colour in COLOURS:
        text = pattern.sub(lambda match, c=colour: f"{c}{match.group()}\x1b[0m", text)  # type: ignore[misc]
    return text


def _history() -> History:
    """Keep history across conversations where there is a place to write it."""
    try:
        kept = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        folder = Path(kept) / "rasp"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "history"
        path.touch(mode=0o600)
    except (OSError, RuntimeError):  # RuntimeError: nobody knows a home
        return InMemoryHistory()
    return FileHistory(str(path))
