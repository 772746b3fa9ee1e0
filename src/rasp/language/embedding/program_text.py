"""A program held by Python in, RASP text out, which reads back as the same graph.

Each name that somebody gave gets its definition, in order. Other parts are written where they
are used, unless they are used more than once or would make a line too long: those get private
names. So the text is as long as the graph is large, however deep or shared it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rasp.base.atoms import kind_name
from rasp.base.errors import RaspNameError, RaspTypeError, RaspUnsupportedError
from rasp.base.source import Source
from rasp.language.embedding.handles import RESERVED, Handle, check_name
from rasp.language.graph import Const, Elementwise, Node, expression, in_order
from rasp.language.meaning.session import Session
from rasp.language.syntax import parse
from rasp.language.syntax.printer import WIDTH, print_program

LONGEST_EXPRESSION = 12
"""Nodes written in one expression before its parts get names of their own."""
SMALL_EXPRESSION = 3
"""Nodes of a part so small that it is written again wherever it is used."""
PRIVATE_NAMES = {"s-op": "_value", "selector": "_selector", "scorer": "_scorer"}
COMPUTED_ONLY = {"float", "string", "bool"}
"""Elementwise operators that no text can write; only the base s-ops convert."""


def to_rasp(program: Handle | Mapping[str, Any], name: str | None = None) -> str:
    """Write a handle, or several under their names, as the text of a RASP program.

    A handle without a name is called `result`. Running the text gives the same nodes back.

    >>> from rasp.language.embedding.constructors import aggregate, indices, length, select, tokens
    >>> flip = select(indices, length - 1 - indices, "==").named("flip")
    >>> print(to_rasp(aggregate(flip, tokens).named("reverse")), end="")
    flip = select(indices, length - 1 - indices, ==);
    reverse = aggregate(flip, tokens);
    """
    names: dict[Node, str] = {}
    outputs: dict[str, Node] = {}
    if isinstance(program, Handle):
        names |= program.program.names
        called = name or _free(program.name or "result", set(RESERVED))
        program = {called: program}
    for key, handle in program.items():
        if not isinstance(handle, Handle):
            continue  # functions, lists and atoms have left their traces in the graph
        check_name(key)
        if isinstance(handle.node, Const):
            raise RaspUnsupportedError(
                f"`{key}` is the same atom everywhere, which a program holds as that atom",
                hint="write a program that uses it",
            )
        names |= handle.program.names
        outputs[key] = handle.node
    if not outputs:
        raise RaspTypeError(
            "there is nothing to write: no s-op, selector or scorer is among these names",
            hint="give a handle, such as `to_rasp(tokens + 1)`",
        )
    return write_program(outputs, names)


def write_program(outputs: Mapping[str, Node], names: Mapping[Node, str]) -> str:
    """Write nodes under their names, with the names that are known of others."""
    every_node = in_order(outputs.values())
    _refuse_what_has_no_text(every_node)
    library = Session().library_names
    results = set(outputs.values())
    own_names = {
        node: names[node]
        for node in every_node
        if node in names and node not in results and names[node] != library.get(node)
    }
    library = _not_hidden(library, outputs, own_names)
    order = _written(outputs.values(), library)
    defined = _definitions(order, results | own_names.keys(), library)
    called = _unique_names([node for node in order if node in defined], outputs, own_names, library)
    references = {**library, **called}
    lines = []
    for node in order:
        if node in called:
            lines.append(_line(called[node], _right_side(node, called[node], references, library)))
    for name, node in outputs.items():
        if called.get(node) != name:
            lines.append(_line(name, references.get(node) or expression(node)))
    return "\n".join(lines) + "\n"


def _written(outputs: Iterable[Node], library: Mapping[Node, str]) -> list[Node]:
    """The nodes that must be written, in order: not those inside library values."""
    wanted = set(outputs)
    order = in_order(outputs)
    for node in reversed(order):
        if node in wanted and node not in library:
            wanted.update(node.needs)
    return [node for node in order if node in wanted]


def _definitions(order: Sequence[Node], named: set[Node], library: Mapping[Node, str]) -> set[Node]:
    """Decide which nodes get a definition of their own, so that no line is long."""
    uses = Counter(needed for node in order if node not in library for needed in node.needs)
    size: dict[Node, int] = {}
    defined: set[Node] = set()
    for node in order:
        if not node.needs or (node in library and node not in named):
            size[node] = 1
            continue
        total = 1 + sum(size.get(needed, 1) for needed in node.needs)
        for needed in sorted(set(node.needs), key=lambda needed: -size.get(needed, 1)):
            if total > LONGEST_EXPRESSION and size.get(needed, 1) > 1:
                total -= (size[needed] - 1) * node.needs.count(needed)
                size[needed] = 1
                defined.add(needed)
        size[node] = total
        if node in named or (uses[node] > 1 and total > SMALL_EXPRESSION):
            size[node] = 1
            defined.add(node)
    return defined


def _unique_names(
    defined: Sequence[Node],
    outputs: Mapping[str, Node],
    own_names: Mapping[Node, str],
    library: Mapping[Node, str],
) -> dict[Node, str]:
    """Give every defined node a legal name that nothing else has."""
    taken = {*RESERVED, *library.values(), *outputs}
    called: dict[Node, str] = {}
    for name, node in outputs.items():
        if node in defined and node not in called:
            called[node] = name
    counts: Counter[str] = Counter()
    for node in defined:
        if node in called:
            continue
        if node in own_names:
            called[node] = _free(own_names[node], taken)
        else:
            stem = PRIVATE_NAMES[kind_name(node)]
            while (name := f"{stem}{counts[stem] + 1}") in taken:
                counts[stem] += 1
            counts[stem] += 1
            called[node] = name
        taken.add(called[node])
    return called


def _free(name: str, taken: set[str]) -> str:
    """The name itself, or the name with the first number that makes it new."""
    try:
        check_name(name)
    except RaspNameError:
        name = "my_" + name if name.isidentifier() else "result"
    number, candidate = 1, name
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate


def _right_side(
    node: Node, name: str, references: Mapping[Node, str], library: Mapping[Node, str]
) -> str:
    if node in library and library[node] != name:
        return library[node]
    return expression(node, references, depth=10 * LONGEST_EXPRESSION)


def _line(name: str, right_side: str) -> str:
    line = f"{name} = {right_side};"
    if len(line) <= WIDTH:
        return line
    return print_program(parse(Source("<writing>", line))).rstrip("\n")


def _not_hidden(
    library: Mapping[Node, str], outputs: Mapping[str, Node], own_names: Mapping[Node, str]
) -> dict[Node, str]:
    """The library's values that can be called by their names: nothing else is called so."""
    hidden = {name for name, node in outputs.items() if library.get(node) != name}
    hidden.update(own_names.values())
    return {node: name for node, name in library.items() if name not in hidden}


def _refuse_what_has_no_text(order: Sequence[Node]) -> None:
    for node in order:
        if isinstance(node, Elementwise) and (why := _why_no_text(node)):
            raise RaspUnsupportedError(
                f"`{expression(node, depth=4)}` cannot be written as a program: {why}",
                hint="it was built from nodes by hand; build it with `rasp`'s operators instead",
            )


def _why_no_text(node: Elementwise) -> str | None:
    """Say why no program text makes a node, or return None where one does."""
    op, operands = node.op, node.operands
    constant = [isinstance(operand, Const) for operand in operands]
    if op in COMPUTED_ONLY:
        return "only `tokens` can be read as another kind"
    if op in ("if", "in", "at", "lookup"):
        if constant[0]:
            return "RASP computes with constants at once"
        if op == "in" and not all(constant[1:]):
            return "the members of a list that `in` looks into are atoms"
        keys = [operand.value for operand in operands[1::2] if isinstance(operand, Const)]
        if op == "lookup" and len(set(keys)) != len(operands) // 2:
            return "the keys of a dict are different atoms"
        return None
    return "RASP computes with constants at once" if all(constant) else None
