"""What every test shares: random cases take as long as they take, since timings here are noise."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("rasp", deadline=None)
settings.load_profile("rasp")
