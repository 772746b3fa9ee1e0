"""What the older checker is tested with is what this one is tested with."""

import sys
from pathlib import Path

CERTIFICATE = Path(__file__).parents[1] / "certificate"
sys.path.insert(0, str(CERTIFICATE))
