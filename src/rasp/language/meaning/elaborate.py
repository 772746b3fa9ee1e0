"""Syntax tree in, graph nodes out: functions, loops, lists and loads are expanded.

What remains of a program when it has run is the graph: an s-op is built, not computed, and
computed only when it is applied to an input. Budgets end every runaway in a `RaspLimitError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rasp.base.errors import RaspError, RaspLimitError, RaspNameError, RaspTypeError
from rasp.base.limits import Limits
from rasp.base.meter import Meter
from rasp.base.source import Span
from rasp.language.evaluator import apply
from rasp.language.graph import Node, SOp
from rasp.language.graph.origins import Definition
from rasp.language.meaning import operations
from rasp.language.meaning.calls import bind
from rasp.language.meaning.containers import index
from rasp.language.meaning.hints import hint_for_unknown
from rasp.language.meaning.library_refusals import library_refusal
from rasp.language.meaning.notes import Notes
from rasp.language.meaning.value_kinds import (
    BROKEN,
    MISSING,
    BuiltIn,
    ComparisonSign,
    Function,
    Scope,
    Value,
    describe,
    is_atom,
)
from rasp.language.syntax import tree


class BrokenName(Exception):
    """A name whose definition failed was used: that failure has been reported already."""


class Elaborator:
    """Runs statements in a scope, and keeps what is known of the nodes they make."""

    def __init__(
        self,
        limits: Limits,
        load: Callable[[tree.Load, Scope], None],
        library: Definition | None = None,
    ) -> None:
        self.limits = limits
        self.load = load
        self.notes = Notes(limits, library)
        self.begin()
        self.call_depth = 0
        self.remarks: list[str] = []
        self.has_unknown_names = False
        """Whether names may be missing because a file that would bind them could not be loaded."""

    def begin(self) -> None:
        """Begin a run: count its steps and its time from here."""
        self.meter = Meter(self.limits)

    # Statements

    def run(self, statement: tree.Statement, scope: Scope) -> tuple[Value, Definition]:
        """Run one statement of a program, as a definition of its own."""
        with self.notes.another_definition() as definition:
            return self.statement(statement, scope), definition

    def block(self, statements: tuple[tree.Statement, ...], scope: Scope) -> Value:
        """Run the statements of a body; return what `return` gives, else `MISSING`."""
        for statement in statements:
            if scope.definitions is None:
                result = self.statement(statement, scope)
            else:
                result, _ = self.run(statement, scope)
            if isinstance(statement, tree.Return):
                return result
            if isinstance(statement, tree.For) and result is not MISSING:
                return result
        return MISSING

    def statement(self, statement: tree.Statement, scope: Scope) -> Value:
        """Run one statement; return the value it made, or `MISSING` for a loop that ended."""
        if isinstance(statement, tree.Remark):
            self.remarks.append(statement.text)
            return None
        doc, self.remarks = self.remarks, []
        match statement:
            case tree.Assign(targets, value):
                return self.assign(targets, self.evaluate(value, scope), scope, statement.span)
            case tree.Evaluate(expression):
                return self.evaluate(expression, scope)
            case tree.Return(value):
                return self.evaluate(value, scope)
            case tree.Define():
                function = self.define(statement, scope, doc)
                self.bind_name(function.name, function, scope)
                return function
            case tree.For(targets, source, body):
                for item in self.items(self.evaluate(source, scope), source):
                    self.assign(targets, item, scope, source.span)
                    result = self.block(body, scope)
                    if result is not MISSING:
                        return result
                return MISSING
            case tree.Load():
                self.load(statement, scope)
                return None
            case tree.Unreadable():
                raise BrokenName
        raise RaspTypeError(
            "commands of the REPL do not work inside a function or loop",
            statement.span,
            "put them at the top level",
        )

    def assign(
        self, targets: tuple[tree.Name, ...], value: Value, scope: Scope, span: Span
    ) -> Value:
        if len(targets) == 1:
            self.bind_name(targets[0].name, value, scope)
            return value
        items = list(value) if isinstance(value, (list, dict, str)) else [value]
        if not isinstance(value, (list, dict, str)) or len(items) != len(targets):
            there = (
                f"are {len(items)}" if isinstance(value, (list, dict)) else f"is {describe(value)}"
            )
            raise RaspTypeError(
                f"{len(targets)} names need {len(targets)} values, but here {there}",
                span,
                "give as many values as names",
            )
        for target, item in zip(targets, items, strict=True):
            self.bind_name(target.name, item, scope)
        return value

    def bind_name(self, name: str, value: Value, scope: Scope) -> None:
        if value is None:
            raise RaspTypeError(
                f"there is no value to call `{name}`",
                hint="the function on the right returns nothing: add a `return`",
            )
        scope.names[name] = value
        self.notes.bound(name, value, scope)

    def define(self, statement: tree.Define, scope: Scope, doc: list[str]) -> Function:
        defaults = tuple(
            MISSING if parameter.default is None else self.evaluate(parameter.default, scope)
            for parameter in statement.parameters
        )
        return Function(
            statement.name.name,
            tuple(parameter.name for parameter in statement.parameters),
            defaults,
            statement.body,
            scope,
            doc[-1].lstrip("# ") if doc else "",
        )

    def items(self, source: Value, where: tree.Expression) -> Iterator[Value]:
        if isinstance(source, (list, dict)):
            self.meter.touched(len(source))
            return iter(list(source))
        hint = "loop over a list, such as `range(3)` or `['a', 'b']`"
        if isinstance(source, SOp):
            hint = (
                "write what happens at one position, such as `x + 1`: it happens at all of them; "
                "loops go over lists"
            )
        raise RaspTypeError(f"{describe(source)} cannot be looped over", where.span, hint)

    # Expressions

    def evaluate(self, expression: tree.Expression, scope: Scope) -> Value:
        """Return the value of an expression, with errors pointing at the part that failed."""
        meter = self.meter
        meter.steps += 1
        try:
            if meter.steps > meter.next_look:
                meter.look()
            value = self._evaluate(expression, scope)
        except RaspError as error:
            raise error.located(expression.span) from None
        return value

    def _evaluate(self, expression: tree.Expression, scope: Scope) -> Value:
        match expression:
            case tree.Literal(value):
                return value
            case tree.Name(name):
                value = self.look_up(name, scope)
                if isinstance(value, (Node, Function, list, dict)):
                    self.notes.referred(name, scope, expression.span)
                return value
            case tree.Bracketed(inner):
                return self.evaluate(inner, scope)
            case tree.Binary():
                return self.binary(expression, scope)
            case tree.Unary(op, operand):
                result = operations.unary(op, self.evaluate(operand, scope), self.meter)
                return self.notes.made(result, expression.span)
            case tree.Ternary():
                return self.ternary(expression, scope)
            case tree.Call():
                return self.call(expression, scope)
            case tree.Index():
                return self.index(expression, scope)
            case tree.ListDisplay(items):
                return [self.evaluate(item, scope) for item in items]
            case tree.DictDisplay(pairs):
                return {self.key(key, scope): self.evaluate(item, scope) for key, item in pairs}
            case tree.Comprehension():
                return self.comprehension(expression, scope)
            case tree.Sign(op):
                return ComparisonSign(op)
        raise AssertionError(f"no meaning for {type(expression).__name__}")

    def look_up(self, name: str, scope: Scope) -> Value:
        value = scope.find(name)
        if value is BROKEN:
            raise BrokenName(name)
        if value is not MISSING:
            return value
        if self.has_unknown_names:
            raise BrokenName(name)
        hint = hint_for_unknown(name, scope.every_name())
        raise RaspNameError(f"`{name}` is not defined", hint=hint)

    def binary(self, expression: tree.Binary, scope: Scope) -> Value:
        """Go down the left side in a loop, so that a long sum is not a deep recursion."""
        spine = [expression]
        while isinstance(spine[-1].left, tree.Binary):
            spine.append(spine[-1].left)
        value = self.evaluate(spine[-1].left, scope)
        for link in reversed(spine):
            right = self.evaluate(link.right, scope)
            try:
                value = operations.binary(link.op, value, right, self.meter)
            except RaspError as error:
                raise error.located(link.span) from None
            if link.op in ("in", "not in") and isinstance(right, SOp):
                self.notes.steps(value, right, link.span)
            else:
                self.notes.made(value, link.span)
        return value

    def ternary(self, expression: tree.Ternary, scope: Scope) -> Value:
        then, otherwise = expression.then, expression.otherwise
        condition = self.evaluate(expression.condition, scope)
        if isinstance(condition, SOp):
            branches = self.evaluate(then, scope), self.evaluate(otherwise, scope)
            return self.notes.made(operations.ternary(condition, *branches), expression.span)
        chosen = then if operations.is_true(condition) else otherwise
        return self.evaluate(chosen, scope)

    def index(self, expression: tree.Index, scope: Scope) -> Value:
        base = self.evaluate(expression.base, scope)
        position = self.evaluate(expression.index, scope)
        value = index(base, position, self.meter)
        if isinstance(base, SOp):
            return self.notes.steps(value, base, expression.span)
        is_item = isinstance(base, (list, dict)) and not isinstance(position, SOp)
        return value if is_item else self.notes.made(value, expression.span)

    def key(self, expression: tree.Expression, scope: Scope) -> Value:
        key = self.evaluate(expression, scope)
        if not is_atom(key):
            raise RaspTypeError(
                f"a dict's keys are atoms, but this is {describe(key)}",
                expression.span,
                "use a bool, number or string as the key",
            )
        return key

    def comprehension(self, expression: tree.Comprehension, scope: Scope) -> Value:
        inner = Scope(scope)
        pairs: list[tuple[Value, Value]] = []
        for item in self.items(self.evaluate(expression.source, scope), expression.source):
            self.assign(expression.targets, item, inner, expression.source.span)
            key = self.key(expression.key, inner) if expression.key else None
            pairs.append((key, self.evaluate(expression.item, inner)))
        collected = dict(pairs) if expression.key else [value for _, value in pairs]
        self.meter.made(collected)
        return collected

    # Calls

    def call(self, expression: tree.Call, scope: Scope) -> Value:
        function = self.evaluate(expression.function, scope)
        arguments = [
            (argument, self.evaluate(argument.value, scope)) for argument in expression.arguments
        ]
        return self.call_value(function, arguments, expression.span)

    def call_value(
        self, function: Value, arguments: list[tuple[tree.Argument, Value]], span: Span
    ) -> Value:
        match function:
            case BuiltIn():
                value = function.build(bind(function, arguments, span, self.limits))
                self.meter.made(value)
                return self.notes.made(value, span)
            case Function():
                return self.call_function(function, arguments, span)
            case Node():
                return self.apply(function, arguments, span)
        raise RaspTypeError(
            f"{describe(function)} cannot be called",
            span,
            'functions are called with arguments, s-ops and selectors with an input: `f("hello")`',
        )

    def apply(self, node: Node, arguments: list[tuple[tree.Argument, Value]], span: Span) -> Value:
        if not arguments:
            text = span.text.rpartition("(")[0].strip()
            hint = f'write `{text}` without brackets, or give it an input: `{text}("hello")`'
            raise RaspTypeError(f"`{text}` is {describe(node)}, not a function", span, hint)
        if len(arguments) != 1 or arguments[0][0].keyword:
            raise RaspTypeError(
                f"an s-op or selector is applied to one input, not {len(arguments)} arguments",
                span,
                'write `f("hello")` or `f([1, 2, 3])`',
            )
        given = arguments[0][1]
        if isinstance(given, Node):
            raise RaspTypeError(
                f"an s-op or selector is applied to an input, but this is {describe(given)}",
                arguments[0][0].span,
                "to compose programs, write a function: `def f(seq) { … }`",
            )
        values = apply(node, given, self.notes.program, self.limits, self.meter)
        self.meter.made(values)
        return values

    def call_function(
        self, function: Function, arguments: list[tuple[tree.Argument, Value]], span: Span
    ) -> Value:
        bound = bind(function, arguments, span, self.limits)
        if self.call_depth >= self.limits.recursion:
            raise RaspLimitError(
                f"functions call one another more than {self.limits.recursion} deep",
                span,
                "a recursion needs an end: `f(n) if n > 0 else …`",
            )
        self.call_depth += 1
        try:
            with self.notes.inside(function.name, span, function.is_library) as enters_library:
                result = self.block(function.body, Scope(function.scope, dict(bound.values)))
        except RaspError as error:
            if enters_library:
                raise library_refusal(function, bound, span, error) from None
            if not function.is_library:
                error.calls.append((function.name, span))
            raise
        finally:
            self.call_depth -= 1
        return None if result is MISSING else result
