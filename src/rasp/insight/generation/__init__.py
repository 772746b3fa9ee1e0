"""PROGRAM + INPUTS -> WHAT IT GENERATES: next-token programs, fed with their own answers.

The files in the order data flows: `growing` says what is asked at every step, and answers it from
scratch; `tokens` turns a value into the token that is appended; `loop` lets many inputs grow
together, and `generation_cluster` spreads them over machines.
"""

from rasp.insight.generation.growing import Question
from rasp.insight.generation.loop import (
    MOST,
    Generation,
    GenerationStep,
    Rules,
    generate,
    generate_each,
    outcomes_of,
    rules_of,
    steps,
)

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
