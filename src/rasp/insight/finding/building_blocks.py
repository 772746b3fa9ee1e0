"""What a user gives a search to build with: definitions of their own, or a program to look near.

Every s-op and selector in there is one word to the search, and so is every function of one s-op,
applied to `tokens` and to `indices`.
"""

from __future__ import annotations

from dataclasses import dataclass

from rasp.base.atoms import Atom
from rasp.base.errors import RaspError
from rasp.insight.schedule import schedule
from rasp.language.embedding.handles import Handle
from rasp.language.embedding.namespace import run
from rasp.language.embedding.program_text import to_rasp
from rasp.language.graph import Const, Selector, SOp, in_order


@dataclass(frozen=True)
class BuildingBlock:
    """One word: how it is written, what it computes, and its layers and heads."""

    text: str
    handle: Handle
    level: int
    heads: int

    @property
    def is_selector(self) -> bool:
        return isinstance(self.handle.node, Selector)


@dataclass(frozen=True)
class Blocks:
    """Building blocks, the text that defines them, and the atoms that they write."""

    text: str = ""
    blocks: tuple[BuildingBlock, ...] = ()
    constants: tuple[Atom, ...] = ()
    is_whole: bool = False
    """Whether the text is a program to look near, of which an answer keeps only what it uses."""

    @classmethod
    def of(cls, using: str, like: Handle | None) -> Blocks:
        """Read what a user gave.

        >>> [block.text for block in Blocks.of("def twice(x) { return x + x; }", None).blocks]
        ['twice(tokens)', 'twice(indices)']
        """
        texts, constants = [using] if using else [], []
        if like is not None:
            nodes = [node for node in in_order([like.node]) if isinstance(node, (SOp, Selector))]
            constants = [node.value for node in nodes if isinstance(node, Const)]
            parts = {f"part{number}": Handle(node) for number, node in enumerate(nodes)
                     if node.needs}  # fmt: skip
            texts.append(to_rasp(parts) if parts else "")
        text = "\n".join(texts)
        return cls(text, tuple(_blocks(text)), tuple(constants), like is not None)


def _blocks(text: str) -> list[BuildingBlock]:
    names = run(text) if text else {}
    written = [
        *names,
        *(f"{name}({base})" for name, value in names.items() if callable(value)
          and not isinstance(value, Handle) for base in ("tokens", "indices")),
    ]  # fmt: skip
    return [block for name in written if (block := _block(text, name)) is not None]


def _block(text: str, name: str) -> BuildingBlock | None:
    """One block; None where it is not an s-op or selector, or cannot be made."""
    try:
        handle = run(f"{text}\n_block = {name};\nblock = _block;")["block"]
    except RaspError:
        return None
    if not isinstance(handle, Handle) or not isinstance(handle.node, (SOp, Selector)):
        return None
    placed = schedule(handle)
    return BuildingBlock(name, handle, placed.layers, sum(placed.heads_per_layer))
