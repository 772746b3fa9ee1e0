"""The folder of a model in; a certificate out, of what its files alone say and prove."""

from __future__ import annotations

import json
from dataclasses import replace
from math import isclose
from pathlib import Path
from secrets import randbits
from typing import Any

from rasp.compiler.model.certificate import Certificate, certify, proved, run_randomly
from rasp.compiler.model.model_json import to_json
from rasp.compiler.model.setting_checks import false_setting
from rasp.compiler.model.store import LARGEST_FILE, NEXT_WEIGHTS, WEIGHTS, dump, loaded
from rasp.compiler.model.tensors import to_safetensors
from rasp.compiler.model.transformer import Transformer
from rasp.reading import fingerprint, parse_json, read_file


def verify(folder: str | Path, seed: int | None = None) -> Certificate:
    """Check a model again from its files alone.

    The stored claims about the stored weights are checked; nothing is compiled. Whatever else the
    folder says (labels, circuit, sizes, the statement) must be what follows from that. Then random
    inputs are tried, each time others: the certificate says with which seed.

    >>> import rasp, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rasp.compile(rasp.length - 1, vocabulary="ab", max_length=5).save(folder)
    ...     verify(folder).statement
    'exact for all inputs up to length 5 over this vocabulary, in float32'
    """
    model, data = loaded(folder)
    assert model.certificate is not None
    certificate = certify(model, proved(model), model.certificate.seed)
    if not certificate.exact:
        return certificate
    lie = _lie(folder, model, data)
    if lie:
        return replace(certificate, refused=lie)
    stored = to_safetensors(model.weights.arrays())  # nothing else is in the file, not even a word
    fresh = to_json(replace(model, certificate=certificate))
    derived = parse_json(dump(fresh | {"fingerprint": fingerprint(stored)}))
    changed = sorted(key for key in {*derived, *data} if not _are_alike(key, derived, data))
    if changed:
        return replace(certificate, refused=f"`{changed[0]}` is not what follows from the weights "
                       "and the claims")  # fmt: skip
    return run_randomly(certificate, model, randbits(32) if seed is None else seed)


def _lie(folder: str | Path, model: Transformer, data: dict[str, Any]) -> str:
    """What a folder says that is no claim about the weights, and not so."""
    stored = Path(folder, WEIGHTS)
    if stored.exists() and fingerprint(read_file(stored, LARGEST_FILE)) != data["fingerprint"]:
        return (
            f"a save was interrupted: `{WEIGHTS}` is of another model, and `{NEXT_WEIGHTS}` of this"
        )
    return false_setting(model)


def _are_alike(key: str, derived: dict[str, Any], stored: dict[str, Any]) -> bool:
    """Whether a part of the description is the one that follows; margins may differ in a digit."""
    if key not in stored or key not in derived:
        return False
    alike = _are_close if key == "certificate" else _are_equal
    return alike(derived[key], stored[key])


def _are_equal(derived: Any, stored: Any) -> bool:
    """Whether both are the same, where 1 is neither 1.0 nor true."""
    return json.dumps(derived, sort_keys=True) == json.dumps(stored, sort_keys=True)


def _are_close(derived: Any, stored: Any) -> bool:
    if isinstance(derived, list) and isinstance(stored, list):
        return len(derived) == len(stored) and all(map(_are_close, derived, stored))
    if isinstance(derived, dict) and isinstance(stored, dict):
        return derived.keys() == stored.keys() and all(
            _are_close(derived[key], stored[key]) for key in derived
        )
    if isinstance(derived, float) and isinstance(stored, float):
        return isclose(derived, stored, rel_tol=1e-6)
    return _are_equal(derived, stored)
