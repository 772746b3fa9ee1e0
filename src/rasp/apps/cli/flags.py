"""Words about options of Python in, the same with flags of the shell out.

Errors speak of options as Python has them, `style="compact"`. Who typed a command reads
`--style compact`.
"""

from __future__ import annotations

import re

from rasp.base.errors import RaspError

VALUED = ("heads", "style", "extra_feed_forwards")
OPTION = re.compile(rf'`({"|".join(VALUED)})=(?:"([a-z]+)"|([0-9]+))`')
SWITCHES = {
    "with `causal=True`": "with `--causal`",
    "with `causal=False`": "without `--causal`",
    "with `sink=True`": "without `--no-sink`",
    "without `extra_feed_forwards`": "without `--extra-feed-forwards`",
}


def in_flags(words: str) -> str:
    """Write the options in a text as flags.

    >>> in_flags('compile with `causal=False`, or use `heads="split"`')
    'compile without `--causal`, or use `--heads split`'
    """
    for option, flag in SWITCHES.items():
        words = words.replace(option, flag)
    return OPTION.sub(_flag, words)


def _flag(option: re.Match[str]) -> str:
    return f"`--{option[1].replace('_', '-')} {option[2] or option[3]}`"


def speak_of_flags(error: RaspError) -> None:
    """Write the hints of an error, and of those found with it, for the shell."""
    for mistake in error.everything:
        mistake.hint = mistake.hint and in_flags(mistake.hint)
