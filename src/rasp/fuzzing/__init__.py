"""A seed in, disagreements out: random programs, and judges that compare what must agree.

The files in the order data flows: `trees` builds syntax trees, `generate` makes random programs
of them (`wild` without regard to kinds), `cases` puts a program and inputs together, the
`judge_…` files compare the back ends on a case, `judges` lists them, `shrink` makes a case that
fails small, and `campaign` does it all for a time. What no installation can change (the parser,
the printer, the embedding, names and places) has its judges in `tests/fuzzing/`.
"""
