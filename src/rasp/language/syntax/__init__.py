"""TEXT -> TREE: lexer, parser, syntax tree, printer, lint and the published grammar.

The files in the order data flows: `lexer` makes tokens, `token_reader` goes through them, `parser`
makes statements of them, `expressions` expressions and `commands` words to the REPL; `recovery`
says where to go on after a mistake, `foreign` what another language's words mean here. `tree` is
what comes out; `printer` writes it again. `bindings` say what each name means, `scopes` where it
holds; `lint` warns, `highlight` colours.
"""

from rasp.language.syntax.parser import parse, parse_with_errors
from rasp.language.syntax.printer import format_program, print_expression, print_program

__all__ = ["format_program", "parse", "parse_with_errors", "print_expression", "print_program"]
