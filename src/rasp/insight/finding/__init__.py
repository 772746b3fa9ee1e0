"""Examples, or a function to imitate → the smallest RASP program, and how sure it is.

example_text       lines, JSON or CSV as people write them
wanted_outputs     what each position should give
building_blocks    definitions of the user's own
atom_codes         atoms as small integers, operators as tables
example_grid       all examples end to end, and selections as planes of bits
expression_bank    each expression once, the cheapest way to write it
search_banks       what a round begins with
selector_growth    selectors, layer by layer
aggregate_growth   what they make of s-ops
enumeration        elementwise expressions over that
last_heads         programs that end in a head, found from what is wanted
choices            programs that end in a choice between two
function_texts     functions of one s-op: thresholds, lists, tables
closing            all the ways to end a program
wording            a recipe as formatted text
program_search     rounds, each wider than the last
language_learning  yes/no functions as automata
found              the front door: the answer, its rival and the question between them
"""

from rasp.insight.finding.found import Found, Rival, find
from rasp.insight.finding.program_search import Bounds, Progress, StopReason

__all__ = ["Bounds", "Found", "Progress", "Rival", "StopReason", "find"]
