"""Syntax tree in, graph nodes out: functions, loops, lists and loads are run away.

What remains of a program when it has run is the graph: an s-op is built, not computed, and
computed only when it is applied to an input. Budgets end every runaway in a `RaspLimitError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rasp.errors import RaspError, RaspLimitError, RaspNameError, RaspTypeError
from rasp.evaluator import apply
from rasp.frontend import operations
from rasp.frontend.calls import bind
from rasp.frontend.values import (
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
from rasp.graph import Node, Program, SOp
from rasp.limits import Clock, Limits
from rasp.source import Span
from rasp.spelling import closest
from rasp.syntax.tree import (
    Argument,
    Assign,
    Binary,
    Bracketed,
    Call,
    Comparison,
    Comprehension,
    Define,
    DictDisplay,
    Evaluate,
    Expression,
    For,
    Index,
    ListDisplay,
    Literal,
    Load,
    Name,
    Remark,
    Return,
    Statement,
    Ternary,
    Tree,
    Unary,
)

STEPS_PER_LOOK = 64
"""Steps between two looks at the clock."""


class BrokenName(Exception):
    """A name whose definition failed was used: that failure has been reported already."""


class Elaborator:
    """Runs statements in a scope, and keeps what is known of the nodes they make."""

    def __init__(self, limits: Limits, load: Callable[[Load, Scope], None]) -> None:
        self.limits = limits
        self.load = load
        self.names: dict[Node, str] = {}
        self.origins: dict[Node, Span] = {}
        self.program = Program(names=self.names, origins=self.origins)
        self.globals = Scope()
        """The scope whose names are a node's first choice of name."""
        self.global_nodes: dict[str, Node] = {}
        self.begin()
        self.nodes_made = 0
        self.call_depth = 0
        self.library_call: Span | None = None
        """The user's call that led into library code: what an error or origin points at."""
        self.remarks: list[str] = []

    def begin(self) -> None:
        """Begin a run: count its steps and its time from here."""
        self.steps = 0
        self.clock = Clock(self.limits)

    # Statements

    def block(self, statements: tuple[Statement, ...], scope: Scope) -> Value:
        """Run the statements of a body; return what `return` gives, else `MISSING`."""
        for statement in statements:
            result = self.statement(statement, scope)
            if isinstance(statement, Return):
                return result
            if isinstance(statement, For) and result is not MISSING:
                return result
        return MISSING

    def statement(self, statement: Statement, scope: Scope) -> Value:
        """Run one statement; return the value it made, or `MISSING` for a loop that ended."""
        if isinstance(statement, Remark):
            self.remarks.append(statement.text)
            return None
        doc, self.remarks = self.remarks, []
        match statement:
            case Assign(targets, value):
                return self.assign(targets, self.evaluate(value, scope), scope, statement.span)
            case Evaluate(expression):
                return self.evaluate(expression, scope)
            case Return(value):
                return self.evaluate(value, scope)
            case Define():
                function = self.define(statement, scope, doc)
                scope.names[function.name] = function
                return function
            case For(targets, source, body):
                for item in self.items(self.evaluate(source, scope), source):
                    self.assign(targets, item, scope, source.span)
                    result = self.block(body, scope)
                    if result is not MISSING:
                        return result
                return MISSING
            case Load():
                self.load(statement, scope)
                return None
        raise RaspTypeError(
            "words to the REPL cannot stand inside a function or loop",
            statement.span,
            "put them at the top level",
        )

    def assign(self, targets: tuple[Name, ...], value: Value, scope: Scope, span: Span) -> Value:
        if len(targets) == 1:
            self.bind_name(targets[0].name, value, scope)
            return value
        items = list(value) if isinstance(value, (list, dict, str)) else [value]
        if not isinstance(value, (list, dict, str)) or len(items) != len(targets):
            found = (
                f"are {len(items)}" if isinstance(value, (list, dict)) else f"is {describe(value)}"
            )
            raise RaspTypeError(
                f"{len(targets)} names need {len(targets)} values, but here {found}",
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
        if isinstance(value, Node):
            self.record_name(value, name, scope)

    def record_name(self, node: Node, name: str, scope: Scope) -> None:
        """Remember what people call a node: a global name before a local one, the first given."""
        if self.library_call is not None or name.startswith("_") or not node.needs:
            return
        if scope is not self.globals:
            self.names.setdefault(node, name)
            return
        previous = self.global_nodes.get(name)
        if previous is not None and self.names.get(previous) == name:
            del self.names[previous]
        self.global_nodes[name] = node
        if self.names.get(node) not in self.global_nodes:
            self.names[node] = name

    def define(self, statement: Define, scope: Scope, doc: list[str]) -> Function:
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
            statement.span,
            doc[-1].lstrip("# ") if doc else "",
        )

    def items(self, source: Value, where: Expression) -> Iterator[Value]:
        if isinstance(source, (list, dict)):
            return iter(list(source))
        hint = "loop over a list, such as `range(3)` or `['a', 'b']`"
        if isinstance(source, SOp):
            hint = "an s-op has no items until it meets an input: RASP has no input-dependent loops"
        raise RaspTypeError(f"{describe(source)} cannot be looped over", where.span, hint)

    # Expressions

    def evaluate(self, expression: Expression, scope: Scope) -> Value:
        """Return the value of an expression, with errors pointing at the part that failed."""
        self.steps += 1
        if self.steps > self.limits.steps:
            raise RaspLimitError(
                f"the program takes more than {self.limits.steps} steps",
                expression.span,
                "is a loop or a recursion longer than it should be?",
            )
        try:
            if self.steps % STEPS_PER_LOOK == 0:
                self.clock.check()
            value = self._evaluate(expression, scope)
        except RaspError as error:
            raise error.located(expression.span) from None
        if isinstance(value, Node):
            self.note_origin(value, expression)
        return value

    def note_origin(self, node: Node, expression: Tree) -> None:
        if node not in self.origins:
            self.nodes_made += 1
            if self.nodes_made > self.limits.graph_size:
                raise RaspLimitError(
                    f"the program makes more than {self.limits.graph_size} nodes",
                    expression.span,
                    "is a loop longer than it should be?",
                )
            self.origins[node] = self.library_call or expression.span

    def _evaluate(self, expression: Expression, scope: Scope) -> Value:
        match expression:
            case Literal(value):
                return value
            case Name(name):
                return self.look_up(name, scope)
            case Bracketed(inner):
                return self.evaluate(inner, scope)
            case Binary():
                return self.binary(expression, scope)
            case Unary(op, operand):
                return operations.unary(op, self.evaluate(operand, scope), self.limits)
            case Ternary(condition, then, otherwise):
                return self.ternary(self.evaluate(condition, scope), then, otherwise, scope)
            case Call():
                return self.call(expression, scope)
            case Index(base, index):
                return operations.index(self.evaluate(base, scope), self.evaluate(index, scope))
            case ListDisplay(items):
                return [self.evaluate(item, scope) for item in items]
            case DictDisplay(pairs):
                return {self.key(key, scope): self.evaluate(item, scope) for key, item in pairs}
            case Comprehension():
                return self.comprehension(expression, scope)
            case Comparison(op):
                return ComparisonSign(op)
        raise AssertionError(f"no meaning for {type(expression).__name__}")

    def look_up(self, name: str, scope: Scope) -> Value:
        value = scope.find(name)
        if value is BROKEN:
            raise BrokenName(name)
        if value is not MISSING:
            return value
        close = closest(name, scope.every_name())
        hint = f"did you mean `{close}`?" if close else f"define it first: `{name} = …;`"
        raise RaspNameError(f"`{name}` is not defined", hint=hint)

    def binary(self, expression: Binary, scope: Scope) -> Value:
        """Go down the left side in a loop, so that a long sum is not a deep recursion."""
        spine = [expression]
        while isinstance(spine[-1].left, Binary):
            spine.append(spine[-1].left)
        value = self.evaluate(spine[-1].left, scope)
        for link in reversed(spine):
            right = self.evaluate(link.right, scope)
            try:
                value = operations.binary(link.op, value, right, self.limits)
            except RaspError as error:
                raise error.located(link.span) from None
            if isinstance(value, Node):
                self.note_origin(value, link)
        return value

    def ternary(
        self, condition: Value, then: Expression, otherwise: Expression, scope: Scope
    ) -> Value:
        if isinstance(condition, SOp):
            branches = self.evaluate(then, scope), self.evaluate(otherwise, scope)
            return operations.ternary(condition, *branches)
        chosen = then if operations.is_true(condition) else otherwise
        return self.evaluate(chosen, scope)

    def key(self, expression: Expression, scope: Scope) -> Value:
        key = self.evaluate(expression, scope)
        if not is_atom(key):
            raise RaspTypeError(
                f"a dict's keys are atoms, but this is {describe(key)}",
                expression.span,
                "use a bool, number or string as the key",
            )
        return key

    def comprehension(self, expression: Comprehension, scope: Scope) -> Value:
        inner = Scope(scope)
        pairs: list[tuple[Value, Value]] = []
        for item in self.items(self.evaluate(expression.source, scope), expression.source):
            self.assign(expression.targets, item, inner, expression.source.span)
            key = self.key(expression.key, inner) if expression.key else None
            pairs.append((key, self.evaluate(expression.item, inner)))
        return dict(pairs) if expression.key else [value for _, value in pairs]

    # Calls

    def call(self, expression: Call, scope: Scope) -> Value:
        function = self.evaluate(expression.function, scope)
        arguments = [
            (argument, self.evaluate(argument.value, scope)) for argument in expression.arguments
        ]
        return self.call_value(function, arguments, expression.span)

    def call_value(
        self, function: Value, arguments: list[tuple[Argument, Value]], span: Span
    ) -> Value:
        match function:
            case BuiltIn():
                return function.build(bind(function, arguments, span, self.limits))
            case Function():
                return self.call_function(function, arguments, span)
            case Node():
                return self.apply(function, arguments, span)
        raise RaspTypeError(
            f"{describe(function)} cannot be called",
            span,
            'functions are called with arguments, s-ops and selectors with an input: `f("hello")`',
        )

    def apply(self, node: Node, arguments: list[tuple[Argument, Value]], span: Span) -> Value:
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
        values = apply(node, given, self.program, self.limits)
        self.clock.check()
        return values

    def call_function(
        self, function: Function, arguments: list[tuple[Argument, Value]], span: Span
    ) -> Value:
        bound = bind(function, arguments, span, self.limits)
        if self.call_depth >= self.limits.recursion:
            raise RaspLimitError(
                f"functions call one another more than {self.limits.recursion} deep",
                span,
                "a recursion needs an end: `f(n) if n > 0 else …`",
            )
        entered_library = function.is_library and self.library_call is None
        if entered_library:
            self.library_call = span
        self.call_depth += 1
        try:
            result = self.block(function.body, Scope(function.scope, dict(bound.values)))
        except RaspError as error:
            if entered_library:
                error.message = f"`{function.name}` cannot use this: {error.message}"
                error.span = span
                error.calls.clear()
            elif not function.is_library:
                error.calls.append((function.name, span))
            raise
        finally:
            self.call_depth -= 1
            if entered_library:
                self.library_call = None
        return None if result is MISSING else result
