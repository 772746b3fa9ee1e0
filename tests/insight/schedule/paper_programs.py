"""The paper's listings with their slips fixed: what the table of layers and heads is about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PaperProgram:
    """A program text, the s-op asked about, and the heads in each layer that the paper counts."""

    text: str
    name: str
    heads: tuple[int, ...]


OWN_LIBRARY = """
select_all = select(1, 1, ==);
length = 1 / aggregate(select_all, indicator(indices == 0));
def select_eq(seq, atom) { return select(seq, atom, ==); }
def selector_width(sel, assume_bos = False) {
    light0 = indicator(indices == 0);
    or0 = sel or select_eq(indices, 0);
    and0 = sel and select_eq(indices, 0);
    or0_0_frac = aggregate(or0, light0);
    or0_width = 1 / or0_0_frac;
    and0_width = aggregate(and0, light0, 0);
    bos_res = or0_width - 1;
    nobos_res = bos_res + and0_width;
    return bos_res if assume_bos else nobos_res;
}
def histf(seq, assume_bos = False) {
    same_tok = select(seq, seq, ==);
    return selector_width(same_tok, assume_bos = assume_bos);
}
def has_prev(seq) {
    prev_copy = select(seq, seq, ==) and select(indices, indices, <);
    return aggregate(prev_copy, 1, 0) > 0;
}
def sort(vals, keys, assume_bos = False) {
    smaller = select(keys, keys, <) or (select(keys, keys, ==) and select(indices, indices, <));
    num_smaller = selector_width(smaller, assume_bos = assume_bos);
    target_pos = num_smaller if not assume_bos else (0 if indices == 0 else (num_smaller + 1));
    sel_new = select(target_pos, indices, ==);
    return aggregate(sel_new, vals);
}
def num_prevs(bools) {
    prevs = select(indices, indices, <=);
    return (indices + 1) * aggregate(prevs, indicator(bools));
}
def frac_prevs(sop, val) {
    prevs = select(indices, indices, <=);
    return aggregate(prevs, indicator(sop == val));
}
def pair_balance(open, close) {
    opens = frac_prevs(tokens, open);
    closes = frac_prevs(tokens, close);
    return opens - closes;
}
"""
"""The functions as the paper prints them, in place of the library's own."""

REVERSE = """
opp_index = length - indices - 1;
flip = select(indices, opp_index, ==);
reverse = aggregate(flip, tokens);
"""

DOUBLE_HIST = """
same_tok = select(tokens, tokens, ==);
hist = selector_width(same_tok, assume_bos = True);
first = not has_prev(tokens);
same_count = select(hist, hist, ==);
same_count_reprs = same_count and select(first, True, ==);
hist2 = selector_width(same_count_reprs, assume_bos = True);
"""

MOST_FREQ = """
max_len = 20000;
freq = histf(tokens, assume_bos = True);
is_repr = not has_prev(tokens);
keys = freq - indicator(not is_repr) * max_len;
values = tokens if is_repr else "§";
most_freq = sort(values, -keys, assume_bos = True);
"""

DYCK_1 = """
n_opens = num_prevs(tokens == "(");
n_closes = num_prevs(tokens == ")");
balance = n_opens - n_closes;
prev_imbalances = num_prevs(balance < 0);
dyck1PTF = "F" if prev_imbalances > 0 else ("T" if balance == 0 else "P");
"""

DYCK_START = """
pairs = ["()", "{}"];
openers = [p[0] for p in pairs];
closers = [p[1] for p in pairs];
opens = tokens in openers;
closes = tokens in closers;
n_opens = num_prevs(opens);
n_closes = num_prevs(closes);
depth = n_opens - n_closes;
adjusted_depth = depth + indicator(closes);
"""

DYCK_MATCH_PURE = """
earlier_same_depth = select(adjusted_depth, adjusted_depth, ==) and
    select(indices, indices, <=) and select(opens or closes, True, ==);
depth_index = selector_width(earlier_same_depth);
open_for_close = select(opens, True, ==) and earlier_same_depth and
    select(depth_index, depth_index - 1, ==);
"""

DYCK_MATCH_BEST = """
possible_open_for_close = select(indices, indices, <) and select(opens, True, ==) and
    select(adjusted_depth, adjusted_depth, ==);
open_for_close = select_best(possible_open_for_close, score(indices, 1));
"""

DYCK_END = """
matched_opener = aggregate(open_for_close, tokens, "-");
opener_matches = (matched_opener + tokens) in pairs;
mismatch = closes and not opener_matches;
had_problem = num_prevs(mismatch or depth < 0) > 0;
dyck = "F" if had_problem else ("T" if depth == 0 else "P");
"""

SHUFFLE_START = """
bal1 = pair_balance("(", ")");
bal2 = pair_balance("{", "}");
negative = bal1 < 0 or bal2 < 0;
had_neg = aggregate(select_all, indicator(negative)) > 0;
"""

SHUFFLE_END = """
end_0 = aggregate(select_last, bal1 == 0 and bal2 == 0);
shuffle_dyck2 = end_0 and not had_neg;
"""

SELECT_LAST = "select_last = select(indices, length - 1, ==);"
SELECT_LAST_BEST = "select_last = select_best(select_all, score(indices, 1));"

DYCK_PURE = DYCK_START + DYCK_MATCH_PURE + DYCK_END
DYCK_BEST = DYCK_START + DYCK_MATCH_BEST + DYCK_END
SHUFFLE_PRINTED = SHUFFLE_START + SELECT_LAST + SHUFFLE_END
SHUFFLE_BEST = SHUFFLE_START + SELECT_LAST_BEST + SHUFFLE_END

PAPER_PROGRAMS = {
    "reverse": PaperProgram(REVERSE, "reverse", (1, 1)),
    "hist with BOS": PaperProgram("hist = histf(tokens, assume_bos = True);", "hist", (1,)),
    "hist without BOS": PaperProgram("hist = histf(tokens);", "hist", (2,)),
    "double hist": PaperProgram(DOUBLE_HIST, "hist2", (2, 1)),
    "sort": PaperProgram("sorted = sort(tokens, tokens, assume_bos = True);", "sorted", (1, 1)),
    "most freq": PaperProgram(MOST_FREQ, "most_freq", (2, 1, 1)),
    "Dyck-1": PaperProgram(DYCK_1, "dyck1PTF", (1, 1)),
    "Dyck-2 with select_best": PaperProgram(DYCK_BEST, "dyck", (1, 1, 1)),
    "Dyck-2, pure": PaperProgram(DYCK_PURE, "dyck", (1, 2, 1, 1)),
    "Shuffle-Dyck-2 as printed": PaperProgram(SHUFFLE_PRINTED, "shuffle_dyck2", (2, 2)),
    "Shuffle-Dyck-2": PaperProgram(SHUFFLE_BEST, "shuffle_dyck2", (1, 2)),
}
