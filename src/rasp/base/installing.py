"""Say how to install one of rasp's extras.

Every message asks here. It names what this rasp was installed from: a clone before a release, the
package index after one.
"""

from __future__ import annotations

import json
import os
import shlex
import sys

from rasp.base.errors import RaspUnsupportedError

NAME = "rasp-lang"


def install_command(extra: str) -> str:
    """Return the command that installs an extra for the Python that runs now.

    >>> install_command("draw").endswith('[draw]"')
    True
    """
    python = sys.executable or "python"
    beside = os.path.relpath(python) if os.path.isabs(python) else python
    shown = shlex.quote(python if beside.startswith(os.pardir) else beside)
    return f"{shown} -m pip install {_requirement(extra)}"


def require(packages: tuple[str, ...], extra: str, what: str) -> None:
    """Refuse where a package is missing, and say which extra brings it.

    >>> require(("json",), "draw", "a picture")
    """
    from importlib.util import find_spec

    for package in packages:
        if find_spec(package) is None:
            raise missing(package, extra, what)


def missing(package: str, extra: str, what: str, otherwise: str = "") -> RaspUnsupportedError:
    """Say that something needs a package that is not installed.

    >>> missing("typst", "draw", "a PNG picture").message
    'a PNG picture needs `typst`, which is not installed'
    """
    hint = f"install it with: {install_command(extra)}"
    return RaspUnsupportedError(
        f"{what} needs `{package}`, which is not installed",
        hint=f"{hint}, or {otherwise}" if otherwise else hint,
    )


def _requirement(extra: str) -> str:
    """What pip is asked for: a folder where rasp came from one, else its name."""
    origin, is_editable = _origin()
    return f'{"-e " if is_editable else ""}"{origin or NAME}[{extra}]"'


def _origin() -> tuple[str, bool]:
    """The clone that rasp was installed from, or runs in, and whether it runs in there."""
    from importlib import metadata
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    above = os.path.abspath(__file__)
    for _ in range(4):  # src/rasp/base/installing.py
        above = os.path.dirname(above)
    if os.path.exists(os.path.join(above, "pyproject.toml")):
        return above, True
    try:
        record = json.loads(metadata.distribution(NAME).read_text("direct_url.json") or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        return "", False
    url = urlsplit(str(record.get("url", "")))
    is_folder = url.scheme == "file" and "dir_info" in record
    return (url2pathname(url.path) if is_folder else ""), False
