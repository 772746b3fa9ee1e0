"""PROGRAMS WITH `#>` LINES -> DO THEY GIVE WHAT THEY PROMISE?

    hist("hello");               #> [1, 1, 2, 2, 1]
    #> heads per layer: hist 2

`expectation_lines` reads what a program's text expects, `running` runs it and compares, `pages`
does the same for the programs in a Markdown page, and `finding` lists the files of a folder.
"""

from rasp.teaching.testing.finding import find_files, find_programs
from rasp.teaching.testing.pages import check_page
from rasp.teaching.testing.running import Failure, Report, check_file, check_program

__all__ = [
    "Failure",
    "Report",
    "check_file",
    "check_page",
    "check_program",
    "find_files",
    "find_programs",
]
