"""Two compiled models that answer `aab` differently: one is saved over the other."""

import rasp
from rasp.models.compiler import compile

OLD, NEW = (
    compile(
        rasp.run(f"x = selector_width(select(tokens, tokens, {op}));")["x"],
        vocabulary="ab",
        max_length=4,
    )
    for op in ("==", "!=")
)
