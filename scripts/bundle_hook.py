"""Build the playground's editor into every wheel and sdist, where node is there to do it.

Hatchling calls this (see `pyproject.toml`). Without node, npm or a network the package has no
editor; then the page has a plain text area, and says how to get the editor.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BundleHook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Bundle the editor unless it is up to date."""
        root = Path(self.root)
        sys.path[:0] = [str(root / "scripts"), str(root / "src")]
        import build_web

        reason = build_web.why_not_built()
        if reason:
            self.app.display_warning(f"the playground has no built editor: {reason}")
