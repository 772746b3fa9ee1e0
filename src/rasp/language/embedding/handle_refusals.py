"""A wrong use of a handle in, the error that shows the right way out.

The values of a handle are not there yet, so what Python wants to know at once (is it
true? how long is it? what is in it?) has no answer. And what RASP says in its own words, Python
says in others: `&` for `and`, `**` for `^`.
"""

from __future__ import annotations

from rasp.base.atoms import describe, kind_name
from rasp.base.errors import RaspError, RaspTypeError
from rasp.language.embedding.python_places import calling_place
from rasp.language.graph import Node, Selector, SOp

PYTHON_WORDS = {
    "and": "&",
    "or": "|",
    "not": "~",
    "^": "**",
    "select(x, True, ==)": 'select(x, True, "==")',
    "select(keys, queries, ==)": 'select(keys, queries, "==")',
    "select(tokens, tokens, ==)": 'select(tokens, tokens, "==")',
    "tokens in ['a', 'b']": "tokens.is_in(['a', 'b'])",
}


MIXED_HINT = (
    "a selector joins only selectors: `select(condition, True, '==')` picks the keys where an "
    "s-op is true; `aggregate` turns a selector into an s-op"
)


def in_python_words(error: RaspError) -> RaspError:
    """Say in Python's words what went wrong while a program was built, and point at the place."""
    error.words = PYTHON_WORDS
    return at_the_caller(error)


def at_the_caller(error: RaspError) -> RaspError:
    """Point an error at the Python expression that led to it."""
    if error.span is None and (place := calling_place()) is not None:
        error.span = place.span
    return error


REFUSED = {
    "composition": (
        "is applied to an input, but this is a handle",
        "give it a string or a list; to compose programs, write a Python function of s-ops",
    ),
    "hash": (
        "cannot be a key of a dict or a member of a set, because `==` on it builds a program",
        "use `handle.node`: equal programs are one node",
    ),
    "items": (
        "has no items before it meets an input",
        "apply it first: `for value in s_op('hello'): …`; RASP has no loops over the input",
    ),
    "length": (
        "has no length before it meets an input",
        "the s-op `length` holds how many tokens the input has: `from rasp import length`",
    ),
    "index": (
        "is not one whole number that Python could use",
        "to index at each position, write `table(['x', 'y'])[indices % 2]`",
    ),
    "number": (
        "is not one number that Python could convert",
        "`math.trunc(x)` and `round(x)` make ints at every position; `tokens_int`, "
        "`tokens_float` and `tokens_str` read the input as another kind",
    ),
    "digits": (
        "is rounded to whole numbers only",
        "write `round(x)`, or `round(x * 100) / 100` for two digits",
    ),
    "slice": (
        "keeps its length: it cannot be cut",
        "index one position, `s_op[0]`, or move with `rasp.lib.shift(s_op, 1)`",
    ),
    "power sign": (
        "cannot be used with Python's `^`",
        "write `x ** 2` for the power that RASP calls `^`",
    ),
}
"""What Python may ask of a handle: why there is no answer, and what to write instead."""


def no(asked: str, node: Node) -> RaspError:
    """Refuse what has no answer before there is an input."""
    return _refuse(node, *REFUSED[asked])


def _refuse(node: Node, message: str, hint: str) -> RaspError:
    return at_the_caller(RaspTypeError(f"{describe(node)} {message}", hint=hint))


def no_truth(node: Node) -> RaspError:
    """`if tokens == "a":`, `a and b`, `not a`, `0 < a < 9`, `tokens in ["a"]`."""
    place = calling_place()
    if isinstance(node, SOp) and place is not None and place.operation == "CONTAINS_OP":
        return _refuse(
            node,
            "is neither in a list nor outside it before it meets an input",
            "ask at each position: `tokens.is_in(['a', 'b'])`",
        )
    if isinstance(node, SOp):
        hint = (
            "choose at each position with `where(tokens == 'a', x, y)`; write `&`, `|`, `~` for "
            "`and`, `or`, `not`, and `(0 < x) & (x < 9)` for `0 < x < 9`"
        )
    elif isinstance(node, Selector):
        hint = "write `&`, `|`, `~` for `and`, `or`, `not`: `select(…) & ~select(…)`"
    else:
        hint = "a scorer is only an argument of `select_best`"
    return _refuse(node, "is neither true nor false before it meets an input", hint)


def no_members(node: Node) -> RaspError:
    hint = "ask for all positions at once with `contains(tokens, 'a')`"
    if not isinstance(node, SOp):
        hint = f"apply the {kind_name(node)} to an input and look at its rows"
    return _refuse(node, "contains nothing before it meets an input", hint)


def no_loose_atom(node: Node, sign: str, value: object) -> RaspError:
    """`tokens == "a" & x`: in Python, `&` binds tighter than `==`."""
    return _refuse(
        node,
        f"is joined by `{sign}` with {value!r}, which is neither true nor false",
        f"`{sign}` binds tighter than `==` in Python: put brackets around comparisons, as in "
        f"`(tokens == 'a') {sign} (indices > 0)`",
    )
