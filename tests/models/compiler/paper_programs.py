"""The paper's tasks as programs to compile, with the size of hand-made weights at length 40."""

from __future__ import annotations

import random
from dataclasses import dataclass

from rasp.base.atoms import Atom
from rasp.models.compiler.settings import Settings

LETTERS = "abcdefghij"
BRACKETS = """
pairs = ["()", "{}"];
openers = [p[0] for p in pairs];
closers = [p[1] for p in pairs];
opens = tokens in openers;
closes = tokens in closers;
depth = num_prevs(opens) - num_prevs(closes);
adjusted_depth = depth + indicator(closes);
"""
MATCHING = """
matched_opener = aggregate(open_for_close, tokens, "-");
mismatch = closes and not ((matched_opener + tokens) in pairs);
had_problem = num_prevs(mismatch or depth < 0) > 0;
out = "F" if had_problem else ("T" if depth == 0 else "P");
"""


@dataclass(frozen=True)
class Task:
    """A program whose s-op `out` is compiled."""

    text: str
    vocabulary: str
    heads_per_layer: tuple[int, ...]
    parameters: int
    """The figure to reach at length 40: of weights made by hand, or of what the compiler has
    reached (double hist with a BOS)."""
    causal: bool = False
    heads: str = "paper"
    sink: bool = True
    bos: str | None = None
    longest: int = 1000
    """Beyond this length the weights are too large to be made in passing."""
    needs_different_tokens: bool = False
    """Whether the program has a value only where no token comes twice."""

    def draw(self, settings: Settings, chooser: random.Random) -> tuple[Atom, ...] | None:
        """An input of the kind that the program is for; None where any will do."""
        if not self.needs_different_tokens:
            return None
        most = min(len(settings.vocabulary), settings.max_length)
        return tuple(chooser.sample(settings.vocabulary, chooser.randint(1, most)))


TASKS = {
    "reverse": Task(
        "out = aggregate(select(indices, length - indices - 1, ==), tokens);", LETTERS, (1, 1), 476
    ),
    "hist": Task("out = selector_width(select(tokens, tokens, ==));", LETTERS, (1,), 456),
    "hist, no sink": Task(
        "out = selector_width(select(tokens, tokens, ==));", LETTERS, (2,), 4093, sink=False
    ),
    "double hist": Task(
        """hist = selector_width(select(tokens, tokens, ==));
        first = not has_prev(tokens);
        out = selector_width(select(hist, hist, ==) and select(first, True, ==));""",
        LETTERS,
        (2, 1),
        1764,
    ),
    "double hist, BOS": Task(
        """hist = histf(tokens, assume_bos=True);
        first = not has_prev(tokens);
        same_count = select(hist, hist, ==) and select(first, True, ==);
        out = selector_width(same_count, assume_bos=True);""",
        LETTERS,
        (2, 1),
        1765,
        bos="§",
    ),
    "sort, unique keys": Task(
        """place = selector_width(select(tokens, tokens, <));
        out = aggregate(select(place, indices, ==), tokens);""",
        LETTERS,
        (1, 1),
        2735,
        needs_different_tokens=True,
    ),
    "sort, one head": Task("out = sort(tokens, tokens);", LETTERS, (1, 1), 799392, longest=40),
    "sort, split": Task("out = sort(tokens, tokens);", LETTERS, (2, 1), 14531, heads="split"),
    "most freq, split": Task(
        """freq = histf(tokens);
        dup = has_prev(tokens);
        out = sort("-" if dup else tokens, 0 if dup else -freq);""",
        LETTERS,
        (2, 2, 1),
        46075,
        heads="split",
    ),
    "most freq, as printed": Task(
        """max_len = 20000;
        freq = histf(tokens, assume_bos=True);
        is_repr = not has_prev(tokens);
        keys = freq - indicator(not is_repr) * max_len;
        values = tokens if is_repr else "§";
        out = sort(values, keys, assume_bos=True);""",
        LETTERS,
        (2, 2, 1),
        79_279,
        heads="split",
        bos="§",
    ),
    "dyck-1": Task(
        """balance = num_prevs(tokens == "(") - num_prevs(tokens == ")");
        out = "F" if num_prevs(balance < 0) > 0 else ("T" if balance == 0 else "P");""",
        "()a",
        (1, 1),
        10982,
    ),
    "dyck-1, causal": Task(
        """balance = num_prevs(tokens == "(") - num_prevs(tokens == ")");
        out = "F" if num_prevs(balance < 0) > 0 else ("T" if balance == 0 else "P");""",
        "()a",
        (1, 1),
        534,
        causal=True,
    ),
    "dyck-2, select_best": Task(
        BRACKETS
        + """
        open_for_close = select_best(
            select(indices, indices, <) and select(opens, True, ==)
                and select(adjusted_depth, adjusted_depth, ==),
            score(indices, 1));"""
        + MATCHING,
        "(){}a",
        (1, 1, 1),
        25541,
    ),
    "dyck-2, pure": Task(
        BRACKETS
        + """
        same_depth = select(adjusted_depth, adjusted_depth, ==) and select(indices, indices, <=);
        depth_index = selector_width(same_depth);
        open_for_close = select(opens, True, ==) and same_depth
            and select(depth_index, depth_index - 1, ==);"""
        + MATCHING,
        "(){}a",
        (1, 2, 1, 1),
        40526,
    ),
    "shuffle-dyck-2": Task(
        """bal1 = pair_balance("(", ")");
        bal2 = pair_balance("{", "}");
        had_negative = aggregate(select_all, indicator(bal1 < 0 or bal2 < 0)) > 0;
        last = select(indices, length - 1, ==);
        out = aggregate(last, bal1 == 0 and bal2 == 0) and not had_negative;""",
        "(){}a",
        (2, 2),
        8504,
    ),
    "length": Task("out = length;", LETTERS, (1,), 240),
    "frac_prevs, causal": Task('out = frac_prevs(tokens, "a");', LETTERS, (1,), 174, causal=True),
}
