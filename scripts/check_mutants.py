"""Change every stored number of small models in every way: each mutant is refused, or is right.

    python scripts/check_mutants.py [RECORD.json]

The models and the changes are those of `tests/certificate`; a mutant that passes the checker is
run on every input that the model takes.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "certificate"))

from models import KINDS
from mutants import outcome

import rasp


def main() -> int:
    record: dict[str, Any] = {"rasp": rasp.__version__, "models": {}}
    started, failed = time.perf_counter(), 0
    for name in KINDS:
        refused, right, total, wrong = outcome(name, None)
        record["models"][name] = {"mutants": total, "refused": refused, "right": right,
                                  "wrong": wrong}  # fmt: skip
        failed += len(wrong)
        print(f"{name}: {total} mutants, {refused} refused, {right} right, {len(wrong)} wrong",
              *wrong[:5], flush=True)  # fmt: skip
        record["seconds"] = round(time.perf_counter() - started)
        for place in sys.argv[1:]:  # what is known so far
            Path(place).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
