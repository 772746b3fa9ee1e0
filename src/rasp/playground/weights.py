"""A program's s-op, a vocabulary and a length in, its compiled transformer described out."""

from __future__ import annotations

from typing import Any

from rasp.errors import RaspUnsupportedError


def weights(request: dict[str, Any]) -> dict[str, Any]:
    """Compile an s-op and compare what the model does on the example with the selections."""
    raise RaspUnsupportedError("weights are not here yet", hint="look at the other tabs")
