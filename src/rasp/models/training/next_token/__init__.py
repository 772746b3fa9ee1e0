"""-> DECODERS trained on what a causal program says, and tested on longer inputs than they saw.

`tasks` says what to learn, `data` draws inputs and asks the program; `config` is one run, `decoder`
the model, many at once; `trainer` trains runs, resumably. Our experiments are in
`bench/decoders.py`.
"""
