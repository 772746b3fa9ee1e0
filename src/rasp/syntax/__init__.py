"""TEXT -> TREE: lexer, parser, syntax tree, printer, lint and the published grammar."""

from rasp.syntax.formatting import format_program
from rasp.syntax.parser import parse, parse_with_errors
from rasp.syntax.printer import print_expression, print_program

__all__ = ["format_program", "parse", "parse_with_errors", "print_expression", "print_program"]
