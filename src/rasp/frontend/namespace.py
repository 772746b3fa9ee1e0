"""Program text in, its names as Python holds them out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rasp.errors import RaspNameError
from rasp.frontend.functions import to_handle
from rasp.frontend.session import Session
from rasp.limits import DEFAULT_LIMITS, Limits
from rasp.source import Source


class Namespace(Mapping[str, Any]):
    """The names of a program that has run. Library names can be looked up, but are not listed."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def __getitem__(self, name: str) -> Any:
        try:
            return to_handle(self.session.find(name), self.session)
        except RaspNameError as error:
            raise KeyError(f"{name}: {error.message} ({error.hint})") from None

    def __contains__(self, name: object) -> bool:
        return name in self.session.names()

    def __iter__(self) -> Iterator[str]:
        return iter(self.session.names())

    def __len__(self) -> int:
        return len(self.session.names())

    def __repr__(self) -> str:
        return f"<names: {', '.join(self) or 'none'}>"


def run(source_text: str, name: str = "<input>", limits: Limits = DEFAULT_LIMITS) -> Namespace:
    """Run a program text and return its names.

    >>> run("double = tokens + tokens;")["double"]("abc")
    ['aa', 'bb', 'cc']
    """
    session = Session(limits)
    session.run(Source(name, source_text))
    return Namespace(session)
