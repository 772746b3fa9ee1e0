"""RASP IN THE BROWSER: a page that shows a program's values, flow and size while it is typed.

`page_answers` turns one request into one answer, both plain dicts; everything the page shows comes
from there. `server` asks it in worker processes that can be killed; the static edition asks the
same module inside the tab, under Pyodide.

Around the server: `guard` (who may ask), `requests` (what they ask), `lanes` (a newer request ends
the older one) and `budgets`. What the page shows of a program: `cell_values` while it is typed, of
what is `shown`; `flow_pictures`, `structure`, `intended_attention`, `weights` (with `matrices` and
`model_run`), `trained` models, `next_token_page`. `cell_links` and its `sentences` say how one cell
came about, `fixes` what a hint would change, `page_records` are errors as plain data. For learning:
`teaching` lists the `exercises`, `own_exercises`, `examples`, the `gallery_list` and the
`cheat_sheet`.
"""
