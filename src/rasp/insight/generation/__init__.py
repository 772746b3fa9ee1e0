"""PROGRAM + INPUTS -> WHAT IT GENERATES: next-token programs, fed with their own answers.

The files in the order data flows: `question` says what is asked at every step, by which rules, and
which token an answer is; `loop` lets many inputs grow together, and `generation_cluster` spreads
them over machines.
"""

from rasp.insight.generation.loop import (
    Generation,
    GenerationStep,
    generate,
    generate_each,
    outcomes_of,
    steps,
)
from rasp.insight.generation.question import MOST, Question, Rules, rules_of

__all__ = [
    "MOST",
    "Generation",
    "GenerationStep",
    "Question",
    "Rules",
    "generate",
    "generate_each",
    "outcomes_of",
    "rules_of",
    "steps",
]
