"""Examples, or a function to imitate → the smallest RASP program, and how sure it is.

example_text.py  lines, JSON or CSV as people write them
wanted_outputs.py  what each position should give
building_blocks.py  definitions of the user's own
atom_codes.py  atoms as small integers, operators as tables
example_grid.py  all examples end to end, and selections as planes of bits
expression_bank.py  each expression once, the cheapest way to write it
search_banks.py  what a round begins with
selector_growth.py  selectors, layer by layer
aggregate_growth.py  what they make of s-ops
enumeration.py  elementwise expressions over that
last_heads.py  programs that end in a head, found from what is wanted
choices.py  programs that end in a choice between two
function_texts.py  functions of one s-op: thresholds, lists, tables
closing.py  all the ways to end a program
wording.py  a recipe as formatted text
program_search.py  rounds, each wider than the last
language_learning.py  yes/no functions as automata
found.py  the front door: the answer, its rival and the question between them
"""

from rasp.insight.finding.found import Found, Rival, find
from rasp.insight.finding.program_search import Bounds, Progress, StopReason

__all__ = ["Bounds", "Found", "Progress", "Rival", "StopReason", "find"]
