"""A name that nobody defined in, what to write instead out: most come from another language."""

from __future__ import annotations

from collections.abc import Iterable

from rasp.base.spelling import did_you_mean

FROM_ELSEWHERE = {
    word: hint
    for words, hint in {
        "true TRUE T": "write `True`",
        "false FALSE F": "write `False`",
        "None none null nil": 'RASP has no empty value: give an atom, such as `0` or `"-"`',
        "hist": "define it first: `hist = histf(tokens);`, or `histf(tokens, assume_bos=True)` "
        "if the input begins with a BOS token",
        "hist_bos": "`hist_bos = histf(tokens, assume_bos=True);`",
        "hist_nobos": "`hist_nobos = histf(tokens);`",
        "agg": "`aggregate(selector, values)`",
        "sel": "`select(keys, queries, ==)`",
        "sel_best": "`select_best(selector, scorer)`",
        "identity": "`tokens` is the input itself",
        "reverse": "`reverse = aggregate(select(indices, length - 1 - indices, ==), tokens);`",
        "flip": "`flip = select(indices, length - 1 - indices, ==);`",
        "load1": "`load1 = select(indices, 1, ==);`",
        "same_tok same_token": "`same_tok = select(tokens, tokens, ==);`",
        "is_repr": "`is_repr = not has_prev(tokens);`",
        "isnt_repr": "`isnt_repr = has_prev(tokens);`",
        "print": "write the expression alone: `x;` shows its value",
        "input": 'the input is the s-op `tokens`; apply an s-op to see it: `x("hello");`',
        "str": "`tokens_str` reads the input's tokens as strings",
        "float": "`tokens_float` reads the input's tokens as floats; `x / 1` makes a float",
        "bool": "`tokens_bool` reads the input's tokens as bools; compare others: `x != 0`",
        "sum": "`selected_sum(selector, values)` adds up what a selector picks; over all "
        "positions, `selected_sum(select_all, values)`",
        "mean": "`average(seq)`, or `aggregate(selector, values)` of what a selector picks",
        "any": "`contains(seq, atom)`, or `has_focus(selector)`",
        "all": "`not contains(seq, False)`",
        "sorted": "`sort(vals, keys)`, as in `sort(tokens, tokens)`",
        "reversed": "`load_from_location(tokens, length - 1 - indices)` reads from the end",
        "enumerate": "`zip(range(len(list)), list)`; positions of the input are the s-op `indices`",
        "map": "operators work at every position: `x + 1`; for a list, `[f(x) for x in list]`",
        "filter": "a sequence keeps its length: choose with `x if condition else default`",
        "index position positions": "the positions are the s-op `indices`",
        "width": "`selector_width(selector)` counts what each query picks",
        "sqrt": "`x ^ 0.5`",
        "ceil": "`-floor(-x)`",
        "numpy np": "RASP has operators of its own: `?` lists what there is",
        "lambda": "write a function: `def f(x) { return x; }`",
        "self": "functions take all they need as parameters: `def f(x) { return x; }`",
        "while": "loop over a list: `for i in range(3) { … }`",
        "elif": "write `a if condition else b if other else c`",
        "break continue": "a loop runs over its whole list: choose with `x if condition else y`",
        "pass": "leave the body empty: `{ }`",
    }.items()
    for word in words.split()
}


def hint_for_unknown(name: str, names: Iterable[str], otherwise: str = "") -> str:
    """Say what to write instead of a name that is not defined; `otherwise`, what to do about it.

    >>> hint_for_unknown("true", ["tokens"]), hint_for_unknown("lenght", ["length"])
    ('write `True`', 'did you mean `length`?')
    """
    if name in FROM_ELSEWHERE:
        return FROM_ELSEWHERE[name]
    define = f'define it first: `{name} = …;`; a text is in quotes: `"{name}"`'
    return did_you_mean(name, names, otherwise or define)
