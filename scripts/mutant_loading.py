"""A mutant in, the loaded functions changed: no file is touched, and a fork forgets it all."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable
from functools import _lru_cache_wrapper
from importlib import import_module
from types import CodeType, FunctionType

from mutants import Mutant


class Loaded:
    """The functions that are loaded, by file and name."""

    def __init__(self, paths: Iterable[str]) -> None:
        for path in paths:
            import_module(f"rasp.{path.removesuffix('.py').replace('/', '.')}")
        self.functions: dict[tuple[str, str, int], list[FunctionType]] = {}
        self.caches = [each for each in gc.get_objects() if isinstance(each, _lru_cache_wrapper)]
        for each in gc.get_objects():
            if isinstance(each, FunctionType):
                self.functions.setdefault(_place(each.__code__), []).append(each)

    def put_in_place(self, mutant: Mutant, path: str) -> bool:
        """Give loaded functions the changed code, or loaded modules the changed value.

        A function inside the changed one may be loaded too, as part of a table.
        """
        for cache in self.caches:
            cache.cache_clear()
        if not mutant.function:
            return _replace_names(mutant, path)
        done = False
        for new in _codes(mutant.code):
            if f"{new.co_qualname}.".startswith(f"{mutant.function}."):
                for function in self.functions.get(_place(new), []):
                    if function.__code__.co_freevars != new.co_freevars:
                        return False
                    function.__code__ = new
                    done = True
        return done


def _place(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _codes(code: CodeType) -> list[CodeType]:
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return inner + [deeper for each in inner for deeper in _codes(each)]


def _replace_names(mutant: Mutant, path: str) -> bool:
    loaded = [module for name, module in sys.modules.items() if name.split(".")[0] == "rasp"]
    old = vars(next(module for module in loaded if module.__file__ == path))
    new = {"__name__": old["__name__"], "__package__": old["__package__"]}
    exec(mutant.code, new)
    for name in mutant.names:
        before = old[name]
        for module in loaded:
            if vars(module).get(name) is before:
                setattr(module, name, new[name])
    return True
