"""The notebook door: `%load_ext rasp`, then `%%rasp` cells beside Python ones.

RASP cells and Python cells share names both ways; s-ops, selectors and schedules show
themselves on the running example; mistakes show the place and the way out, without a traceback.
"""

from rasp.apps.notebook.display import Display, show
from rasp.apps.notebook.extension import load_ipython_extension, unload_ipython_extension

__all__ = ["Display", "load_ipython_extension", "show", "unload_ipython_extension"]
