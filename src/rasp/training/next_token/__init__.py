"""-> DECODERS trained on what a causal program says, and tested on longer inputs than they saw.

`tasks` says what to learn (`lengths` are the tasks of the published comparison, `forecasts` the
programs across the dialects), `data` draws inputs and asks the program; `decoder` is the model,
many at once; `trainer` trains runs, resumably, and `results` makes tables of them.
"""
