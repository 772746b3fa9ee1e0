"""Graph → facts and pictures.

`equivalence` compares two programs, `schedule` places one in layers and heads, `generation` runs
next-token programs, `dialect` says which dialects a program belongs to, `finding` finds
the smallest program that does what examples show, and `drawing` draws it.
"""
