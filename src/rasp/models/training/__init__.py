"""-> DATA, TARGETS, RUNS, TABLES: transformers trained to do what a program does.

The files in the order data flows: `tasks` (and `paper_tasks`, the paper's eight; `own`, anyone's)
say what to learn, `random_inputs` draws inputs, `data` asks the program for targets (a causal
program's next tokens, too), `batch_shapes` and `pool` make batches; `config` is one run;
`parameters` and `network` are the model, `supervision` what its attention should be; `stack` trains
many at once with `engine`, and `devices` says where; `run_store` keeps runs as `records` and
snapshots, `sweep` (or `sweep_cluster`) trains those that are missing, `finish` and `matching`
measure them; `paper_tables` and `run_pictures` show what came out.

Nothing is imported here: tasks and data work without PyTorch.
"""
