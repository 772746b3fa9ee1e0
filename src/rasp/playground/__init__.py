"""RASP IN THE BROWSER: a page that shows a program's values, flow and size while it is typed.

`answers` turns one request into one answer, both plain dicts; everything the page shows comes from
there. `server` asks it in worker processes that can be killed; the static edition asks the same
module inside the tab, under Pyodide.

Around the server: `connections`, `guard` (who may ask), `requests` (what they ask), `lanes` (a
newer request ends the older one), `budgets` and `logs`. What the page shows of a program: `values`
while it is typed, of what is `shown`; `pictures`, `structure`, `attention`, `weights` (with
`matrices` and `model_run`), `trained` models, `generating`. `explaining` and its `sentences` say
how one cell came about, `fixes` what a hint would change, `records` are errors as plain data. For
learning: `teaching` lists the `exercises`, `own_exercises`, `examples`, the `gallery` and the
`cheat_sheet`.
"""
