"""The paper's eight tasks as it trained them, and the numbers it reports (section 5, appendix A).

Programs are written anew, with the slips of the paper's listings fixed: Dyck-2 uses select_best
and does not count neutral tokens, most-freq sorts in descending order.
"""

from __future__ import annotations

import string
from dataclasses import dataclass, replace

from rasp.models.training.tasks import TrainingTask

BOS = "§"
HUNDRED = tuple(f"{number:02}" for number in range(100))
LETTERS = tuple(string.ascii_lowercase)

REVERSE = """
flip = select(indices, length - 1 - indices, ==);
reverse = aggregate(flip, tokens);
"""

HIST_BOS = "hist = histf(tokens, assume_bos=True);"

SORT = "sorted = sort(tokens, tokens, assume_bos=True);"

DOUBLE_HIST = """
hist = histf(tokens, assume_bos=True);
first = not has_prev(tokens);
same_count = select(hist, hist, ==) and select(first, True, ==);
double_hist = selector_width(same_count, assume_bos=True);
"""

MOST_FREQ = """
freq = histf(tokens, assume_bos=True);
repeated = has_prev(tokens);
rank = freq - indicator(repeated) * 20000;
most_freq = sort("§" if repeated else tokens, -rank, assume_bos=True);
"""

DYCK_1 = """
balance = num_prevs(tokens == "(") - num_prevs(tokens == ")");
failed = num_prevs(balance < 0) > 0;
dyck = "F" if failed else ("T" if balance == 0 else "P");
"""

DYCK_2 = """
pairs = ["()", "{}"];
opens = tokens in [pair[0] for pair in pairs];
closes = tokens in [pair[1] for pair in pairs];
depth = num_prevs(opens) - num_prevs(closes);
outer = depth + indicator(closes);
candidates = select(opens, True, ==) and select(outer, outer, ==) and select(indices, indices, <);
opener = aggregate(select_best(candidates, score(indices, 1)), tokens, "-");
mismatch = closes and not ((opener + tokens) in pairs);
failed = num_prevs(mismatch or depth < 0) > 0;
dyck = "F" if failed else ("T" if depth == 0 else "P");
"""


@dataclass(frozen=True)
class PaperRow:
    """What the paper says of a task: its size, and accuracies in percent."""

    title: str
    layers: int
    heads: int
    best: float
    """Table 1: the best of four."""
    means: tuple[float | None, float | None, float | None, float | None]
    """Table 2: the mean of four at (L, H), (L, H-1), (L-1, H), (L-1, 2H); None is a dash."""


TASKS: dict[str, TrainingTask] = {
    task.name: task
    for task in (
        TrainingTask("reverse", REVERSE, "reverse", HUNDRED),
        TrainingTask("hist_bos", HIST_BOS, "hist", LETTERS, bos=BOS, clip=10),
        TrainingTask("hist", "hist = histf(tokens);", "hist", LETTERS, clip=10),
        TrainingTask("double_hist", DOUBLE_HIST, "double_hist", LETTERS, bos=BOS),
        TrainingTask("sort", SORT, "sorted", HUNDRED, bos=BOS),
        TrainingTask("most_freq", MOST_FREQ, "most_freq", LETTERS, bos=BOS),
        TrainingTask("dyck_1", DYCK_1, "dyck", tuple("()a"), way="dyck"),
        TrainingTask("dyck_2", DYCK_2, "dyck", tuple("(){}a"), way="dyck"),
    )
}  # fmt: skip

ROWS: dict[str, PaperRow] = {
    "reverse": PaperRow("Reverse", 2, 1, 99.99, (99.9, None, 23.1, 41.2)),
    "hist_bos": PaperRow("Hist BOS", 1, 1, 100.0, (None, None, None, None)),
    "hist": PaperRow("Hist no BOS", 1, 2, 99.97, (99.9, 91.9, None, None)),
    "double_hist": PaperRow("Double Hist", 2, 2, 99.58, (99.0, 73.5, 40.5, 83.5)),
    "sort": PaperRow("Sort", 2, 1, 99.96, (99.8, None, 99.0, 99.9)),
    "most_freq": PaperRow("Most Freq", 3, 2, 95.99, (93.9, 92.1, 84.0, 90.2)),
    "dyck_1": PaperRow("Dyck-1 PTF", 2, 1, 99.67, (99.3, None, 96.9, 96.4)),
    "dyck_2": PaperRow("Dyck-2 PTF", 3, 1, 99.85, (99.7, None, 98.8, 94.1)),
}

SUPERVISED: dict[str, tuple[TrainingTask, float]] = {
    "double_hist": (TASKS["double_hist"], 99.0),
    "sort": (replace(TASKS["sort"], alphabet=tuple(string.ascii_letters)), 99.0),
    "most_freq": (TASKS["most_freq"], 99.9),
}
"""Appendix A: trained with the program's attention too, and the accuracy reached (99+ % said)."""
