"""Syntax tree in, graph nodes out: functions, loops, lists and loads are expanded.

What remains of a program when it has run is the graph: an s-op is built, not computed, and
computed only when it is applied to an input. Budgets end every runaway in a `RaspLimitError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rasp.base.atoms import describe, is_atom
from rasp.base.errors import RaspError, RaspLimitError, RaspNameError, RaspTypeError, Warned
from rasp.base.limits import Limits
from rasp.base.meter import Meter
from rasp.base.source import Span
from rasp.language.evaluator import apply
from rasp.language.graph import Node, SOp
from rasp.language.graph.origins import Definition
from rasp.language.meaning import operations
from rasp.language.meaning.calls import bind, called, input_of, library_refusal, nothing_returned
from rasp.language.meaning.containers import index, no_list, unpacked
from rasp.language.meaning.hints import hint_for_unknown
from rasp.language.meaning.notes import Notes
from rasp.language.meaning.suspicions import (
    compares_texts,
    text_as_condition,
    text_for_bools,
    text_for_s_op,
)
from rasp.language.meaning.value_kinds import (
    BROKEN,
    MISSING,
    BuiltIn,
    ComparisonSign,
    Function,
    Scope,
    Value,
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
        warnings: list[Warned] | None = None,
    ) -> None:
        self.limits = limits
        self.load = load
        self.notes = Notes(limits, library)
        self.begin()
        self.call_depth = 0
        self.warnings: list[Warned] = [] if warnings is None else warnings
        self.has_compared_texts = False
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
                result = self.evaluate(value, scope)
                if result is None:
                    raise nothing_returned(called(value), targets[0].name)
                return self.assign(targets, result, scope, statement.span)
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
        for target, item in zip(targets, unpacked(value, len(targets), span), strict=True):
            self.bind_name(target.name, item, scope)
        return value

    def bind_name(self, name: str, value: Value, scope: Scope) -> None:
        if value is None:
            raise nothing_returned("the function", name)
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
        raise no_list(source, where.span)

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
                self.warn(text_as_condition(result, expression.span))
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
                self.warn(text_as_condition(value, link.span))
                self.notes.made(value, link.span)
        return value

    def ternary(self, expression: tree.Ternary, scope: Scope) -> Value:
        then, otherwise = expression.then, expression.otherwise
        condition = self.evaluate(expression.condition, scope)
        if isinstance(condition, SOp):
            branches = self.evaluate(then, scope), self.evaluate(otherwise, scope)
            value = operations.ternary(condition, *branches)
            self.warn(text_as_condition(value, expression.span))
            return self.notes.made(value, expression.span)
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

    def warn(self, warned: Warned | None) -> None:
        """Keep a warning of what the user wrote, once."""
        is_new = warned is not None and self.notes.library_call is None
        if warned is not None and is_new and warned not in self.warnings:
            self.warnings.append(warned)

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
                self.warn(text_as_condition(value, span))
                if compares_texts(value):
                    self.has_compared_texts = True
                    self.warn(text_for_s_op(function, arguments, span, True, True))
                return self.notes.made(value, span)
            case Function():
                before, self.has_compared_texts = self.has_compared_texts, False
                value = self.call_function(function, arguments, span)
                compared, is_inner = self.has_compared_texts, self.call_depth > 0
                self.warn(text_for_s_op(function, arguments, span, compared, is_inner))
                self.has_compared_texts = before or compared
                return value
            case Node():
                return self.apply(function, arguments, span)
        raise RaspTypeError(
            f"{describe(function)} cannot be called",
            span,
            'functions are called with arguments, s-ops and selectors with an input: `f("hello")`',
        )

    def apply(self, node: Node, arguments: list[tuple[tree.Argument, Value]], span: Span) -> Value:
        given = input_of(node, arguments, span)
        values = apply(node, given, self.notes.program, self.limits, self.meter)
        self.meter.made(values)
        return values

    def call_function(
        self, function: Function, arguments: list[tuple[tree.Argument, Value]], span: Span
    ) -> Value:
        bound = bind(function, arguments, span, self.limits)
        self.warn(text_for_bools(function, bound.values, span))
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
