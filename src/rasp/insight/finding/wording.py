"""A recipe as the text of a program, formatted: what is used twice, or is long, gets a line."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace
from typing import Any

from rasp.base.source import Source
from rasp.insight.finding.enumeration import Enumeration
from rasp.insight.finding.expression_bank import BankPart, Recipe
from rasp.language.syntax import parse, tree
from rasp.language.syntax.printer import print_program

NAME = "answer"
LONGEST = 9
"""Words of an expression that is still inside another."""


def program_text(recipe: Recipe, made: Enumeration) -> str:
    """Write a program whose last line defines `answer`."""
    return _RecipeWriter(made).program(recipe)


class _RecipeWriter:
    def __init__(self, made: Enumeration) -> None:
        self.made = made
        self.lines: list[str] = []
        self.names: dict[BankPart, str] = {}
        self.uses: Counter[BankPart] = Counter()

    def program(self, recipe: Recipe) -> str:
        self._count(recipe, set())
        body = self._expression(recipe)
        text = "\n".join([*self.lines, f"{NAME} = {body};"])
        return print_program(_bare(parse(Source("found.rasp", text))))

    def _recipe(self, part: BankPart) -> Recipe:
        bank = self.made.selectors if part.is_selector else self.made.sops
        return bank.recipe(part.number)

    def _count(self, recipe: Recipe, seen: set[BankPart]) -> None:
        for part in recipe.parts:
            self.uses[part] += 1
            if part not in seen:
                seen.add(part)
                self._count(self._recipe(part), seen)

    def _expression(self, recipe: Recipe) -> str:
        return recipe.text.format(*[self._written(part) for part in recipe.parts])

    def _written(self, part: BankPart) -> str:
        if part in self.names:
            return self.names[part]
        recipe = self._recipe(part)
        text = self._expression(recipe)
        is_shared = self.uses[part] > 1 and recipe.size > 2 and len(text) > 12
        if not is_shared and len(text) < 60:
            return text
        kind = "picks" if part.is_selector else "value"
        number = sum(name.startswith(kind) for name in self.names.values()) + 1
        self.names[part] = f"{kind}{number}"
        self.lines.append(f"{self.names[part]} = {text};")
        return self.names[part]


def _bare(item: Any) -> Any:
    """A tree without the brackets that were written; the printer adds those that it needs."""
    if isinstance(item, tree.Bracketed):
        return _bare(item.inner)
    if isinstance(item, tuple):
        return tuple(_bare(one) for one in item)
    if not isinstance(item, tree.Tree):
        return item
    return replace(item, **{one.name: _bare(getattr(item, one.name)) for one in fields(item)
                            if one.init and one.name != "span"})  # fmt: skip
