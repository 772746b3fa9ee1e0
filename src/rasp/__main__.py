"""`python -m rasp` is the same as `rasp`."""

import sys

from rasp.cli import main

sys.exit(main())
