"""The language server in a real editor: Neovim without a screen."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="needs the extra `lsp`")
if shutil.which("nvim") is None:
    pytest.skip("needs Neovim", allow_module_level=True)

ROOT = Path(__file__).parents[2]
PROGRAM = """\
hist=selector_width(select(tokens,tokens,==));
flip = select(indices, length - 1 - indices, ==);
reverse = aggregate(flip, tokns);
"""


def test_neovim_shows_renames_lays_out_and_sees_mistakes_go(tmp_path: Path) -> None:
    file, result = tmp_path / "demo.rasp", tmp_path / "result.json"
    file.write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, "-m", "rasp", "lsp"]
    folder = str(ROOT / "editors" / "neovim")
    told = json.dumps([folder, command, str(file), str(result)])
    script = Path(__file__).with_name("session.lua")
    subprocess.run(
        ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-c", f"luafile {script}"],
        env=os.environ | {"RASP_TEST": told, "XDG_STATE_HOME": str(tmp_path)},
        capture_output=True, timeout=120, check=True, cwd=tmp_path,
    )  # fmt: skip
    found = json.loads(result.read_text(encoding="utf-8"))
    assert found["filetype"] == "rasp"
    assert found["mistakes"] == ["`tokns` is not defined\nhint: did you mean `tokens`?"]
    assert 'hist("abca") = [2, 1, 1, 2]' in found["hover"]
    assert found["definition"] == 1
    assert found["text"].split("\n") == [
        "hist = selector_width(select(tokens, tokens, ==));",
        "mirror = select(indices, length - 1 - indices, ==);",
        "reverse = aggregate(mirror, tokns);",
    ]
    assert found["fixed"] == []
