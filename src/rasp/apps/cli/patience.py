"""Something that takes long in, a line on the terminal out that says what, and for how long."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from rasp.base.limits import Limits, within_seconds
from rasp.base.progress import ProgressBar

LONGEST = 70


@contextlib.contextmanager
def working(what: str, limits: Limits | None = None) -> Iterator[ProgressBar]:
    """Say on a terminal what is being done, and how far it is, once it takes two seconds.

    The work may report its progress to what `with` gives. Nothing may be printed meanwhile: the
    line is taken away at the end. With `limits`, it may take so many seconds, whether it looks at
    the clock or not.
    """
    bounded = within_seconds(limits) if limits else contextlib.nullcontext()
    with bounded, ProgressBar(what[:LONGEST]) as progress:
        yield progress
