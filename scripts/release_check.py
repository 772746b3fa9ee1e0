"""Is this tree fit to be released? `python scripts/release_check.py [--full] [--record]`.

Builds the wheel and the sdist once, then installs the wheel into clean environments: on each
Python there is, with each extra, with the lowest and the latest versions of what it depends on;
in each, `rasp` must answer. CI runs the quick part; `--full` adds everything that needs torch,
and ray; `--record` writes what was found to results/release.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.11", "3.12", "3.13")
LIGHT = ("schedule", "draw", "notebook", "play", "lsp", "onnx", "docs")
HEAVY = ("models", "transformers", "transformer-lens", "cluster")
TOOLS = ("pytest", "pytest-xdist", "hypothesis", "lark", "types-Pygments")
CORE_TESTS = (
    "tests/programs", "tests/base/test_atoms.py", "tests/test_errors.py",
    "tests/language/syntax", "tests/apps/cli/test_cli.py", "tests/apps/repl",
    "tests/language/meaning/test_load.py", "tests/language/evaluator",
)  # fmt: skip
BOUND_TESTS = (
    "tests/insight/schedule/test_schedule_parts.py", "tests/insight/schedule/test_sublayers.py",
    "tests/golden", "tests/apps/lsp", "tests/apps/notebook/test_cells.py",
    "tests/apps/notebook/test_display.py", "tests/insight/drawing/test_saving.py",
    "tests/apps/playground/test_server.py", "tests/apps/playground/test_for_a_class.py",
    "tests/teaching/sandbox",
)  # fmt: skip
"""What each extra does with the packages it needs; with the lowest versions, none is skipped."""
HEAVY_TESTS = {
    "cluster": ("tests/models/training/test_cluster.py",),
    "transformer-lens": ("tests/models/export/test_exports.py", "-k", "lens"),
}
LOCAL_WHEELS = (
    ("--find-links", os.environ["PIP_FIND_LINKS"]) if "PIP_FIND_LINKS" in os.environ else ()
)
USER_FILE = """\
import rasp

names = rasp.run("hist = histf(tokens);", limits=rasp.Limits(seconds=5))
same: rasp.SelectorHandle = rasp.select(rasp.tokens, rasp.tokens, "==")
width: rasp.SOpHandle = rasp.selector_width(same).named("width")
shifted = (width + 1) * 2
answers: list[object] = shifted("hello")
try:
    shifted("")
except rasp.RaspValueError as error:
    print(error.message, error.hint)
print(rasp.explain(width), rasp.draw(width, "abc").svg(), rasp.schedule(width).layers)
print(rasp.compile(width, vocabulary="ab", max_length=3)("ab"), rasp.__version__)
"""
WRONG_FILE = 'import rasp\n\nx: int = rasp.select(rasp.tokens, rasp.tokens, "=")\n'


@dataclass
class Release:
    """What was built, where things are, and what was found."""

    folder: Path
    uv: str
    wheel: Path = Path()
    found: list[dict[str, Any]] = field(default_factory=list)

    @contextmanager
    def step(self, name: str, **more: Any) -> Iterator[dict[str, Any]]:
        """Time one thing, and say how it went."""
        record: dict[str, Any] = {"step": name, **more}
        began, used = time.monotonic(), processor_time()
        yield record
        record["seconds"] = round(time.monotonic() - began, 1)
        record["processor_seconds"] = round(processor_time() - used, 1)
        self.found.append(record)
        print(f"{record['seconds']:6.1f} s  {name}", flush=True)

    def environment(
        self, name: str, python: str, *wanted: str, options: tuple[str, ...] = ()
    ) -> Path:
        """Make a clean environment with these packages; return its Python."""
        place = self.folder / name
        run(self.uv, "venv", "-q", "-p", python, str(place))
        return self.install(place / "bin" / "python", *wanted, options=options)

    def install(self, python: Path, *wanted: str, options: tuple[str, ...] = ()) -> Path:
        """Install packages beside what is there."""
        run(self.uv, "pip", "install", "-q", "-p", str(python), *LOCAL_WHEELS, *options, *wanted)
        return python

    def wheel_with(self, *extras: str) -> str:
        """The wheel with some extras, as installers take it."""
        return (
            f"rasp-lang[{','.join(extras)}] @ {self.wheel.as_uri()}" if extras else str(self.wheel)
        )

    def versions(self, python: Path) -> dict[str, str]:
        """What is installed in an environment."""
        listed = run(self.uv, "pip", "list", "-q", "-p", str(python), "--format", "json")
        return {each["name"]: each["version"] for each in json.loads(listed)}

    def smoke(self, python: Path, *parts: str) -> None:
        """Let `rasp` answer in an environment, from an empty folder."""
        with tempfile.TemporaryDirectory(dir=self.folder) as empty:
            run(str(python), str(ROOT / "scripts" / "smoke.py"), empty, *parts, cwd=empty)


def processor_time() -> float:
    """Seconds that the processes started here have computed for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(*words: str, cwd: str | Path = ROOT) -> str:
    """Run a command; return its output, or end with it where it fails."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, env=outside)
    if done.returncode:
        sys.exit(f"failed: {' '.join(words)}\n{done.stdout[-6000:]}\n{done.stderr[-6000:]}")
    return done.stdout


def pythons() -> dict[str, str]:
    """The Pythons of this machine that a release is for, by version."""
    found: dict[str, str] = {}
    for version in PYTHONS:
        managed = sorted(glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python")))
        for candidate in (*managed, shutil.which(f"python{version}"), sys.executable):
            if candidate and _answers(candidate, version):
                found[version] = candidate
                break
        else:
            print(f"          Python {version} is not on this machine: skipped", flush=True)
    return found


def _answers(python: str, version: str) -> bool:
    told = subprocess.run([python, "-V"], capture_output=True, text=True)
    return told.returncode == 0 and told.stdout.startswith(f"Python {version}.")


def find_uv(folder: Path) -> str:
    """The installer: the one there is, or else one of our own."""
    known = shutil.which("uv")
    if known:
        return known
    run(sys.executable, "-m", "venv", str(folder / "uv"))
    run(str(folder / "uv" / "bin" / "pip"), "install", "-q", "--disable-pip-version-check", "uv")
    return str(folder / "uv" / "bin" / "uv")


def build(release: Release) -> None:
    """Build both; a wheel made from the sdist must be the same as one made from the tree."""
    with release.step("build wheel and sdist; the sdist makes the same wheel") as record:
        tree, again = release.folder / "dist", release.folder / "from-sdist"
        run(release.uv, "build", "-q", "--sdist", "--wheel", "-o", str(tree), str(ROOT))
        [sdist] = tree.glob("*.tar.gz")
        run(release.uv, "build", "-q", "--wheel", "-o", str(again), str(sdist))
        [release.wheel] = tree.glob("*.whl")
        [other] = again.glob("*.whl")
        if contents(release.wheel) != contents(other):
            sys.exit("the wheel of the tree and that of the sdist differ")
        record |= {"wheel_bytes": release.wheel.stat().st_size, "sdist_bytes": sdist.stat().st_size}
        with tarfile.open(sdist) as packed:
            names = [*contents(release.wheel), *packed.getnames()]
        record["has_bundle"] = sum(name.endswith("bundle/editor.js") for name in names) == 2
        if not record["has_bundle"] and shutil.which("npm"):
            sys.exit("wheel and sdist lack the playground's editor: python scripts/build_web.py")


def contents(wheel: Path) -> dict[str, bytes]:
    """The files of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def check_version(release: Release) -> str:
    """The version is in one place, and the changelog knows it."""
    init = (ROOT / "src" / "rasp" / "__init__.py").read_text(encoding="utf-8")
    [version] = re.findall(r'^__version__ = "(.+)"$', init, re.MULTILINE)
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", changelog, re.MULTILINE)
    if f"-{version}-" not in release.wheel.name:
        sys.exit(f"the wheel is {release.wheel.name}, but the version is {version}")
    if not any(heading.startswith(("Unreleased", version)) for heading in headings):
        sys.exit(f"CHANGELOG.md says nothing of {version}")
    return version


def check_types(release: Release, python: str) -> None:
    """A user's file passes mypy --strict against the installed wheel; a wrong one does not."""
    with release.step("types: a user's file under mypy --strict"):
        where = release.environment("types", python, str(release.wheel), "mypy")
        folder = release.folder / "user"
        folder.mkdir()
        (folder / "right.py").write_text(USER_FILE)
        (folder / "wrong.py").write_text(WRONG_FILE)
        run(str(where), "-m", "mypy", "--strict", "right.py", cwd=folder)
        run(str(where), "right.py", cwd=folder)
        refused = subprocess.run(
            [str(where), "-m", "mypy", "--strict", "wrong.py"], cwd=folder, capture_output=True
        )
        if refused.returncode != 1:
            sys.exit("mypy accepts a wrong program: are the types shipped?")


def lowest(release: Release, name: str, python: str, extras: tuple[str, ...], *more: str) -> Path:
    """An environment with the lowest versions that pyproject.toml allows, and the wheel."""
    direct = [word for extra in extras for word in ("--extra", extra)]
    options = ("--resolution", "lowest-direct", "-r", "pyproject.toml", *direct)
    where = release.environment(name, python, *more, options=options)
    return release.install(where, str(release.wheel), options=("--no-deps",))


def check_bounds(release: Release, python: str, name: str) -> None:
    """The core tests pass with the lowest, or with the latest, versions of what it needs."""
    extras = ("schedule", "draw", "notebook", "play", "lsp")
    with release.step(f"core tests with the {name} versions") as record:
        if name == "lowest":
            where = lowest(release, name, python, extras)
        else:
            where = release.environment(name, python, release.wheel_with(*extras))
        record["python"], record["versions"] = python_version(where), release.versions(where)
        release.smoke(where, "base", *extras)
        release.install(where, *TOOLS)
        after = release.versions(where)
        moved = {each for each, old in record["versions"].items() if after[each] != old}
        if moved:
            sys.exit(f"the tools of the tests want other versions of {', '.join(sorted(moved))}")
        tests = (*CORE_TESTS, *BOUND_TESTS)
        told = run(str(where), "-m", "pytest", "-q", "-rs", "-n", "2", "-p", "no:cacheprovider",
                   *tests)  # fmt: skip
        refuse_skips(told)


def refuse_skips(told: str) -> None:
    """End where tests were skipped because a package is missing: it should be there."""
    missing = [
        line
        for line in told.splitlines()
        if line.startswith("SKIPPED") and re.search("install|extra|could not import", line)
    ]
    if missing:
        sys.exit("skipped, though everything is installed:\n" + "\n".join(missing))


def python_version(python: Path) -> str:
    return run(str(python), "-V").split()[1]


def check_extras(release: Release, python: str, extras: tuple[str, ...]) -> None:
    """Each extra alone, latest versions, in an environment of its own; its part must answer."""
    for extra in extras:
        with release.step(f"extra {extra}") as record:
            constraints = ("-c", "constraints.txt") if extra in HEAVY else ()
            where = release.environment(
                f"extra-{extra}", python, release.wheel_with(extra), options=constraints
            )
            record["python"], record["versions"] = python_version(where), release.versions(where)
            release.smoke(where, extra)
            shutil.rmtree(where.parents[1], ignore_errors=True)


def local_torch() -> list[str]:
    """The wheel of torch on this machine, if there is one: PyPI's brings gigabytes of CUDA."""
    return sorted(glob(os.path.join(os.environ.get("PIP_FIND_LINKS", "/nowhere"), "torch-*.whl")))


def check_heavy(release: Release, python: str) -> None:
    """What takes long: torch, the exports, ray; and the lowest versions of what goes with torch."""
    check_extras(release, python, HEAVY)
    for extra, tests in HEAVY_TESTS.items():
        for name in ("lowest", "latest"):
            check_tests(release, python, extra, name, tests)
    with release.step("lowest versions of what goes with torch") as record:
        extras = ("models", "onnx", "transformers")
        where = lowest(release, "lowest-models", python, extras, *local_torch()[-1:])
        record["python"], record["versions"] = python_version(where), release.versions(where)
        release.smoke(where, *extras)


def check_tests(
    release: Release, python: str, extra: str, name: str, tests: tuple[str, ...]
) -> None:
    """The tests of an extra pass with the lowest, or the latest, versions; none is skipped."""
    with release.step(f"tests of {extra} with the {name} versions") as record:
        place = f"{name}-{extra}"
        if name == "lowest":
            where = lowest(release, place, python, (extra, "models"), *local_torch()[-1:])
        else:
            wheel = release.wheel_with(extra, "models")
            where = release.environment(place, python, wheel, options=("-c", "constraints.txt"))
        release.install(where, *TOOLS)
        record["python"], record["versions"] = python_version(where), release.versions(where)
        refuse_skips(run(str(where), "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *tests))
        shutil.rmtree(where.parents[1], ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Is this tree fit to be released?")
    parser.add_argument("--full", action="store_true", help="with torch, every export and ray")
    parser.add_argument("--record", action="store_true", help="write results/release.json")
    arguments = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="rasp-release-") as folder:
        release = Release(Path(folder), find_uv(Path(folder)))
        try:
            version = check(release, arguments.full)
            print(f"rasp {version} is fit to be released ({time.monotonic() - began:.0f} s)")
        finally:
            if arguments.record:
                write_record(release, arguments.full, time.monotonic() - began)


def check(release: Release, is_full: bool) -> str:
    """Do every check there is; return the version that passed."""
    build(release)
    version = check_version(release)
    found = pythons()
    if not found:
        sys.exit(f"none of the Pythons {', '.join(PYTHONS)} is on this machine")
    for name, python in found.items():
        with release.step(f"Python {name}: the wheel alone") as record:
            where = release.environment(f"base-{name}", python, str(release.wheel))
            record["python"], record["versions"] = python_version(where), release.versions(where)
            release.smoke(where, "base")
    oldest, newest = next(iter(found.values())), list(found.values())[-1]
    check_types(release, newest)
    check_extras(release, newest, LIGHT)
    check_bounds(release, oldest, "lowest")
    check_bounds(release, newest, "latest")
    if is_full:
        check_heavy(release, oldest)
    elif local_torch():
        check_extras(release, oldest, ("models",))
    else:
        print("          extra models: skipped, torch would have to be fetched (see --full)")
    return version


def write_record(release: Release, is_full: bool, seconds: float) -> None:
    """Keep what was found; a step that failed is not in it."""
    told = {
        "wheel": release.wheel.name,
        "machine": platform.platform(),
        "processors": os.cpu_count(),
        "load": round(os.getloadavg()[2], 1),
        "full": is_full,
        "seconds": round(seconds, 1),
        "steps": release.found,
    }
    path = ROOT / "results" / "release.json"
    path.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
