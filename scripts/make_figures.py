"""Draw the pictures of docs/figures again: `python scripts/make_figures.py [folder]`.

Each program and input is that of one of the paper's figures (section 5 and appendix B). Those in
`tutorial/` are of the tutorial's own snippets, up to the section that the picture is in.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import rasp
from rasp.insight.drawing import Drawing, draw

DOCS = Path(__file__).resolve().parents[1] / "docs"
DYCK = """
opens = tokens in openers;
closes = tokens in closers;
depth = num_prevs(opens) - num_prevs(closes);
adjusted_depth = depth + indicator(closes);
"""

MATCHED = """
matched_opener = aggregate(open_for_close, tokens, "-");
opener_matches = matched_opener + tokens in pairs;
mismatch = closes and not opener_matches;
had_problem = num_prevs(mismatch or depth < 0) > 0;
dyck2 = "F" if had_problem else ("T" if depth == 0 else "P");
"""

PAIRS = """
pairs = ["()", "{}"];
openers = [pair[0] for pair in pairs];
closers = [pair[1] for pair in pairs];
"""

# file name: (program, s-op, input)
PICTURES: dict[str, tuple[str, str, str]] = {
    "reverse": (
        """
opp_index = length - indices - 1;
flip = select(indices, opp_index, ==);
reverse = aggregate(flip, tokens);
""",
        "reverse",
        "abcde",
    ),
    "hist_bos": (
        """
same_tok = select(tokens, tokens, ==);
hist = selector_width(same_tok, assume_bos=True);
""",
        "hist",
        "§aabbaabb",
    ),
    "hist_nobos": (
        """
same_tok = select(tokens, tokens, ==);
hist = selector_width(same_tok);
""",
        "hist",
        "aabbaa",
    ),
    "hist2": (
        """
same_tok = select(tokens, tokens, ==);
hist = selector_width(same_tok, assume_bos=True);
first = not has_prev(tokens);
same_count = select(hist, hist, ==);
same_count_reprs = same_count and select(first, True, ==);
hist2 = selector_width(same_count_reprs, assume_bos=True);
""",
        "hist2",
        "§aaabbccdef",
    ),
    "sort": (
        "sorted = sort(tokens, tokens, assume_bos=True);",
        "sorted",
        "§fedcbaABCDEF",
    ),
    "most_freq": (
        """
max_len = 20000;
freq = histf(tokens, assume_bos=True);
is_repr = not has_prev(tokens);
keys = freq - indicator(not is_repr) * max_len;
values = tokens if is_repr else "§";
most_freq = sort(values, -keys, assume_bos=True);
""",
        "most_freq",
        "§abbccddd",
    ),
    "dyck1": (
        """
n_opens = num_prevs(tokens == "(");
n_closes = num_prevs(tokens == ")");
balance = n_opens - n_closes;
prev_imbalances = num_prevs(balance < 0);
dyck1 = "F" if prev_imbalances > 0 else ("T" if balance == 0 else "P");
""",
        "dyck1",
        "(())())",
    ),
    "dyck2": (
        PAIRS
        + DYCK
        + """
earlier_same_depth = select(adjusted_depth, adjusted_depth, ==) and select(indices, indices, <=);
depth_index = selector_width(earlier_same_depth);
open_for_close = select(opens, True, ==) and earlier_same_depth
    and select(depth_index, depth_index - 1, ==);
"""
        + MATCHED,
        "dyck2",
        "({))(})",
    ),
    "dyck2_best": (
        PAIRS
        + DYCK
        + """
possible_open = select(indices, indices, <) and select(opens, True, ==)
    and select(adjusted_depth, adjusted_depth, ==);
open_for_close = select_best(possible_open, score(indices, 1));
"""
        + MATCHED,
        "dyck2",
        "({))(})",
    ),
}


# file name: (section of the tutorial, s-op, input)
TUTORIAL: dict[str, tuple[int, str, str]] = {
    "one_value": (1, "is_l", "hello"),
    "looking": (2, "shifted", "abc"),
    "counting": (3, "hist", "hello"),
    "sorting": (5, "sorted", "hello"),
    "functions": (6, "a_so_far", "abba"),
}


def _snippets(page: str, before: str = "\0") -> str:
    """Join the snippets of a page, up to some words."""
    text = (DOCS / page).read_text(encoding="utf-8").partition(before)[0]
    return "\n".join(re.findall(r"^```rasp\n(.*?)^```", text, re.DOTALL | re.MULTILINE))


def drawings() -> Iterator[tuple[str, Drawing]]:
    """Draw each picture, with the name of its file."""
    for file, (text, name, given) in PICTURES.items():
        yield file, draw(rasp.run(text, f"{file}.rasp")[name], given)
    yield "front", draw(rasp.run(_snippets("index.md"), "reverse.rasp")["flip"], "hello")
    brackets = draw(rasp.programs.load("dyck2"), "(({}))({}){(())}()({})()")
    yield "compact", brackets.arranged(compact=True, width=900)
    for file, (section, name, given) in TUTORIAL.items():
        names = rasp.run(_snippets("tutorial.md", f"\n## {section + 1}. "), "tutorial.rasp")
        yield f"tutorial/{file}", draw(names[name], given)


def main(folder: Path) -> None:
    for file, drawing in drawings():
        path = folder / f"{file}.svg"
        path.parent.mkdir(parents=True, exist_ok=True)
        drawing.save(path)
        print(f"{path} {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "figures")
