"""The REPL on a terminal: history, completion, colours, several lines, Ctrl-C and Ctrl-D."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer

from rasp import __version__
from rasp.apps.repl.conversation import Conversation, Leave
from rasp.base.atoms import kind_name, show_input
from rasp.base.terminal_text import shown
from rasp.language.syntax.highlight import RaspLexer
from rasp.language.words import COMMAND_PHRASES, COMMANDS, KEYWORDS

_FILE = re.compile(r"""^\s*(?:load|save)\s*["']([^"']*)$""")
COLOURS = (
    (re.compile(r"^error:", re.MULTILINE), "\x1b[1;31m"),
    (re.compile(r"^warning:", re.MULTILINE), "\x1b[1;33m"),
    (re.compile(r"^ *hint:", re.MULTILINE), "\x1b[36m"),
    (re.compile(r"^ *(?:s-op|selector|scorer|function|value|list|dict|doc|example|loaded|kept|saved"
                r"|[a-z-]+s):",
                re.MULTILINE), "\x1b[2m"),
)  # fmt: skip


def talk_on_terminal(conversation: Conversation) -> int:
    """Prompt until the user leaves."""
    print(f"RASP {__version__}. `help` says how this prompt works; Ctrl-D ends it.")
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
    """Make the prompt: Enter runs a complete statement, and begins a new line in an open one."""
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if conversation.needs_more(buffer.text):
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
        bottom_toolbar=lambda: _toolbar(conversation),
        enable_open_in_editor=True,
    )


def _toolbar(conversation: Conversation) -> str:
    """The last line of the terminal: what an open statement waits for, or where we are."""
    typed = get_app().current_buffer.text
    if "\n" in typed and (waiting := conversation.what_is_open(typed)):
        return f" {waiting}   Ctrl-C drops it"
    example = show_input(conversation.session.settings.s_op_example)
    return f" example: {example}   Tab completes   ?name explains   Ctrl-D leaves"


class NameCompleter(Completer):
    """Completes names in scope, words to the prompt and files, with what they are beside them."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        typed = document.text_before_cursor
        if opened := _FILE.search(typed):
            yield from _files(opened.group(1))
            return
        yield from _phrases(typed.lstrip())
        word = document.get_word_before_cursor(pattern=re.compile(r"\w+"))
        session = self.conversation.session
        names = set(session.scope.every_name()) | set(KEYWORDS)
        if re.fullmatch(r"\s*(set|show|examples|full|s-op|selector)\s[\w\s-]*", typed):
            return
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


def _phrases(typed: str) -> Iterable[Completion]:
    """The next word of what can be said to the prompt."""
    if not typed:
        return
    begun = re.split(r"\s", typed)[-1]
    meanings: dict[str, str] = {}
    for phrase in COMMAND_PHRASES:
        if phrase.startswith(typed):
            rest = phrase[len(typed) - len(begun) :]
            word = rest.partition(" ")[0] + (" " if " " in rest else "")
            meanings.setdefault(word, COMMANDS.get(phrase.split()[0], "word for the prompt"))
    for word, meta in meanings.items():
        yield Completion(word, -len(begun), display_meta=meta)


def _files(begun: str) -> Iterable[Completion]:
    """Program files and folders that a path may go on to."""
    folder, name = os.path.split(begun)
    try:
        entries = sorted(os.scandir(folder or "."), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith(".") or not entry.name.startswith(name):
            continue
        if entry.is_dir():
            yield Completion(entry.name + "/", -len(name), display_meta="folder")
        elif entry.name.endswith(".rasp"):
            yield Completion(entry.name, -len(name), display_meta="program")


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
