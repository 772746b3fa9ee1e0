"""What a browser tab gets of the package is enough to answer in it."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from repository import script

IN_A_TAB = """
import json, sys
class NoNumpy:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "numpy":
            raise ModuleNotFoundError(f"a tab has no {name}")
sys.meta_path.insert(0, NoNumpy())
sys.path.insert(0, sys.argv[1])
from rasp.apps.playground.page_answers import answer_text
request = {"kind": "run", "program": "hist = histf(tokens);", "example": "aab"}
print(json.dumps("errors" in json.loads(answer_text(json.dumps(request)))))
"""


@pytest.mark.slow
def test_what_a_tab_gets_answers_without_numpy(tmp_path: Path) -> None:
    core = tmp_path / "rasp.zip"
    script("build_static").write_core(core)
    with zipfile.ZipFile(core) as archive:
        archive.extractall(tmp_path / "core")
    command = [sys.executable, "-I", "-S", "-c", IN_A_TAB, str(tmp_path / "core")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "true\n", done.stderr
