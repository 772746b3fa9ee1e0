"""Where each name of a program is bound: variables, their definitions, and the scopes they are in.

RASP looks a name up when it is read: in the function's own names, if they are bound by then, else
in the scope around it. Where a loop leaves it open which of two variables a read means, both are
one variable here: renaming them together is always right.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rasp.base.source import Span
from rasp.language.syntax.tree import Assign, Tree

NEVER = 1 << 60


@dataclass(frozen=True, eq=False)
class Binding:
    """One place that binds a name."""

    name: str
    span: Span
    """The name itself; its source may be another file."""
    kind: str
    """`s-op or value`, `function`, `parameter`, `loop`, `loaded`, `library` or `built in`."""
    tree: Tree | None = None
    """The statement or parameter that binds it."""
    statement: int | None = None
    """Where the statement of the main program begins; None inside functions."""
    doc: str = ""

    @property
    def place(self) -> int:
        """From where on in the program it holds; -1 if it is before all of it."""
        if self.kind in ("library", "built in"):
            return -1
        if self.kind == "loaded":
            return self.statement or 0
        return self.tree.span.end if isinstance(self.tree, Assign) else self.span.start


@dataclass(eq=False)
class ScopedName:
    """A name in a scope, with everything that binds it."""

    definitions: list[Binding] = field(default_factory=list)
    joined: ScopedName | None = None

    @property
    def root(self) -> ScopedName:
        variable = self
        while variable.joined is not None:
            variable = variable.joined
        return variable

    def join(self, other: ScopedName) -> None:
        """Make two variables one."""
        one, two = self.root, other.root
        if one is not two:
            two.joined = one
            one.definitions += two.definitions


@dataclass(eq=False)
class NameScope:
    """The names bound in a function, a comprehension or the main program."""

    parent: NameScope | None = None
    made_at: int = 0
    """How many bindings the parent had made when this scope was written."""
    is_inline: bool = False
    """True in a comprehension, which runs where it is written."""
    variables: dict[str, ScopedName] = field(default_factory=dict)
    bound: dict[str, int] = field(default_factory=dict)
    """When a name was first bound, counting bindings; perhaps in a loop that may not run."""
    certain: dict[str, int] = field(default_factory=dict)
    """The same for bindings that happen whenever the program gets there."""
    count: int = 0

    def bind(self, definition: Binding, is_certain: bool = True) -> ScopedName:
        """Note a binding."""
        name = definition.name
        variable = self.variables.setdefault(name, ScopedName())
        variable.root.definitions.append(definition)
        self.count += 1
        self.bound.setdefault(name, self.count)
        if is_certain:
            self.certain.setdefault(name, self.count)
        return variable

    def find(self, name: str, in_loop: frozenset[str] = frozenset()) -> ScopedName | None:
        """Return the variable that a read at this moment means; None if nothing binds the name.

        `in_loop` are the names that the loops around the read bind somewhere in their bodies.
        """
        names: list[ScopedName] = []
        scope: NameScope | None = self
        at, is_own = self.count, True
        while scope is not None:
            may_be = name in scope.bound or (is_own and name in in_loop)
            if may_be:
                names.append(scope.variables.setdefault(name, ScopedName()))
                if scope.certain.get(name, NEVER) <= at:
                    break
            at, is_own, scope = scope.made_at, is_own and scope.is_inline, scope.parent
        for other in names[1:]:
            names[0].join(other)
        return names[0].root if names else None
