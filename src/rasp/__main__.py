"""`rasp` and `python -m rasp`: the command line, where Ctrl-C is heard from the first import on."""

import sys


def run() -> int:
    """Run the command line; return the exit code."""
    try:
        from rasp.apps.cli import main
    except KeyboardInterrupt:
        return 130
    return main()


if __name__ == "__main__":
    sys.exit(run())
