"""Change every stored number of small models in every way: each mutant is refused, or is right.

    python scripts/check_mutants.py [--processes N] [--most N] [RECORD.json]

The models and the changes are those of `tests/models/certificate`; a mutant that passes the checker
is run on every input that the model takes. Of a model with more than `--most` mutants, so many are
drawn at random.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "models" / "certificate"))

from mutants import outcome

import rasp
from models import KINDS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--most", type=int, default=10_000)
    parser.add_argument("record", type=Path, nargs="?")
    options = parser.parse_args()
    record: dict[str, Any] = {"rasp": rasp.__version__, "most": options.most, "models": {}}
    started, failed = time.perf_counter(), 0
    parts = [slice(first, None, options.processes) for first in range(options.processes)]
    with ProcessPoolExecutor(options.processes) as pool:
        shares = {name: [pool.submit(outcome, name, options.most, 0, part) for part in parts]
                  for name in KINDS}  # fmt: skip
        for name, waiting in shares.items():
            refused, right, total, wrong = zip(*(share.result() for share in waiting), strict=True)
            mistaken = [label for labels in wrong for label in labels]
            record["models"][name] = {"mutants": sum(total), "refused": sum(refused),
                                      "right": sum(right), "wrong": mistaken}  # fmt: skip
            failed += len(mistaken)
            print(f"{name}: {sum(total)} mutants, {sum(refused)} refused, {sum(right)} right,",
                  f"{len(mistaken)} wrong", *mistaken[:5], flush=True)  # fmt: skip
            record["seconds"] = round(time.perf_counter() - started)
            if options.record:  # what is known so far
                text = json.dumps(record, indent=1, ensure_ascii=False)
                options.record.write_text(text + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
