"""Nodes and a program in, words for people out: their own names, short expressions, lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rasp.base.source import INPUT
from rasp.language.graph import Elementwise, Node, Program, expression, users
from rasp.language.graph.walks import first_user

LONGEST = 60
DEPTH = 4


@dataclass(frozen=True)
class Naming:
    """How to speak about the nodes that some outputs need."""

    outputs: tuple[Node, ...]
    program: Program

    def label(self, node: Node, longest: int = LONGEST) -> str:
        """Return a node's name, or else what it computes, cut short."""
        name = self.program.names.get(node)
        return name or shortened(expression(node, self.program.names, depth=DEPTH), longest)

    def purpose(self, node: Node) -> str:
        """Return what a person would know an attention by: its name, or what it is a step of.

        `selector_width` uses two aggregates to make one s-op: both are known by that s-op's name.
        """
        own = self._nearest_name(node, Elementwise)
        if own is not None:
            return own
        later = self._nearest_name(node, Node)
        return self.label(node) if later is None else f"a step of {later}"

    def quoted(self, node: Node) -> str:
        """Return the purpose with its name marked as the program's own words."""
        purpose = self.purpose(node)
        step = "a step of "
        return f"{step}`{purpose[len(step) :]}`" if purpose.startswith(step) else f"`{purpose}`"

    def _nearest_name(self, node: Node, through: type[Node]) -> str | None:
        """The name of the node, or of the first user that has one, by way of one sort of user."""
        nearest = first_user(node, self._needed_by[through], self.program.names)
        return None if nearest is None else self.program.names[nearest]

    def line(self, node: Node) -> str:
        """Return where a node was written, as `file:line`, or nothing where that is not known.

        Of what was typed as a single line, as at a prompt, `<input>:1` would say nothing.
        """
        span = self.program.origins.get(node)
        is_typed = span is not None and span.source.name == INPUT
        if span is None or (is_typed and "\n" not in span.source.text.strip()):
            return ""
        return f"{span.source.name}:{span.line}"

    def text(self, node: Node) -> str:
        """Return the words of the program that made a node, or else what it computes."""
        span = self.program.origins.get(node)
        if span is None:
            return self.label(node)
        return shortened(" ".join(span.text.split()))

    def results(self, work: Sequence[Node]) -> list[str]:
        """Return the names of what a feed-forward makes; unnamed steps on the way are left out."""
        named = [self.program.names[node] for node in work if node in self.program.names]
        return named or [self.label(node, 40) for node in work[-1:]]

    @cached_property
    def _needed_by(self) -> dict[type[Node], dict[Node, list[Node]]]:
        """The users of each node: those of one sort, by the sort."""
        return {
            sort: {node: [user for user in used_by if isinstance(user, sort)]
                   for node, used_by in users(self.outputs).items()}
            for sort in (Elementwise, Node)
        }  # fmt: skip


def shortened(text: str, longest: int = LONGEST) -> str:
    """Cut a text in the middle where it is too long for a line.

    >>> shortened("select(tokens, tokens, ==)", 16)
    'select(tok… ==)'
    """
    if len(text) <= longest:
        return text
    tail = (longest - 2) // 3
    return f"{text[: longest - 2 - tail]}… {text[-tail:].lstrip()}"
