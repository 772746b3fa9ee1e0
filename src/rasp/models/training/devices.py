"""Which device to train on, and how a record describes the machine."""

from __future__ import annotations

import platform
import re
from typing import Any

from rasp.base.errors import RaspUnsupportedError
from rasp.base.installing import require


def require_torch() -> None:
    """Raise where PyTorch is missing.

    >>> require_torch()  # its error says what to install
    """
    require(("torch", "safetensors", "msgspec", "numpy"), "models", "training")


def choose_device(wish: str) -> str:
    """Return `cpu`, `cuda` or `cuda:1`; `auto` takes a GPU where there is one.

    >>> choose_device("cpu")
    'cpu'
    """
    import torch

    if wish == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if not re.fullmatch(r"cpu|cuda(:\d+)?", wish):
        raise RaspUnsupportedError(
            f"training does not run on `{wish}`", hint="take `cpu` or `cuda`, or leave it to `auto`"
        )
    if wish != "cpu" and not torch.cuda.is_available():
        raise RaspUnsupportedError(
            "there is no CUDA device that PyTorch can use here",
            hint="leave `--device cuda` out to train on the CPU, or install a PyTorch with CUDA",
        )
    return wish


def describe_machine(device: str) -> dict[str, Any]:
    """Describe the machine for a record: its processor, system and accelerator.

    >>> describe_machine("cpu")["device"]
    'cpu'
    """
    import torch

    described = {"system": platform.platform(), "device": device}
    if device.startswith("cuda"):
        described["gpu"] = torch.cuda.get_device_name()
    else:
        described["threads"] = str(torch.get_num_threads())
    return described


def describe_versions() -> dict[str, str]:
    """Return the versions that a record names.

    >>> list(describe_versions())
    ['rasp', 'python', 'torch', 'numpy']
    """
    import numpy
    import torch

    import rasp

    return {
        "rasp": rasp.__version__,
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "numpy": numpy.__version__,
    }
