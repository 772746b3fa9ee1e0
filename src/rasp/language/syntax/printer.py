"""A syntax tree in, formatted text out: `parse(print_program(tree)) == tree`.

`rasp fmt` is this printer (`format_program`). Comments and the brackets people wrote are kept; a
line that would be too long is broken at its outermost brackets or operators.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from rasp.base.atoms import quote, show_literal
from rasp.base.limits import DEFAULT_LIMITS, Limits
from rasp.base.source import Source
from rasp.language.syntax import tree
from rasp.language.syntax.parser import parse
from rasp.language.words import ATOM, BINDING, NOT, OR, SIGN, TERNARY

WIDTH = 88
INDENT = "    "


def print_program(statements: Iterable[tree.Statement]) -> str:
    """Lay a whole program out.

    >>> from rasp.base.source import Source
    >>> from rasp.language.syntax.parser import parse
    >>> print_program(parse(Source("demo", "a=1;b  = a+1 ;")))
    'a = 1;\\nb = a + 1;\\n'
    """
    lines = _block(tuple(statements), "")
    return "\n".join(lines) + "\n" if lines else ""


def _block(statements: tuple[tree.Statement, ...], indent: str) -> list[str]:
    every_statement = [_statement(statement, indent) for statement in statements]
    columns = _comment_columns(statements, [written[-1] for written in every_statement])
    lines: list[str] = []
    for number, (statement, written) in enumerate(zip(statements, every_statement, strict=True)):
        if statement.blank_before and number:
            lines.append("")
        if statement.trailing:
            written[-1] = f"{written[-1]:{columns[number]}}{statement.trailing}"
        lines += written
    return lines


def _comment_columns(
    statements: tuple[tree.Statement, ...], last_lines: list[str]
) -> dict[int, int]:
    """Where the comment after each statement goes: a column of comments stays where it was.

    It moves right as a whole where a line has become too long for it. A comment that is alone
    and one blank away stays one blank away.
    """
    columns: dict[int, int] = {}
    commented = [number for number, statement in enumerate(statements) if statement.trailing]
    for column, run in groupby(commented, key=lambda number: statements[number].trailing_column):
        together = list(run)
        longest = max(len(last_lines[number]) for number in together)
        if all(statements[number].trailing_gap < 2 for number in together):
            columns.update((number, len(last_lines[number]) + 1) for number in together)
        else:
            columns.update(dict.fromkeys(together, max(column, longest + 1)))
    return columns


def _statement(statement: tree.Statement, indent: str) -> list[str]:
    match statement:
        case tree.Remark(text):
            return [indent + text]
        case tree.Assign(targets, value):
            names = ", ".join(target.name for target in targets)
            return _laid_out(f"{names} = ", value, indent)
        case tree.Evaluate(expression):
            return _laid_out("", expression, indent)
        case tree.Return(value):
            return _laid_out("return ", value, indent)
        case tree.Load(path):
            return [f"{indent}load {quote(path)};"]
        case tree.Command(words, argument):
            after = f" {print_expression(argument)}" if argument else ""
            return [f"{indent}{' '.join(words)}{after}"]
        case tree.Define(name, parameters, body):
            given = ", ".join(_parameter(parameter) for parameter in parameters)
            return _braced(f"{indent}def {name.name}({given})", body, indent)
        case tree.For(targets, source, body):
            names = ", ".join(target.name for target in targets)
            return _braced(f"{indent}for {names} in {print_expression(source)}", body, indent)
    raise AssertionError(f"no way to print {type(statement).__name__}")


def _braced(head: str, body: tuple[tree.Statement, ...], indent: str) -> list[str]:
    if not body:
        return [head + " {}"]
    return [head + " {", *_block(body, indent + INDENT), indent + "}"]


def _parameter(parameter: tree.Parameter) -> str:
    if parameter.default is None:
        return parameter.name
    return f"{parameter.name}={print_expression(parameter.default)}"


def _laid_out(start: str, value: tree.Expression, indent: str) -> list[str]:
    """One line if it fits, else broken once at the outermost operator or brackets."""
    flat = f"{indent}{start}{print_expression(value)};"
    if len(flat) <= WIDTH:
        return [flat]
    deeper = indent + INDENT
    match value:
        case tree.Call(function, arguments) if arguments:
            items = [_argument(argument) for argument in arguments]
            opening = f"{_inner(function, ATOM)}("
            return _broken(indent + start + opening, items, deeper, indent + ");")
        case tree.ListDisplay(items, bare=False) if items:
            written = [print_expression(item) for item in items]
            return _broken(indent + start + "[", written, deeper, indent + "];")
        case tree.Binary(op):
            parts = _operands(value, op)
            lines = [indent + start + parts[0]]
            return [*lines, *(f"{deeper}{op} {part}" for part in parts[1:-1]),
                    f"{deeper}{op} {parts[-1]};"]  # fmt: skip
        case tree.Ternary():
            lines = []
            rest: tree.Expression = value
            while isinstance(rest, tree.Ternary):
                lines.append(f"{_inner(rest.then, OR)} if {_inner(rest.condition, OR)}")
                rest = rest.otherwise
            lines.append(f"{print_expression(rest)};")
            return [indent + start + lines[0], *(f"{deeper}else {line}" for line in lines[1:])]
    return [flat]


def _broken(opening: str, items: list[str], indent: str, closing: str) -> list[str]:
    return [opening, *(f"{indent}{item}," for item in items[:-1]), indent + items[-1], closing]


def _operands(expression: tree.Binary, op: str) -> list[str]:
    """The operands of `a op b op c` in writing, with brackets where they need them."""
    first, *others = _chain(expression, op)
    loosest, tightest = BINDING[op], BINDING[op] + 1
    if op == "^":  # the one that is grouped from the right
        loosest, tightest = ATOM, SIGN
    return [_inner(first, loosest), *(_inner(other, tightest) for other in others)]


def _chain(expression: tree.Expression, op: str) -> list[tree.Expression]:
    """The operands of `a op b op c`, as far as they can be told apart again."""
    parts: list[tree.Expression] = []
    while isinstance(expression, tree.Binary) and expression.op == op and op in ("and", "or", "+"):
        parts.append(expression.right)
        expression = expression.left
    if not parts:
        assert isinstance(expression, tree.Binary)
        return [expression.left, expression.right]
    return [expression, *reversed(parts)]


def print_expression(expression: tree.Expression) -> str:
    """Write one expression on one line, with brackets only where it needs them.

    >>> from rasp.base.source import Source
    >>> from rasp.language.syntax.parser import parse
    >>> [statement] = parse(Source("demo", "same=select( tokens,tokens , == );"))
    >>> print_expression(statement.value)
    'select(tokens, tokens, ==)'
    """
    return _write(expression)[0]


def _inner(expression: tree.Expression, binding: int) -> str:
    text, bound = _write(expression)
    return text if bound >= binding else f"({text})"


def _write(expression: tree.Expression) -> tuple[str, int]:
    match expression:
        case tree.Name(name):
            return name, ATOM
        case tree.Literal(value, written):
            return written or show_literal(value), ATOM
        case tree.Sign(op):
            return op, ATOM
        case tree.Bracketed(inner):
            return f"({print_expression(inner)})", ATOM
        case tree.Binary():
            return _binary(expression)
        case tree.Unary("not", operand):
            return f"not {_inner(operand, NOT)}", NOT
        case tree.Unary(op, operand):
            return f"{op}{_inner(operand, SIGN)}", SIGN
        case tree.Ternary(condition, then, otherwise):
            text = (
                f"{_inner(then, OR)} if {_inner(condition, OR)} else {_inner(otherwise, TERNARY)}"
            )
            return text, TERNARY
        case tree.Call(function, arguments):
            given = ", ".join(_argument(argument) for argument in arguments)
            return f"{_inner(function, ATOM)}({given})", ATOM
        case tree.Index(base, index):
            return f"{_inner(base, ATOM)}[{print_expression(index)}]", ATOM
        case tree.ListDisplay(items, bare):
            written = ", ".join(print_expression(item) for item in items)
            return (written, TERNARY - 1) if bare else (f"[{written}]", ATOM)
        case tree.DictDisplay(pairs):
            written = ", ".join(
                f"{print_expression(key)}: {print_expression(value)}" for key, value in pairs
            )
            return f"{{{written}}}", ATOM
        case tree.Comprehension(item, targets, source, key):
            names = ", ".join(target.name for target in targets)
            tail = f"{print_expression(item)} for {names} in {print_expression(source)}"
            return (f"[{tail}]" if key is None else f"{{{print_expression(key)}: {tail}}}"), ATOM
    raise AssertionError(f"no way to print {type(expression).__name__}")


def _binary(expression: tree.Binary) -> tuple[str, int]:
    """Walk down the left side in a loop: a sum of ten thousand terms is no deeper than one."""
    if expression.op == "^":
        left, right = _inner(expression.left, ATOM), _inner(expression.right, SIGN)
        return f"{left} ^ {right}", BINDING["^"]
    tail: list[str] = []
    binding = BINDING[expression.op]
    current: tree.Expression = expression
    while isinstance(current, tree.Binary) and BINDING[current.op] == binding:
        tail.append(f" {current.op} {_inner(current.right, binding + 1)}")
        current = current.left
    return _inner(current, binding) + "".join(reversed(tail)), binding


def _argument(argument: tree.Argument) -> str:
    value = print_expression(argument.value)
    return value if argument.keyword is None else f"{argument.keyword}={value}"


BYTE_ORDER_MARK = "\ufeff"


def format_program(source: Source, limits: Limits = DEFAULT_LIMITS) -> str:
    """Format a program text; how its lines end stays as it is.

    >>> format_program(Source("demo", "a=1;\\r\\nb  = a+1 ;"))
    'a = 1;\\r\\nb = a + 1;\\r\\n'
    """
    text = print_program(parse(source, limits))
    line_ends = source.text.count("\n")
    if source.text.count("\r\n") > line_ends / 2:
        text = text.replace("\n", "\r\n")
    return BYTE_ORDER_MARK + text if source.text.startswith(BYTE_ORDER_MARK) else text
