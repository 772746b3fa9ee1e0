"""Syntax trees as they are compared: what they say, however it is written."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, TypeVar

from rasp.apps.fuzzing.trees import NOWHERE, name
from rasp.language.syntax import tree

T = TypeVar("T")


def bare(part: T) -> T:
    """The same tree without brackets, remarks and comments: what it says, however it is written."""
    result: Any = part
    if isinstance(part, tree.Bracketed):
        return bare(part.inner)  # type: ignore[return-value]
    if isinstance(part, tree.Command) and len(part.words) == 1 and part.argument is None:
        result = tree.Evaluate(name(part.words[0]), span=NOWHERE)  # `names;` may be either
    elif isinstance(part, tuple):
        result = tuple(bare(each) for each in part if not isinstance(each, tree.Remark))
    elif isinstance(part, tree.Tree):
        changed = {field.name: bare(getattr(part, field.name)) for field in fields(part)}
        if isinstance(part, tree.Statement):
            changed["trailing"] = None
        result = replace(part, **changed)
    return result  # type: ignore[no-any-return]
