"""Functions and classes in, the same out, with errors that show the caller's own lines alone.

A `RaspError` says what is wrong with a program; how we found out is nobody's concern. Where one
leaves through a public door, its traceback is cut there. Python adds no entry for a function that
raises again what it has just caught, so not even the door is seen. Errors of other kinds are
mistakes of ours and keep everything.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

from rasp.base.errors import RaspError

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])
AnyClass = TypeVar("AnyClass", bound=type)


def door(function: AnyFunction) -> AnyFunction:
    """Return the same function; its errors show nothing of what happened inside.

    >>> import traceback
    >>> def inside():
    ...     raise RaspError("no")
    >>> try:
    ...     door(inside)()
    ... except RaspError as error:
    ...     [entry.name for entry in traceback.extract_tb(error.__traceback__)]
    ['<module>']
    """

    @wraps(function)
    def opened(*arguments: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        try:
            return function(*arguments, **options)
        except RaspError as error:
            error.__traceback__ = error.__cause__ = None
            error.__suppress_context__ = True
            raise
        except TypeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is None:
                error.__traceback__ = None  # the call itself was wrong: an argument is missing
            raise

    return opened  # type: ignore[return-value]


def doors(kind: AnyClass) -> AnyClass:
    """Make a door of every method that a class defines, operators included."""
    for name, member in list(vars(kind).items()):
        if isinstance(member, FunctionType) and name not in ("__init__", "__repr__", "__str__"):
            setattr(kind, name, door(member))
    return kind
