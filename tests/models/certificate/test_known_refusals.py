"""Right models that the checker refuses, since its bounds or rules do not reach them yet.

Two sums over the same counts are looked at as if each could be off by itself.
"""

from __future__ import annotations

from typing import Any

import pytest

import rasp
from rasp.base.errors import RaspUnsupportedError

WIDTH = "c = selector_width(select(tokens, tokens, ==)); "
REFUSED: dict[str, tuple[str, Any, int]] = {
    "two sums": (WIDTH + "out = (c - indices) * (c + indices) % (c + 1);", "ab", 12),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_proved_is_not_handed_out(name: str) -> None:
    text, alphabet, length = REFUSED[name]
    with pytest.raises(RaspUnsupportedError, match="no margin"):
        rasp.compile(rasp.run(text)["out"], alphabet=alphabet, max_length=length, style="compact")
