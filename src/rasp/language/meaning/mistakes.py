"""A program text in, every mistake and every warning out: what `rasp check` and editors show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rasp.base.errors import RaspError, RaspNameError, Warned
from rasp.base.source import Source
from rasp.language.meaning.elaborate import BrokenName
from rasp.language.meaning.session import Session
from rasp.language.syntax import parse_with_errors
from rasp.language.syntax.bindings import bindings_of
from rasp.language.syntax.lint import misreadings, unused
from rasp.language.syntax.tree import Define, Statement, walk


def check(source: Source, session: Session | None = None) -> tuple[list[RaspError], list[Warned]]:
    """Find every mistake of a program and everything worth a warning, in source order.

    >>> errors, warnings = check(Source("demo", "x = -2 ^ 2; y = z;"))
    >>> [error.message for error in errors], [warned.message for warned in warnings]
    (['`z` is not defined'], ['the 2021 REPL reads `-2 ^ 2` as `(-2) ^ 2`'])
    """
    session = session or Session()
    _, errors = session.check(source)
    statements, _ = parse_with_errors(source, session.limits)
    errors = [*errors, *_in_functions(statements, session, errors)]
    if all(error.span is None or error.span.source is source for error in errors):
        errors.sort(key=lambda error: error.span.start if error.span else 0)
    return errors, warnings_of(statements, session, errors)


def _in_functions(
    statements: tuple[Statement, ...], session: Session, errors: Sequence[RaspError]
) -> Iterator[RaspError]:
    """Names that a function would look for in vain, also where nobody has called it."""
    told = {error.span.start for error in errors if error.span}
    functions = [node.span for whole in statements for node in walk(whole)
                 if isinstance(node, Define)]  # fmt: skip
    for name in bindings_of(statements).unknown:
        if name.start in told or not any(span.start < name.start < span.end for span in functions):
            continue
        try:
            session.elaborator.look_up(name.name, session.scope)
        except RaspNameError as error:
            yield error.located(name.span)
        except BrokenName:
            return  # a file that would define it could not be loaded


def warnings_of(
    statements: tuple[Statement, ...], session: Session, errors: Sequence[RaspError]
) -> list[Warned]:
    """Everything worth a warning in a program that a session has run, in source order.

    What is never used is told only of a program without errors: others are not finished.
    """
    warnings = [warned for statement in statements for warned in misreadings(statement)]
    warnings += session.warnings
    if not errors:
        warnings += unused(statements)
    return sorted(warnings, key=lambda warned: warned.span.start)
