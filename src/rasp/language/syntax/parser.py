"""Tokens in, syntax tree out: statements by recursive descent; expressions in `expressions.py`.

After a mistake the parser goes on with the next statement, so one run reports them all.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from rasp.base.errors import RaspError, RaspLimitError, RaspSyntaxError, all_of
from rasp.base.limits import DEFAULT_LIMITS, Limits
from rasp.base.source import Source
from rasp.language.syntax import tree
from rasp.language.syntax.commands import CommandReader
from rasp.language.syntax.foreign import FOREIGN_WORDS
from rasp.language.syntax.lexer import Comments, blank_line_before, lex
from rasp.language.syntax.recovery import end_of_statement, names_bound
from rasp.language.words import BUILT_IN_DOCS

MOST_MISTAKES = 20


def parse(
    source: Source, limits: Limits = DEFAULT_LIMITS, at_prompt: bool = False
) -> tuple[tree.Statement, ...]:
    """Parse a program text; raise the first mistake, with the others attached.

    At a prompt the end of a line ends a statement as `;` does.

    >>> [type(statement).__name__ for statement in parse(Source("demo", "a = 1; a;"))]
    ['Assign', 'Evaluate']
    """
    statements, errors = parse_with_errors(source, limits, at_prompt)
    if errors:
        raise all_of(errors)
    return statements


def parse_with_errors(
    source: Source, limits: Limits = DEFAULT_LIMITS, at_prompt: bool = False
) -> tuple[tuple[tree.Statement, ...], list[RaspError]]:
    """Parse a program text; return what could be read, and every mistake in source order.

    >>> statements, errors = parse_with_errors(Source("demo", "a = ; b = 2; c = );"))
    >>> [type(statement).__name__ for statement in statements], len(errors)
    (['Unreadable', 'Assign', 'Unreadable'], 2)
    """
    parser = Parser(source, limits, at_prompt)
    statements = parser.program()
    errors = sorted(parser.errors, key=lambda error: error.span.start if error.span else 0)
    return statements, errors[:MOST_MISTAKES]


class Parser(CommandReader):
    """The state of one parse. Use `parse`."""

    def __init__(self, source: Source, limits: Limits, at_prompt: bool = False) -> None:
        lexed = lex(source, limits)
        self.at_prompt = at_prompt
        super().__init__(source, lexed.tokens, limits)
        self.comments = Comments(source, lexed.comments)
        self.errors: list[RaspError] = list(lexed.errors)
        self.lexer_errors = len(self.errors)
        self.function_depth = 0

    def program(self) -> tuple[tree.Statement, ...]:
        statements: list[tree.Statement] = []
        while self.token.kind != "end" and len(self.errors) < MOST_MISTAKES:
            if self.sees("}"):
                self.errors.append(self.mistake("this `}` closes nothing", self.token, "remove it"))
                self.advance()
                continue
            statements += self.recovering_statement()
        return (*statements, *self.comments.before(self.token.start + 1))

    def recovering_statement(self) -> list[tree.Statement]:
        """Read one statement with its comments; after a mistake, skip to the next one."""
        remarks = self.comments.before(self.token.start)
        blank = blank_line_before(self.source, self.token.start)
        first = self.at
        try:
            statement = self.statement()
        except RaspLimitError as error:
            self.errors.append(error)
            self.at = len(self.tokens) - 1
            return remarks
        except RaspError as error:
            self.at = self.place_after(error, first)
            self.forget_errors_after(self.token.start)
            if not self.lexer_complained_since(first):
                self.errors.append(error)
            return [*remarks, self.unreadable(first)]
        inner = self.comments.before(self.previous.end)
        if inner and not remarks:
            inner[0] = replace(inner[0], blank_before=blank)
            blank = False
        trailing = self.comments.after(self.previous.end)
        if self.lexer_complained_since(first) and not isinstance(
            statement, (tree.Define, tree.For)
        ):
            statement = self.unreadable(first)
        return [*remarks, *inner, replace(statement, blank_before=blank, **trailing)]

    def statement(self) -> tree.Statement:
        token, after = self.token, self.tokens[min(self.at + 1, len(self.tokens) - 1)]
        match token.text:
            case "def":
                return self.define()
            case "for":
                return self.for_loop()
            case "return":
                return self.return_statement()
            case "load" if after.kind == "string":
                return self.load()
        if self.starts_command():
            return self.command()
        if self.starts_assignment():
            return self.assignment()
        if token.text in FOREIGN_WORDS and after.kind not in ("symbol", "end"):
            raise self.mistake(f"RASP has no `{token.text}`", token, FOREIGN_WORDS[token.text])
        value = self.expression_list()
        self.semicolon("the expression")
        return tree.Evaluate(value, span=self.since(value.span))

    # Definitions and loops

    def define(self) -> tree.Statement:
        start = self.advance()
        name = self.name("the function's name after `def`")
        parameters = tuple(self.bracketed("(", ")", self.parameter))
        self.refuse_repeats(
            [(parameter.name, parameter.span) for parameter in parameters], "parameter"
        )
        for earlier, later in pairwise(parameters):
            if earlier.default is not None and later.default is None:
                raise RaspSyntaxError(
                    f"the parameter `{later.name}` needs a default, because `{earlier.name}` "
                    "before it has one",
                    later.span,
                    "put the parameters without defaults first",
                )
        self.function_depth += 1
        try:
            body = self.block("the function's body")
        finally:
            self.function_depth -= 1
        return tree.Define(name, parameters, body, span=self.since(start))

    def parameter(self) -> tree.Parameter:
        name = self.name("a parameter's name")
        default: tree.Expression | None = None
        if self.sees("="):
            self.advance()
            default = self.expression()
        return tree.Parameter(name.name, default, span=name.span)

    def for_loop(self) -> tree.Statement:
        start = self.advance()
        if self.sees("("):
            raise self.loop_in_brackets()
        targets = self.targets()
        self.expect("in", "`in` after the loop's names", hint="write `for x in list { … }`")
        source = self.expression()
        body = self.block("the loop's body")
        return tree.For(targets, source, body, span=self.since(start))

    def loop_in_brackets(self) -> RaspError:
        """`for (i = 0; i < 3; i++)`: skip to the end of it, so that this is the one mistake."""
        opening, depth = self.token, 0
        while self.token.kind != "end":
            depth += {"(": 1, ")": -1}.get(self.advance().text, 0)
            if not depth:
                break
        return self.mistake(
            "a loop goes through a list", opening, "write `for i in range(3) { … }`"
        )

    def block(self, what: str) -> tuple[tree.Statement, ...]:
        if not self.sees("{"):
            hint = "a body is written between `{` and `}`"
            if self.sees(":"):
                hint = "write `{ … }` in place of `:` and the indented lines"
            raise self.unexpected(f"`{{` to begin {what}", hint=hint)
        opening = self.advance()
        statements: list[tree.Statement] = []
        with self.nested(opening):
            while not self.sees("}"):
                if self.token.kind == "end":
                    raise self.never_closed(opening, "}")
                if len(self.errors) >= MOST_MISTAKES:
                    return ()
                statements += self.recovering_statement()
        statements += self.comments.before(self.token.start)
        self.advance()
        return tuple(statements)

    def return_statement(self) -> tree.Statement:
        start = self.advance()
        if not self.function_depth:
            hint = "at the top level, write the expression alone, or give it a name"
            raise self.mistake("`return` outside a function", start, hint)
        value = self.expression_list()
        self.semicolon("the returned value")
        return tree.Return(value, span=self.since(start))

    # Assignments, loads and commands

    def starts_assignment(self) -> bool:
        at = self.at
        while self.tokens[at].kind == "name" and self.tokens[at + 1].text == ",":
            at += 2
        return self.tokens[at].kind == "name" and self.tokens[at + 1].text == "="

    def assignment(self) -> tree.Statement:
        targets = self.targets()
        self.advance()  # the `=`
        value = self.expression_list()
        self.semicolon("the definition")
        return tree.Assign(targets, value, span=self.since(targets[0].span))

    def load(self) -> tree.Statement:
        start = self.advance()
        path = self.advance()
        if self.token.kind != "end":
            self.semicolon("the file's name")
        return tree.Load(str(path.value), span=self.since(start))

    def semicolon(self, after: str) -> None:
        if self.sees(";"):
            self.advance()
            return
        if self.at_prompt and (self.token.kind == "end" or self.starts_line() or self.sees("}")):
            return  # nothing more is on the line, or nothing but the end of a body
        token = self.token
        if self.sees("="):
            raise self.mistake(
                "`=` gives a name to a value, and only a name can come before it",
                token,
                "use `==` to compare, or write two definitions",
            )
        if token.text in (")", "]"):
            raise self.mistake(f"this `{token.text}` closes nothing", token, "remove it")
        if foreign := self.foreign_word():
            raise foreign
        told = f"expected `;` after {after}, but found {self.describe(token)}"
        error = self.mistake(told, self.previous, self.hint_for_semicolon())
        error.incomplete = token.kind == "end"
        if error.incomplete or not self.starts_line():
            raise error
        if self.lexer_complained_since(self.at - 1):
            return  # a string that is never closed has swallowed it
        self.errors.append(error)  # the next line begins a new statement: read on from there

    def hint_for_semicolon(self) -> str:
        """What may be missing between the token before and the one that comes next."""
        usage = BUILT_IN_DOCS.get(self.previous.text, "").partition(":")[0]
        if "(" in usage and self.token.kind in ("name", "string"):
            return f"a function takes brackets: `{usage}`"
        starts_definition = self.tokens[min(self.at + 1, len(self.tokens) - 1)].text == "="
        if self.starts_line() or self.token.kind == "end" or starts_definition:
            return "add `;`: every statement ends in one"
        if self.previous.kind == "number" and self.token.kind == "name":
            return "put an operator between the number and the name, as in `3 * x`"
        return "is an operator, a `,` or a `;` missing here?"

    def starts_line(self) -> bool:
        """Whether the next token is on another line than the one before."""
        return "\n" in self.source.text[self.previous.end : self.token.start]

    # Recovery

    def place_after(self, error: RaspError, first: int) -> int:
        """Return where to go on after a statement that cannot be read.

        A prompt asks for the rest of a statement that only lacks its end, however its lines are
        indented; so nothing of it is taken for a statement of its own.
        """
        if error.incomplete and self.at_prompt:
            return len(self.tokens) - 1
        return end_of_statement(self.source, self.tokens, first, self.at)

    def forget_errors_after(self, offset: int) -> None:
        """Drop mistakes in a text that is read once more, now that its place is known better."""
        lexed, parsed = self.errors[: self.lexer_errors], self.errors[self.lexer_errors :]
        parsed = [error for error in parsed if error.span and error.span.start < offset]
        self.errors = [*lexed, *parsed]

    def lexer_complained_since(self, first: int) -> bool:
        """Tell whether a character that is not RASP explains why a statement cannot be read."""
        start, end = self.tokens[first].start, self.previous.end
        return any(
            error.span and start <= error.span.start <= end
            for error in self.errors[: self.lexer_errors]
        )

    def unreadable(self, first: int) -> tree.Statement:
        """Return a statement with a mistake in it, up to here."""
        tokens = self.tokens[first : max(self.at, first + 1) + 1]
        names = (tree.Name(token.text, span=self.span_of(token))
                 for token in names_bound(self.source, tokens))  # fmt: skip
        return tree.Unreadable(tuple(names), span=self.since(tokens[0]))
