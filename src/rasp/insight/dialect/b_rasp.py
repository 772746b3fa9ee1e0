"""A program in B-RASP, line by line.

B-RASP (Yang, Chiang and Angluin, *Masked Hard-Attention Transformers Recognize Exactly the
Star-Free Languages*, 2024) has truths alone. A head looks at the leftmost or the rightmost of
the positions before (or after) its own that have a truth, and gives the truth of another line
there, or a default where there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from rasp.insight.dialect.named_lines import Lines, Truth


class BRasp(Lines):
    """A program in B-RASP under construction: every line is written once.

    >>> program = BRasp()
    >>> a = program.letter("a")
    >>> print(program.text({"a_before": program.some_before(a)}))
    P1(i) := true
    P2(i) := false
    P3(i) := "a"(i)
    P4(i) := rightmost j [j < i, P3(j)] P1(j) : P2(i)
    a_before(i) := P4(i)
    """

    letters: ClassVar[dict[str, str]] = Lines.letters | {"attend": "P"}

    def attend(self, side: str, mask: str, where: Truth, value: Truth, default: Truth) -> Truth:
        """The value at the leftmost or rightmost position before or after that has a truth.

        `side` is `leftmost` or `rightmost`, `mask` is `<` (before) or `>` (after).
        """
        if where == self.false:
            return default
        return Truth(self._line("attend", side, mask, where, value, default))

    def some_before(self, truth: Truth) -> Truth:
        """Whether an earlier position has a truth."""
        return self.attend("rightmost", "<", truth, self.true, self.false)

    def some_after(self, truth: Truth) -> Truth:
        """Whether a later position has a truth."""
        return self.attend("leftmost", ">", truth, self.true, self.false)

    def _parts(self, place: int) -> list[int]:
        parts = super()._parts(place)
        return parts[2:] if self._lines[place][0] == "attend" else parts

    def _body(self, place: int, names: Mapping[int, str]) -> str:
        match self._lines[place]:
            case ("attend", side, mask, where, value, default):
                return (
                    f"{side} j [j {mask} i, {names[where]}(j)] {names[value]}(j) : "
                    f"{names[default]}(i)"
                )
        return super()._body(place, names)
