"""The exercises: each asks for one s-op, says what it should give, and starts from a program.

They need nothing but themselves, in this order: each brings one idea. An answer is right where it
agrees with the solution.
"""

from __future__ import annotations

from dataclasses import dataclass

from rasp.base.errors import RaspNameError


@dataclass(frozen=True)
class Lesson:
    """One exercise. In the story, words between backticks are shown as code."""

    name: str
    title: str
    output: str
    """The s-op that is asked for."""
    story: tuple[str, ...]
    start: str
    example: str
    alphabet: str
    shown: tuple[str, ...]
    """Inputs whose answers the page shows."""
    hints: tuple[str, ...]
    solution: str


EXERCISES = (
    Lesson(
        "double",
        "One value at every position",
        "double",
        (
            "A RASP program computes sequences: one value for each position of the input. Such a "
            "sequence is called an s-op. Two are there from the start: `tokens` is the input "
            "itself, `indices` is 0, 1, 2, …",
            "Change the last line of the program so that `double` holds twice each position. The "
            "Values tab shows what it holds while you type.",
        ),
        "# `indices` holds the positions: 0, 1, 2, …\n# Make `double` hold twice as much.\n"
        "double = indices;\n",
        "hello",
        "ab",
        ("hello",),
        ("`+`, `-`, `*` and `/` work on every position at once.", "Write `indices * 2`."),
        "double = indices * 2;\n",
    ),
    Lesson(
        "is_a",
        "Ask something of each token",
        "is_a",
        (
            "Comparisons work position by position too, and give True or False: "
            "`indices == 2` is True at position 2 alone. Letters are written in quotes.",
            'Make `is_a` True wherever the token is "a", and False everywhere else.',
        ),
        'is_a = tokens == "?";\n',
        "banana",
        "abc",
        ("banana",),
        ("`tokens` holds the letters. Compare it with the letter you look for.",),
        'is_a = tokens == "a";\n',
    ),
    Lesson(
        "every_other",
        "Choose between two values",
        "every_other",
        (
            "`x if condition else y` takes x where the condition holds and y where it does not, "
            "at each position for itself. `%` is the remainder of a division.",
            'Keep the tokens at positions 0, 2, 4, … and put "-" at all the others.',
        ),
        'every_other = tokens if indices == 0 else "-";\n',
        "abcdef",
        "abc",
        ("abcdef", "hello"),
        ("The remainder of `indices` divided by 2 is 0 at every other position.",),
        'every_other = tokens if indices % 2 == 0 else "-";\n',
    ),
    Lesson(
        "first",
        "Look at another position",
        "first",
        (
            "So far no position knew of any other. `select(keys, queries, ==)` lets every position "
            "(a query, a row) choose the positions it looks at (keys, columns): those where the "
            "key equals the query. `aggregate(selector, tokens)` then fetches the tokens there. "
            "This is what an attention head of a transformer does.",
            "The program below fetches, for each position, its own token. Look at the picture of "
            "`look` on the right, then change it so that every position looks at position 0.",
        ),
        "look = select(indices, indices, ==);\nfirst = aggregate(look, tokens);\n",
        "hello",
        "abc",
        ("hello",),
        (
            "Row i asks with its query. Which query makes the key 0 the only one that is equal?",
            "A number works as a query: the same one in every row.",
        ),
        "look = select(indices, 0, ==);\nfirst = aggregate(look, tokens);\n",
    ),
    Lesson(
        "previous",
        "Look one to the left",
        "previous",
        (
            "A query can be computed. Position 3 wants the key 2, position 4 the key 3, and so on.",
            "Give each position the token to its left. Position 0 has none: its row stays empty, "
            'and the third argument of `aggregate`, "-", is what it gets.',
        ),
        'left = select(indices, indices, ==);\nprevious = aggregate(left, tokens, "-");\n',
        "hello",
        "abc",
        ("hello", "ab"),
        ("Subtract something from the query, the second argument of `select`.",),
        'left = select(indices, indices - 1, ==);\nprevious = aggregate(left, tokens, "-");\n',
    ),
    Lesson(
        "reverse",
        "Turn it around",
        "reverse",
        (
            "`length` is how many tokens there are, at every position. It takes a head of its own "
            "to find out: look at the Architecture tab when you are done.",
            "Reverse the input: position 0 gets the last token, position 1 the one before it, …",
        ),
        "flip = select(indices, indices, ==);\nreverse = aggregate(flip, tokens);\n",
        "hello",
        "abc",
        ("hello", "ab"),
        (
            "The last position is `length - 1`. Position 0 wants it; what does position i want?",
            "Position i wants `length - 1 - i`.",
        ),
        "flip = select(indices, length - 1 - indices, ==);\nreverse = aggregate(flip, tokens);\n",
    ),
    Lesson(
        "fraction",
        "Many picks make a mean",
        "fraction",
        (
            "When a row picks several positions, `aggregate` gives the mean of their values. "
            "`select_all` picks every position; `indicator` turns True into 1 and False into 0.",
            'What part of the input is the letter "a"? Give the same number at every position.',
        ),
        "fraction = aggregate(select_all, indices);\n",
        "banana",
        "abc",
        ("banana", "abc"),
        ("The mean of ones and zeros is the part of ones.",
         'Which s-op is 1 where the token is "a"? `indicator(tokens == "a")`.'),
        'fraction = aggregate(select_all, indicator(tokens == "a"));\n',
    ),
    Lesson(
        "hist",
        "Count the same ones",
        "hist",
        (
            "`selector_width(selector)` counts how many positions each row picked.",
            "For each token, how often does it occur in the whole input? This is the paper's "
            "histogram.",
        ),
        "same = select(indices, indices, ==);\nhist = selector_width(same);\n",
        "hello",
        "abc",
        ("hello", "banana"),
        ("Each position should pick the positions that hold the same token.",
         "Keys and queries need not be `indices`: any s-op will do."),
        "same = select(tokens, tokens, ==);\nhist = selector_width(same);\n",
    ),
    Lesson(
        "seen_before",
        "Two conditions at once",
        "seen_before",
        (
            "Selectors combine with `and`, `or` and `not`. Comparisons other than `==` work too: "
            "`select(indices, indices, <)` picks the positions to the left of each query.",
            "How often has each token occurred before, to its left?",
        ),
        "same = select(tokens, tokens, ==);\nearlier = select(indices, indices, <);\n"
        "seen_before = selector_width(same);\n",
        "banana",
        "abc",
        ("banana", "aaa"),
        ("Count the positions that are the same `and` earlier.",),
        "same = select(tokens, tokens, ==);\nearlier = select(indices, indices, <);\n"
        "seen_before = selector_width(same and earlier);\n",
    ),
    Lesson(
        "sort",
        "Sort",
        "sorted",
        (
            "If each position knew how many tokens come before its own in the sorted order, every "
            "position could fetch the right one. Smaller tokens come before; of equal ones, those "
            "further left.",
            "Sort the tokens. `<` compares letters by the alphabet. The library has `sort`, but "
            "try it without.",
        ),
        "smaller = select(tokens, tokens, <);\nplace = selector_width(smaller);\n"
        "sorted = aggregate(select(place, indices, ==), tokens);\n",
        "banana",
        "abc",
        ("banana", "cab"),
        ("`place` is the same for equal tokens, so two would sit on one place.",
         "Count also the equal tokens further left: "
         "`smaller or (select(tokens, tokens, ==) and select(indices, indices, <))`."),
        "smaller = select(tokens, tokens, <);\n"
        "equal_and_left = select(tokens, tokens, ==) and select(indices, indices, <);\n"
        "place = selector_width(smaller or equal_and_left);\n"
        "sorted = aggregate(select(place, indices, ==), tokens);\n",
    ),
    Lesson(
        "balance",
        "Count brackets",
        "balance",
        (
            "A mean over everything up to here, times how many that are, is a sum up to here. "
            "`indices + 1` is how many positions there are up to each position.",
            "At each position, how many brackets are open: the `(` so far less the `)` so far?",
        ),
        'up_to_here = select(indices, indices, <=);\nopens = indicator(tokens == "(");\n'
        "balance = aggregate(up_to_here, opens) * (indices + 1);\n",
        "(()())",
        "()",
        ("(()())", "())"),
        ("The program counts `(` already. Subtract the `)` in the same way.",
         "Or make one s-op that is 1 at `(` and -1 at `)`: then one head is enough."),
        'up_to_here = select(indices, indices, <=);\n'
        'step = indicator(tokens == "(") - indicator(tokens == ")");\n'
        "balance = aggregate(up_to_here, step) * (indices + 1);\n",
    ),
    Lesson(
        "palindrome",
        "A question about the whole",
        "is_palindrome",
        (
            "Put it together: is the input the same forwards and backwards? Every position should "
            "give the same answer, True or False.",
            "`x in s_op` asks whether some position of an s-op holds x.",
        ),
        "reverse = aggregate(select(indices, length - 1 - indices, ==), tokens);\n"
        "is_palindrome = reverse == tokens;\n",
        "abca",
        "ab",
        ("abca", "level"),
        ("`reverse == tokens` is False somewhere if the input is not a palindrome.",
         "Ask whether it is False anywhere: `not (False in (reverse == tokens))`."),
        "reverse = aggregate(select(indices, length - 1 - indices, ==), tokens);\n"
        "is_palindrome = not (False in (reverse == tokens));\n",
    ),
)  # fmt: skip


def find_exercise(name: str) -> Lesson:
    """Return an exercise by its name."""
    for exercise in EXERCISES:
        if exercise.name == name:
            return exercise
    raise RaspNameError(f"there is no exercise `{name}`", hint="choose one from the list")
