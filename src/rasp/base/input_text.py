"""Text that a person types in, a list of tokens out: one way to write them behind every door.

| text | tokens |
|---|---|
| `abc` | its characters |
| `["ab", "c"]`, `[1, 2.5]`, `[True, 'x']` | a list, as JSON or RASP writes one |
| `"a..c"` | the characters between the quotes, whatever they are |
| `0..9`, `a..z` | a range of whole numbers, or of characters |
| `a..zA..Z_` | ranges and characters in a row: in an alphabet only |
| `one,two`, `a..z,A..Z` | words and ranges with commas: in an alphabet only, see below |

An alphabet holds each token once. There, commas separate words and ranges; in an input a comma
is a character like any other. What could be read in two ways (`a,b`, `1,2`) is refused.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import partial

from rasp.base.atoms import Atom, PythonAtom, read_input, to_python
from rasp.base.errors import RaspError, RaspLimitError, RaspTypeError, RaspValueError
from rasp.base.limits import DEFAULT_LIMITS, Limits

JSON_LIST = 'a JSON list such as ["ab", "c"]'
HELP = f"abc, 0..9, a..zA..Z or {JSON_LIST}"
"""How tokens are written, for a help text."""
NUMBERS = re.compile(r"\s*(-?[0-9]{1,30})\.\.(-?[0-9]{1,30})\s*")
CHARACTERS = re.compile(r"(\w)\.\.(\w)")
WORD_OR_RANGE = re.compile(r"\w+|-?[0-9]+\.\.-?[0-9]+|\w\.\.\w")
NUMERAL = re.compile(r"-?[0-9.]+")
LONGEST_QUOTE = 60
QUOTED = 'characters that begin with `[` or `"` go in quotes, as in "[]"'


def read_tokens(text: str, limits: Limits = DEFAULT_LIMITS) -> str | list[PythonAtom]:
    """Read an input: a list or a range as a list, anything else as a string of characters.

    >>> read_tokens("hello"), read_tokens("[1, 2]"), read_tokens('"[]"'), read_tokens("1..3")
    ('hello', [1, 2], '[]', [1, 2, 3])
    """
    if text.lstrip()[:1] in ("[", '"'):
        return _read_list(text, limits)
    tokens = _range(text, limits)
    return text if tokens is None else tokens


def read_alphabet(given: object, limits: Limits = DEFAULT_LIMITS) -> tuple[Atom, ...]:
    """Read the tokens that inputs are made of, each once; a list of atoms is taken as it is.

    >>> read_alphabet("abca"), read_alphabet("to,be"), read_alphabet("a..c,x"), read_alphabet([1])
    (('a', 'b', 'c'), ('to', 'be'), ('a', 'b', 'c', 'x'), (1,))
    """
    listed = _words(given, limits) if isinstance(given, str) else given
    if isinstance(listed, (str, list, tuple)) and not listed:
        raise RaspValueError("the alphabet is empty", hint=f"list every token: {HELP}")
    alphabet: dict[tuple[type, Atom], Atom] = {}
    for token in read_input(listed, limits):
        alphabet[type(token), token] = token
    if len({isinstance(token, str) for token in alphabet.values()}) > 1:
        raise RaspTypeError(
            "an alphabet holds strings or numbers, not both",
            hint='write "abc", or a list such as [1, 2, 3]',
        )
    return tuple(alphabet.values())


def write_tokens(tokens: tuple[Atom, ...]) -> str:
    """Write an input so that `read_tokens` reads it back.

    >>> write_tokens(("h", "i")), write_tokens(("[", "]")), write_tokens((1, 2))
    ('hi', '"[]"', '[1, 2]')
    """
    if all(isinstance(token, str) and len(token) == 1 for token in tokens):
        text = "".join(map(str, tokens))
        is_plain = text.strip()[:1] not in ("", "[", '"') and _range(text) is None
        return text if is_plain and text == text.strip() else json.dumps(text, ensure_ascii=False)
    return json.dumps([to_python(token) for token in tokens], ensure_ascii=False)


def _words(text: str, limits: Limits) -> str | list[PythonAtom]:
    """Read an alphabet's text: words and ranges with commas, or else what an input may be."""
    parts = text.split(",")
    if len(parts) == 1 or not all(WORD_OR_RANGE.fullmatch(part) for part in parts):
        is_plain = text.lstrip()[:1] not in ("[", '"') and not NUMBERS.fullmatch(text)
        has_range = is_plain and CHARACTERS.search(text)
        return _row(text, limits) if has_range else read_tokens(text, limits)
    if all(NUMERAL.fullmatch(part) and ".." not in part for part in parts):
        raise _ambiguous(text, f"[{', '.join(parts)}] for numbers, {_quoted(parts)} for words")
    if len(parts) == 2 and all(len(part) == 1 for part in parts):
        raise _ambiguous(text, f"{''.join(parts)}, or {_quoted([*parts, ','])} with the comma")
    tokens: list[PythonAtom] = []
    for part in parts:
        listed = _range(part, limits)
        tokens.extend([part] if listed is None else listed)
    return tokens


def _row(text: str, limits: Limits) -> list[PythonAtom]:
    """Read ranges of characters, and characters, in a row: `a..zA..Z_`."""
    others = CHARACTERS.sub("", text)
    if "," in others or ".." in others or not re.search(r"[^0-9.]", text):
        raise _ambiguous(text, f"characters and their ranges in a row, a..zA..Z_, or {JSON_LIST}")
    tokens: list[PythonAtom] = []
    for part in re.findall(r"\w\.\.\w|.", text, re.DOTALL):
        tokens += _span(part, ord(part[0]), ord(part[-1]), chr, limits)
    return tokens


def _ambiguous(text: str, ways: str) -> RaspError:
    return RaspValueError(f"`{_cut(text)}` can be read in two ways", hint=f"write {ways}")


def _quoted(parts: list[str]) -> str:
    return json.dumps(parts, ensure_ascii=False)


def _range(text: str, limits: Limits = DEFAULT_LIMITS) -> list[PythonAtom] | None:
    """The tokens of `0..9` or `a..z`; None where a text is not a range."""
    if ends := NUMBERS.fullmatch(text):
        low, high = int(ends[1]), int(ends[2])
        return _span(text, low, high, int, limits)
    if ends := CHARACTERS.fullmatch(text):
        return _span(text, ord(ends[1]), ord(ends[2]), chr, limits)
    return None


def _span(
    text: str, low: int, high: int, token: Callable[[int], PythonAtom], limits: Limits
) -> list[PythonAtom]:
    if low > high:
        raise RaspValueError(
            f"the range `{text.strip()}` is empty", hint="write the smaller end first: 0..9, a..z"
        )
    if high - low >= limits.input_length:
        raise RaspValueError(
            f"the range `{text.strip()}` has more than {limits.input_length} tokens",
            hint="write a shorter one",
        )
    return [token(code) for code in range(low, high + 1)]


def _read_list(text: str, limits: Limits) -> str | list[PythonAtom]:
    try:
        value = json.loads(text, parse_int=partial(_int, limits), parse_float=_float)
    except (ValueError, RecursionError):
        value = _as_rasp_writes_it(text)
    if isinstance(value, str) or _is_list_of_atoms(value):
        checked: str | list[PythonAtom] = value
        return checked
    if isinstance(value, list):
        raise RaspTypeError(
            f"`{_cut(text)}` is not a list of tokens",
            hint=f"give at least one bool, number or string; {QUOTED}",
        )
    raise RaspValueError(
        f"`{_cut(text)}` begins like a list but is not one",
        hint=f'write [1, 2] or ["a", "b"]; {QUOTED}',
    )


def _int(limits: Limits, text: str) -> int:
    try:
        return int(text)
    except ValueError:  # Python does not read so many digits
        raise RaspLimitError(
            f"a number of {len(text)} digits is over the limit of {limits.number_digits}",
            hint="work with smaller numbers",
        ) from None


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise RaspValueError(
            f"`{_cut(text)}` is too large: a float ends at about 1.8e308",
            hint="work with smaller numbers",
        )
    return value


def _as_rasp_writes_it(text: str) -> object:
    """Read `[True, 'a']`, which JSON does not know; None where it is not a list either."""
    import ast  # only lists that are not JSON come here
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python has its own opinion of "\\d"
            return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None


def _is_list_of_atoms(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, (bool, int, float, str)) for item in value)
    )


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE else text[: LONGEST_QUOTE - 1] + "…"
