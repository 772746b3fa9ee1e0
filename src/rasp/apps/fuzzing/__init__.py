"""A seed in, disagreements out: random programs, and judges that compare what must agree.

The files in the order data flows: `trees` builds syntax trees, `templates` says what expressions
can be, `expressions` draws them, `generate` makes random programs of them (`wild` without regard to
kinds), `cases` puts a program and inputs together,
`judge_evaluators`, `judge_schedule` and `judge_compiler` compare the back ends on a case, with the
`outcomes` that there are, `judges` lists them, `shrink` makes a case that fails small, and
`campaign` does it all for a time. What no installation can change (the parser, the printer, the
embedding, names and places) has its judges in `tests/apps/fuzzing/`.
"""
