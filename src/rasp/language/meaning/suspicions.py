"""Warnings of values that are legal and most likely not meant: a text instead of an s-op.

A text is a constant: the same at every position, whatever the input is. The paper writes
`hist("hello")` where `hist` is an s-op; with a function in its place the answer is a constant.
"""

from __future__ import annotations

from collections.abc import Sequence

from rasp.base.atoms import show
from rasp.base.errors import Warned
from rasp.base.source import Span
from rasp.language.graph import Const, Elementwise, Node, Select, Tokens, TokensAs
from rasp.language.meaning.value_kinds import BuiltIn, Function, Value
from rasp.language.syntax import tree

Arguments = Sequence[tuple[tree.Argument, Value]]

SEQUENCES = ("seq", "vals", "keys", "bools")
"""Parameters of the library: a constant text makes no sense there."""
TRUTHS = ("bools",)
"""Parameters of the library that are asked whether they are true."""
CONDITIONS = {"if": (0,), "indicator": (0,), "not": (0,), "and": (0, 1), "or": (0, 1)}
"""Which operands of an operator are asked whether they are true."""


def compares_texts(node: Value) -> bool:
    """Tell a selector that compares a constant text with another: the input plays no part.

    >>> compares_texts(Select(Const("hello"), Const("hello"), "=="))
    True
    """
    return isinstance(node, Select) and all(
        isinstance(side, Const) and isinstance(side.value, str) for side in node.needs
    )


def text_for_s_op(
    function: Function | BuiltIn, arguments: Arguments, span: Span, compared: bool, is_inner: bool
) -> Warned | None:
    """Warn of a call with a text where an s-op is meant, such as `histf("hello")`.

    `compared` says that the call compared texts with each other, `is_inner` that it is part of
    another call, whose own texts are checked there.
    """
    texts: Arguments = [pair for pair in arguments if isinstance(pair[1], str)]
    is_literal = any(isinstance(argument.value, tree.Literal) for argument, _ in texts)
    if not texts or (is_inner and not is_literal):
        return None
    if isinstance(function, Function) and function.is_library:
        texts = _sequences(function, arguments)
        compared = compared or any(len(text) > 1 for _, text in texts)
    if not texts or not compared:
        return None
    given = show(texts[0][1])
    return Warned(
        f"{given} is a text here, the same at every position whatever the input is",
        span,
        f"to apply it to that input, write `{_with_tokens(span, texts)}({given})`",
    )


def _sequences(function: Function, arguments: Arguments) -> Arguments:
    """The texts that a library function got for a sequence."""
    names = [
        argument.keyword or name
        for (argument, _), name in zip(arguments, function.parameters, strict=False)
    ]
    pairs = zip(names, arguments, strict=True)
    return [pair for name, pair in pairs if name in SEQUENCES and isinstance(pair[1], str)]


def _with_tokens(span: Span, texts: Arguments) -> str:
    """Write a call with `tokens` instead of its texts."""
    text, offset = span.text, span.start
    for argument, _ in sorted(texts, key=lambda pair: -pair[0].value.span.start):
        inner = argument.value.span
        text = text[: inner.start - offset] + "tokens" + text[inner.end - offset :]
    return text


def text_as_condition(value: Value, span: Span) -> Warned | None:
    """Warn of an operator that asks whether the input's tokens are true, as `1 if tokens else 0`.

    >>> from rasp.base.source import Source
    >>> asked = Elementwise("indicator", (Tokens(),))
    >>> text_as_condition(asked, Span(Source("demo", "indicator(tokens)"), 0, 17)).message
    '`tokens` is not a condition: every text except the empty one is true'
    """
    if not isinstance(value, Elementwise):
        return None
    asked = [value.operands[place] for place in CONDITIONS.get(value.op, ())]
    return _condition(next(filter(is_text, asked), None), span)


def text_for_bools(function: Function, bound: dict[str, Value], span: Span) -> Warned | None:
    """Warn of the input's tokens where a library function takes bools, as `num_prevs(tokens)`."""
    asked = [bound.get(name) for name in TRUTHS] if function.is_library else []
    return _condition(next(filter(is_text, asked), None), span)


def is_text(node: Value) -> bool:
    """Tell the s-ops that hold the tokens of a text as they are."""
    return isinstance(node, Tokens) or (isinstance(node, TokensAs) and node.kind == "string")


def _condition(asked: Node | None, span: Span) -> Warned | None:
    if asked is None:
        return None
    name = "tokens" if isinstance(asked, Tokens) else "tokens_str"
    return Warned(
        f"`{name}` is not a condition: every text except the empty one is true",
        span,
        f'compare it, as in `{name} == "a"`; if the input holds bools, write `tokens_bool`',
    )
