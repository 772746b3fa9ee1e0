"""Program text in, its names as Python holds them out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any

from rasp.base.atoms import describe_foreign
from rasp.base.errors import RaspNameError, RaspTypeError
from rasp.base.limits import DEFAULT_LIMITS, Limits
from rasp.base.source import INPUT, Source
from rasp.base.tracebacks import doors
from rasp.language.embedding.function_handles import to_handle
from rasp.language.meaning.loader import LoadFrom, loader_of
from rasp.language.meaning.session import Session


class UnknownName(RaspNameError, KeyError):
    """A name that a program does not define: a `KeyError` too, as mappings raise."""


@doors
class Namespace(Mapping[str, Any]):
    """The names of a program that has run. Library names can be looked up, but are not listed."""

    def __init__(self, session: Session, limits: Limits | None = None) -> None:
        self.session = session
        self.limits = limits
        """The budgets of what is applied: those of the text, less the time that it took."""

    def __getitem__(self, name: str) -> Any:
        try:
            return to_handle(
                self.session.find(name),
                self.session,
                self.session.program_of(name),
                limits=self.limits,
            )
        except RaspNameError as error:
            raise UnknownName(error.message, hint=error.hint) from None

    def __contains__(self, name: object) -> bool:
        return name in self.session.names()

    def __iter__(self) -> Iterator[str]:
        return iter(self.session.names())

    def __len__(self) -> int:
        return len(self.session.names())

    def __repr__(self) -> str:
        return f"<names: {', '.join(self) or 'none'}>"


def run(
    source_text: str, name: str = INPUT, limits: Limits = DEFAULT_LIMITS, load: LoadFrom = True
) -> Namespace:
    """Run a program text and return its names.

    `load "file";` reads inside the current folder (inside that of `name`, where it is a path).
    `load=False` switches it off; a folder, or a list of them, is allowed besides.

    >>> run("double = tokens + tokens;")["double"]("abc")
    ['aa', 'bb', 'cc']
    >>> run('load "tools";', load=False)
    Traceback (most recent call last):
    ...
    rasp.base.errors.RaspUnsupportedError: error: `load` is switched off here
    ...
    """
    if not isinstance(source_text, str) or _names_a_file(source_text):
        raise RaspTypeError(
            f"`run` takes a program's text, but this is {_what_it_is(source_text)}",
            hint="to run a file, load it: `rasp.run('load \"first.rasp\";')`",
        )
    session = Session(limits, loader_of(load))
    session.run(Source(name, source_text))
    rest = session.rest()
    is_quick = limits is DEFAULT_LIMITS and rest.spent < 1
    return Namespace(session, None if is_quick else rest)


def _names_a_file(text: str) -> bool:
    return text.endswith(".rasp") and "#" not in text and "\n" not in text


def _what_it_is(given: object) -> str:
    return "the name of a file" if isinstance(given, str | PathLike) else describe_foreign(given)
