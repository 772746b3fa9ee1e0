"""-> DATA, TARGETS, RUNS, TABLES: transformers trained to do what a program does.

The files in the order data flows: `tasks` (and `paper_tasks`, the paper's eight; `own`, anyone's)
say what to learn, `random_inputs` draws inputs, `data` asks the program for targets, `batch_shapes`
and `pool` make batches; `config` is one run; `parameters` and `network` are the model,
`supervision` what its attention should be; `stack` trains many at once with `plain_engine`, or with
`fused_engine`, `fused` and `kernels` on a GPU; `engines` chooses among these and `devices` where to
train; `run_store` keeps runs as `records` and `tensors`, `sweep` (or `sweep_cluster`) trains those
that are missing, `finish` and `matching` measure them; `paper_tables`, `live` and `run_pictures`
show what came out. `next_token` does the same for programs that generate.

Nothing is imported here: tasks and data work without PyTorch.
"""
