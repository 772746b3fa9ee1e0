"""Why a program cannot be compiled: reasons are gathered, then raised together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from rasp.base.errors import RaspUnsupportedError
from rasp.base.source import Span
from rasp.language.graph import Node, Program, expression, users
from rasp.language.graph.walks import first_user


class Refusal(Exception):
    """Something that cannot be compiled, on its way to the list of reasons."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class TooMuchToCheck(Refusal):
    """A refusal of what could be written, but takes the checker too long."""


class UnprovedError(RaspUnsupportedError):
    """There are weights, or could be, but no proof: such a model can be tested."""


class TooLarge(Refusal):
    """A refusal of numbers that float32 does not hold, or Python's own floats."""

    def __init__(self) -> None:
        super().__init__(
            "some of its numbers are too large for float32", "work with smaller numbers"
        )


@dataclass
class Refusals:
    """The reasons found so far, each at the node that is to blame."""

    program: Program
    outputs: Sequence[Node] = ()
    reasons: dict[Node, Refusal] = field(default_factory=dict)
    tainted: dict[Node, Refusal] = field(default_factory=dict)
    """What was refused, whether or not that is a reason, and why."""

    def add(self, node: Node, refusal: Refusal) -> Refusal:
        """Record a reason, unless it only repeats that a needed node was refused."""
        follows = any(needed in self.tainted for needed in node.needs)
        if not follows and refusal not in self.reasons.values():
            self.reasons.setdefault(node, refusal)
        self.tainted.setdefault(node, refusal)
        return refusal

    @contextmanager
    def blaming(self, node: Node) -> Iterator[None]:
        """Record a refusal as a reason at a node, and go on."""
        try:
            yield
        except Refusal as refusal:
            self.add(node, refusal)

    def check(self, node: Node) -> None:
        """Raise again where the node was refused before."""
        if node in self.tainted:
            raise self.tainted[node]

    def raise_all(self) -> None:
        """Raise one error that holds every reason."""
        is_open = all(isinstance(refusal, TooMuchToCheck) for refusal in self.reasons.values())
        kind = UnprovedError if is_open else RaspUnsupportedError
        errors = [
            kind(
                f"`{self.text(node)}` cannot be compiled exactly: {refusal.message}",
                self.origin(node),
                refusal.hint,
            )
            for node, refusal in self.reasons.items()
        ]
        if errors:
            errors[0].others = tuple(errors[1:])
            raise errors[0]

    def text(self, node: Node) -> str:
        """A node as its program names it, or its expression, shortened."""
        return self.program.names.get(node) or expression(node, self.program.names, depth=3)

    def origin(self, node: Node) -> Span | None:
        """Where a node comes from; for one made by the library, where the library was used."""
        user = first_user(node, self._users, self.program.origins)
        return None if user is None else self.program.origins[user]

    @cached_property
    def _users(self) -> Mapping[Node, Sequence[Node]]:
        return users(self.outputs)
