"""The VS Code extension packages cleanly: bundled, with its icon and licence, and nothing else."""

import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from repository import ROOT

EXTENSION = ROOT / "editors" / "vscode"
NODE_MODULES = {
    "assert", "child_process", "crypto", "events", "fs", "net", "os", "path", "process", "readline",
    "stream",
    "timers", "url", "util", "vscode", "worker_threads",
}  # fmt: skip


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("npm") is None:
        pytest.skip("packaging the VS Code extension needs node and npm")
    if not (EXTENSION / "node_modules" / "@vscode" / "vsce").is_dir():
        install = ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock"]
        try:
            subprocess.run(install, cwd=EXTENSION, check=True, capture_output=True, timeout=240)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as failed:
            pytest.skip(f"npm could not fetch the packager: {failed}")
    target = tmp_path_factory.mktemp("vsix") / "rasp.vsix"
    command = ["npm", "run", "-s", "package", "--", "--out", str(target)]
    made = subprocess.run(command, cwd=EXTENSION, capture_output=True, text=True, timeout=240)
    assert made.returncode == 0, made.stdout + made.stderr
    assert not re.search(r"\b(WARN|ERROR)", made.stdout + made.stderr), made.stdout
    return target


@pytest.mark.slow
def test_the_package_holds_what_it_needs_and_nothing_else(package: Path) -> None:
    with zipfile.ZipFile(package) as archive:
        names = set(archive.namelist())
        manifest = archive.read("extension.vsixmanifest").decode()
        script = archive.read("extension/dist/extension.js").decode()
        icon = archive.read("extension/icon.png")
    assert names == {
        "[Content_Types].xml", "extension.vsixmanifest", "extension/LICENSE.txt",
        "extension/dist/extension.js", "extension/icon.png",
        "extension/language-configuration.json", "extension/package.json", "extension/readme.md",
        "extension/syntaxes/rasp.tmLanguage.json",
    }  # fmt: skip
    assert "LICENSE.txt" in manifest and "icon.png" in manifest
    assert icon.startswith(b"\x89PNG")
    required = {name.removeprefix("node:") for name in re.findall(r'require\("([^".]+)"\)', script)}
    assert {name.split("/")[0] for name in required} <= NODE_MODULES, "something was not bundled"


def test_the_extension_has_the_version_of_the_package() -> None:
    import rasp

    described = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    assert described["version"] == rasp.__version__
