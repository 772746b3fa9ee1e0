"""RASP IN THE BROWSER: a page that shows a program's values, flow and size while it is typed.

`answers` turns one request into one answer, both plain dicts; everything the page shows comes
from there. `server` asks it in worker processes that can be killed; the static edition asks the
same module inside the tab, under Pyodide.
"""
