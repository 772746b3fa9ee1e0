"""How far are trained GPT-2s their languages? A table of `decompiling_transformers`' models.

    python bench/prove_decompiled.py GIT_DIR [NAME…]

The models (of "D-RASP") say which tokens may come next, by the sign of one logit for each token,
after every prefix of a word of a language; *majority* answers at a separator. Each language is
written here once more, as a function from a prefix to what may follow. Nothing of the repository
is kept: each model is read into a temporary folder.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rasp.models.proving import Adapter, ModelComparison, prove

Following = Callable[[str], str]
END = "."
MODELS = "share/saved_models"
MOST = {1: 60, 2: 12, 3: 8, 4: 7, 5: 6}
"""The greatest length for so many letters."""


def tomita3(word: str) -> str:
    """No odd run of zeros after an odd run of ones."""
    zeros = len(word) - len(word.rstrip("0"))
    before = word.rstrip("0")
    ones = len(before) - len(before.rstrip("1"))
    return "0" if zeros % 2 and ones % 2 else "01" + END


def depth_at_most(most: int) -> Following:
    def following(word: str) -> str:
        depth = word.count("a") - word.count("b")
        return "a" * (depth < most) + ("b" if depth else END)

    return following


def multiples(count: int) -> Following:
    return lambda word: "a" + END * (len(word) % count == 0)


NEXT = {"a": "ab", "b": "bc", "c": "cd", "d": "de", "e": "e" + END}
LANGUAGES: dict[str, tuple[str, Following]] = {
    "tomita1": ("01", lambda word: "1" + END),
    "tomita2": ("01", lambda word: "0" if word[-1:] == "1" else "1" + END),
    "tomita3": ("01", tomita3),
    "tomita4": ("01", lambda word: ("1" if word[-2:] == "00" else "01") + END),
    "tomita5": ("01", lambda word: "01" + END * (word.count("0") % 2 == word.count("1") % 2 == 0)),
    "tomita7": ("01", lambda word: ("1" if "10" in word and word[word.index("10") :].count("1") > 1
                                    else "01") + END),
    "D2": ("ab", depth_at_most(2)),
    "D3": ("ab", depth_at_most(3)),
    "D4": ("ab", depth_at_most(4)),
    "aastar": ("a", multiples(2)),
    "aaaastar": ("a", multiples(4)),
    "ababstar": ("ab", lambda word: "ab"[len(word) % 2] + END * (len(word) % 4 == 0)),
    "abcde": ("abcde", lambda word: NEXT[word[-1]] if word else "a"),
    "ab_d_bc": ("abcd", lambda word: "bc" + END if "d" in word else "abd"),
    "012_0_2": ("012", lambda word: "012" + END * (word.rstrip("2")[-1:] == "0")),
}  # fmt: skip


def is_prefix(following: Following, tokens: list[str]) -> bool:
    word = "".join(tokens)
    return all(letter in following(word[:place]) for place, letter in enumerate(word))


def table_row(folder: Path, task: str, up_to: int | None = None) -> str:
    """Prove one model, token by token: how far, or the first word that it gets wrong."""
    start, found = time.process_time(), []
    if task == "majority":
        names = ("0", "1", "bos", "sep", "eos", "pad")
        adapter = Adapter("01", (0, 1), names, "last", before=(2,), after=(3,))
        found.append(prove(
            folder, lambda tokens: "01"[2 * tokens.count("1") > len(tokens)], adapter=adapter,
            where=lambda tokens: 2 * tokens.count("1") != len(tokens), up_to=up_to or 14,
        ))  # fmt: skip
    else:
        letters, following = LANGUAGES[task]
        for token in letters + END:
            found.append(one_token(folder, letters, following, token, up_to))
    wrong = [one for one in found if one.difference is not None]
    taken = time.process_time() - start
    if wrong:
        first = min(wrong, key=lambda one: len(one.difference.tokens) if one.difference else 0)
        assert first.difference is not None
        return f"different at {first.difference.input} (length {first.up_to}), {taken:.1f} s"
    margin = min((one.margin for one in found if one.margin is not None), default=0.0)
    return (
        f"{found[0].verdict} up to {found[0].up_to}: {found[0].inputs} inputs, margin "
        f"{margin:.4g}, radius {max(one.radius for one in found):.1g}, {taken:.1f} s"
    )


def one_token(
    folder: Path, letters: str, following: Following, token: str, up_to: int | None
) -> ModelComparison:
    """Is the sign of a token's logit right after every prefix?"""
    size = len(letters)
    logit = letters.index(token) if token in letters else size + 2
    adapter = Adapter(letters, tuple(range(size)), (False, True), "last", before=(size,),
                      logits=(logit, logit + 1), codes=(-1.0, 1.0))  # fmt: skip

    def may_follow(tokens: list[str]) -> bool:
        return token in following("".join(tokens))

    return prove(
        folder, may_follow, adapter=adapter, up_to=up_to or MOST[size],
        where=lambda tokens: is_prefix(following, tokens),
    )  # fmt: skip


def main() -> None:
    git, names = f"--git-dir={sys.argv[1]}", sys.argv[2:]

    def show(*words: str) -> bytes:
        return subprocess.run(["git", git, *words], capture_output=True, check=True).stdout

    for path in show("ls-tree", "HEAD", f"{MODELS}/", "--name-only").decode().splitlines():
        name = path.rpartition("/")[2]
        front, _, shape = name.partition("-@")
        task = front.removeprefix("bce_").removeprefix("bin_")
        known = front == "bin_majority" or (front.startswith("bce_") and task in LANGUAGES)
        if not shape or not known or (names and task not in names):
            continue
        with tempfile.TemporaryDirectory() as place:
            for file in ("config.json", "model.safetensors"):
                (Path(place) / file).write_bytes(show("show", f"HEAD:{path}/{file}"))
            accuracy = " ".join(show("show", f"HEAD:{path}/acc.txt").decode().split()[1:3])
            print(f"{task:9} {shape:18} {accuracy}  {table_row(Path(place), task)}", flush=True)


if __name__ == "__main__":
    main()
