"""Atoms in, an atom out: what the operators do that take more than a line to say.

An operator that cannot apply raises a `RaspTypeError` or `RaspValueError` without a span;
the caller knows where it happened.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from rasp.base.atoms import Atom, Number, kind_of, show, to_python
from rasp.base.errors import RaspError, RaspLimitError, RaspTypeError, RaspValueError
from rasp.base.limits import Limits
from rasp.language.operators.comparisons import COMPARE, ORDERINGS


def two_numbers(op: str, left: Atom, right: Atom) -> tuple[Number, Number]:
    if isinstance(left, str) or isinstance(right, str):
        raise _mismatch(op, left, right)
    return left, right


def _mismatch(op: str, left: Atom, right: Atom) -> RaspError:
    shown = f"{show(left)} {op} {show(right)}"
    if op.isidentifier():
        shown = f"{op}({show(left)}, {show(right)})"
    return RaspTypeError(
        f"`{op}` does not work on {_with_article(left)} and {_with_article(right)}",
        detail=shown,
        hint=_mismatch_hint(op, left, right),
    )


def _mismatch_hint(op: str, left: Atom, right: Atom) -> str:
    if isinstance(left, bool) or isinstance(right, bool):
        return (
            "comparisons, `and` and `or` give bools: to choose a value, write "
            "`x if condition else y`"
        )
    if op == "+":
        return "`+` adds two numbers or joins two strings; `tokens_int` reads tokens as numbers"
    if op == "*":
        return "`*` multiplies numbers, or repeats a string a whole number of times"
    if op in ORDERINGS:
        return "compare numbers with numbers or strings with strings; `tokens_int` reads numbers"
    return f"`{op}` needs numbers; `tokens_int` and `tokens_float` read tokens as numbers"


def _with_article(atom: Atom) -> str:
    kind = kind_of(atom)
    return f"an {kind}" if kind == "int" else f"a {kind}"


def exact(value: Number) -> int | Fraction:
    return int(value) if isinstance(value, bool) else value


def add(left: Atom, right: Atom) -> Atom:
    if isinstance(left, str) and isinstance(right, str):
        return left + right
    first, second = two_numbers("+", left, right)
    return exact(first) + exact(second)


def subtract(left: Atom, right: Atom) -> Atom:
    first, second = two_numbers("-", left, right)
    return exact(first) - exact(second)


def multiply(left: Atom, right: Atom, limits: Limits) -> Atom:
    if isinstance(left, str) and isinstance(right, int):
        return _repeat(left, int(right), limits)
    if isinstance(right, str) and isinstance(left, int):
        return _repeat(right, int(left), limits)
    first, second = two_numbers("*", left, right)
    return exact(first) * exact(second)


def _repeat(text: str, times: int, limits: Limits) -> str:
    if len(text) * times > limits.string_length:
        raise RaspLimitError(
            f"a string repeated {times} times is over the limit of "
            f"{limits.string_length} characters",
            hint="keep strings short: a token is a word, not a text",
        )
    return text * times if text and times > 0 else ""


def divide(left: Atom, right: Atom) -> Atom:
    dividend, divisor = _divisible("/", left, right)
    return Fraction(dividend) / divisor


def modulo(left: Atom, right: Atom) -> Atom:
    dividend, divisor = _divisible("%", left, right)
    return dividend % divisor


def floor_divide(left: Atom, right: Atom) -> Atom:
    dividend, divisor = _divisible("//", left, right)
    return int(dividend // divisor)


def _divisible(op: str, left: Atom, right: Atom) -> tuple[int | Fraction, int | Fraction]:
    dividend, divisor = two_numbers(op, left, right)
    if divisor == 0:
        word = "modulo" if op == "%" else "division"
        raise RaspValueError(
            f"{word} by zero",
            detail=f"{show(dividend)} {op} {show(divisor)}",
            hint="both branches of a ternary are computed at every position: make the divisor safe "
            f"itself, as in `x {op} (y if y != 0 else 1)`",
        )
    return exact(dividend), exact(divisor)


def power(left: Atom, right: Atom, limits: Limits) -> Atom:
    base, exponent = (exact(value) for value in two_numbers("^", left, right))
    if base == 0 and exponent < 0:
        raise RaspValueError(
            "zero to a negative power",
            detail=f"{show(left)} ^ {show(right)}",
            hint="zero has no inverse: make the base safe first",
        )
    if Fraction(exponent).denominator != 1:
        return _fractional_power(base, exponent)
    whole = int(exponent)
    size = max(Fraction(base).numerator.bit_length(), Fraction(base).denominator.bit_length())
    if abs(base) not in (0, 1) and size * abs(whole) > limits.number_digits * 4:
        raise RaspLimitError(
            f"{show(left)} ^ {show(right)} has more than {limits.number_digits} digits, "
            "which is over the limit",
            hint="work with smaller numbers",
        )
    if isinstance(base, int) and isinstance(exponent, int) and whole >= 0:
        return int(base**whole)
    return Fraction(base) ** whole


def _fractional_power(base: int | Fraction, exponent: int | Fraction) -> Fraction:
    """The one inexact operation: a double, kept exactly as it comes out."""
    if base < 0:
        raise RaspValueError(
            "a negative number to a fractional power",
            detail=f"{show(base)} ^ {show(exponent)}",
            hint="make the base positive first",
        )
    try:
        return Fraction(float(to_python(base)) ** float(to_python(exponent)))
    except OverflowError:
        raise RaspValueError(
            f"{show(base)} ^ {show(exponent)} is too large", hint="work with smaller numbers"
        ) from None


def equal(left: Atom, right: Atom) -> Atom:
    return left == right


def unequal(left: Atom, right: Atom) -> Atom:
    return left != right


def ordered(op: str) -> Callable[[Atom, Atom], Atom]:
    """A comparison that orders two numbers or two strings."""
    holds = COMPARE[op]

    def compare(left: Atom, right: Atom) -> Atom:
        if isinstance(left, str) and isinstance(right, str):
            return bool(holds(left, right))
        return bool(holds(*two_numbers(op, left, right)))

    return compare


def one_number(op: str, value: Atom) -> Number:
    if isinstance(value, str):
        raise RaspTypeError(
            f"`{op}` needs a number, but {show(value)} is a string",
            hint="`tokens_int` and `tokens_float` read tokens as numbers",
        )
    return value


def absolute(value: Atom) -> Atom:
    number = exact(one_number("abs", value))
    return -number if number < 0 else number


def to_int(value: Atom, limits: Limits) -> Atom:
    if isinstance(value, str):
        return int(_read_number(value, "an int", "0123456789+-_", limits))
    return int(value)


def to_float(value: Atom, limits: Limits) -> Atom:
    if isinstance(value, str):
        return Fraction(_read_number(value, "a float", "0123456789+-_.eE", limits))
    return Fraction(value)


def _read_number(text: str, wanted: str, allowed: str, limits: Limits) -> Fraction:
    """Read digits as Python does; a huge exponent is refused before it is multiplied out."""
    plain = text.strip()
    try:
        if len(plain) > limits.number_digits or not set(plain) <= set(allowed):
            raise ValueError
        if abs(int(plain.lower().partition("e")[2] or 0)) > limits.number_digits:
            raise ValueError
        return Fraction(plain)
    except (ValueError, ZeroDivisionError):
        raise RaspValueError(
            f"{show(text)} cannot be read as {wanted}",
            hint="`tokens_int` and `tokens_float` need tokens that are numbers",
        ) from None


def to_string(value: Atom) -> Atom:
    return value if isinstance(value, str) else show(value)


def at(index: Atom, *items: Atom) -> Atom:
    """List look-up: `items[index]`, negative from the end."""
    if not isinstance(index, int):
        raise RaspTypeError(
            f"a list is indexed by ints, but the index here is {show(index)}",
            hint="`round(x)`, `floor(x)` and `x // 2` give ints; a dict takes any atom as its key",
        )
    if not -len(items) <= index < len(items):
        raise RaspValueError(
            f"index {show(index)} is out of range for {len(items)} items",
            hint="use `%` with the list's length to stay inside it",
        )
    return items[index]


def lookup(key: Atom, *pairs: Atom) -> Atom:
    """Dict look-up: `pairs` alternates keys and values."""
    for candidate, value in zip(pairs[::2], pairs[1::2], strict=True):
        if candidate == key:
            return value
    raise RaspValueError(
        f"the dict has no key {show(key)}", hint="add the key, or guard the index with `in`"
    )
