"""PROGRAMS WITH `#>` LINES -> DO THEY GIVE WHAT THEY PROMISE?

    hist("hello");               #> [1, 1, 2, 2, 1]
    #> heads per layer: hist 2

`lines` reads what a program's text expects, `running` runs it and compares, `pages` does the same
for the programs in a Markdown page, and `finding` lists the files of a folder.
"""

from rasp.testing.finding import find_files
from rasp.testing.pages import check_page
from rasp.testing.running import Failure, Report, check_file, check_program

__all__ = ["Failure", "Report", "check_file", "check_page", "check_program", "find_files"]
