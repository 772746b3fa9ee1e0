"""-> DATA, TARGETS, RUNS, TABLES: transformers trained to do what a program does.

The files in the order data flows: `tasks` (and `paper`, the paper's eight; `own`, anyone's) say
what to learn, `inputs` draws inputs, `data` asks the program for targets, `layout` and `pool` make
batches; `config` is one run; `parameters` and `network` are the model, `supervision` what its
attention should be; `stack` trains many at once with `plain_engine`, or with `fused_engine`,
`fused` and `kernels` on a GPU; `engines` chooses among these and `devices` where to train; `store`
keeps runs as `records` and `tensors`, `sweep` (or `cluster`) trains those that are missing,
`finish` and `matching` measure them; `tables`, `live` and `pictures` show what came out.
`next_token` does the same for programs that generate.

Nothing is imported here: tasks and data work without PyTorch.
"""
