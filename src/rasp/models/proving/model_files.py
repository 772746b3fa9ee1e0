"""Read a model from a file or folder, and guess its adapter.

Known are: the folders of `rasp compile` and `rasp export`, Hugging Face's GPT-2 and BERT families
with their tokenizers, and the JSON of `verified-circuits`. Nothing is ever run to read them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rasp.base.errors import RaspUnsupportedError, RaspValueError
from rasp.base.file_reading import ABSENT, fingerprint, fingerprint_of, parse_json, read_file
from rasp.base.installing import missing
from rasp.language.graph import Node
from rasp.models.certificate import HeadWeights
from rasp.models.compiler import Transformer, load
from rasp.models.compiler.model.forward import logit_places
from rasp.models.proving.adapter import Adapter
from rasp.models.proving.architecture_rows import Architecture, network_of
from rasp.models.proving.digits import Array
from rasp.models.proving.network_table import (
    Activate,
    Affine,
    Attend,
    AttentionHead,
    Network,
    Residual,
    Step,
)
from rasp.models.proving.tokenizers import guessed_adapter

LARGEST = 4_000_000_000
LARGEST_JSON = 200_000_000
KINDS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
KNOWN = (
    "known are folders of `rasp compile`, `rasp export` and Hugging Face's GPT-2 and BERT, "
    "the JSON of `verified-circuits`; others need an `Architecture`"
)


@dataclass(frozen=True, eq=False)
class Model:
    """A model: its parts, its adapter, and where it is from."""

    network: Network
    adapter: Adapter | None
    name: str
    weights_hash: str
    outputs: Mapping[str, Adapter]
    """Adapters of each output, where a model has several."""
    program: Mapping[str, Node]
    """The programs that it was compiled from, by output."""


def open_model(source: object, adapter: Adapter | None = None) -> Model:
    """Read a model: a path, a compiled model, or an architecture with arrays or a torch module."""
    if isinstance(source, Model):
        return source if adapter is None else replace(source, adapter=adapter, outputs={})
    if isinstance(source, Transformer):
        return _chosen(compiled_model(source), adapter)
    if isinstance(source, tuple) and len(source) == 2 and isinstance(source[0], Architecture):
        arrays = _arrays_of(source[1])
        return _plain(network_of(source[0], arrays), adapter, "the given module", _hash(arrays))
    if not isinstance(source, str | Path):
        raise RaspValueError(
            "a model is a path, a compiled model, or an `Architecture` with a torch module",
            hint=KNOWN,
        )
    return _chosen(_read(Path(source)), adapter)


def _plain(network: Network, adapter: Adapter | None, name: str, digest: str) -> Model:
    if adapter is None:
        raise RaspValueError(
            f"nothing says which ids of {name} are which tokens",
            hint="give `adapter=Adapter(tokens=…, ids=…, answers=…)`",
        )
    return Model(network, adapter, name, digest, {}, {})


def _chosen(model: Model, adapter: Adapter | None) -> Model:
    return model if adapter is None else replace(model, adapter=adapter, outputs={})


def _read(place: Path) -> Model:
    try:
        if place.is_file():
            return _circuit_json(place)
        if (place / "model.json").is_file():
            digest = fingerprint(read_file(place / "weights.safetensors", LARGEST))
            return replace(compiled_model(load(place)), name=str(place), weights_hash=digest)
        if (place / "rasp.json").is_file():
            return _export(place)
        if (place / "config.json").is_file():
            return _hugging_face(place)
    except ABSENT as error:
        missing = Path(str(getattr(error, "filename", place))).name
        raise RaspValueError(
            f"the model in `{place}` has no `{missing}`", hint="is it whole? copy it again"
        ) from None
    if not place.exists():
        raise RaspValueError(f"there is no `{place}`", hint="name the file or folder of a model")
    raise RaspValueError(f"`{place}` holds no model that is known", hint=KNOWN)


def compiled_model(model: Transformer) -> Model:
    """A model of our compiler as it runs: its arrays, none of its claims.

    >>> import rasp
    >>> compiled_model(rasp.compile(rasp.length, vocabulary="ab", max_length=4)).adapter.longest
    4
    """
    weights, settings = model.weights, model.settings
    sink = int(model.uses_sink)
    steps: list[Step] = []
    for place, block in enumerate(weights.feed_forwards):
        if place and weights.heads[place - 1]:
            heads = tuple(_own_head(head) for head in weights.heads[place - 1])
            steps.append(Residual((Attend(heads, np.zeros(model.d_model)),)))
        if len(block.bias):
            inside, outside = Affine(block.inside, block.bias), block.out.T
            outward = Affine(block.out, np.zeros(len(outside.T)))
            steps.append(Residual((inside, Activate("relu"), outward)))
    steps.append(Affine(
        np.concatenate([readout.weight for readout in weights.readouts]),
        np.concatenate([readout.bias for readout in weights.readouts]),
    ))  # fmt: skip
    positions = np.concatenate([np.zeros((sink, model.d_model)), weights.positions])
    network = Network(weights.tokens, positions, tuple(steps), settings.causal)
    vocabulary = settings.vocabulary
    base = Adapter(
        vocabulary, tuple(range(len(vocabulary))), (), before=(len(vocabulary),) * sink,
        longest=settings.max_length, first=settings.bos, where=settings.where,
        source="the description of a compiled model",
    )  # fmt: skip
    outputs = {
        readout.name: replace(base, answers=readout.atoms, logits=(there.start, there.stop),
                              codes=tuple(map(float, readout.codes)))
        for readout, there in logit_places(model.readouts)
    }  # fmt: skip
    first = next(iter(outputs.values()))
    digest = _hash(model.weights.arrays())
    return Model(network, first, "a compiled model", digest, outputs, dict(model.outputs))


def _own_head(head: HeadWeights) -> AttentionHead:
    return AttentionHead(
        Affine(head.query, head.query_bias),
        Affine(head.key, head.key_bias),
        Affine(head.value, head.value_bias),
        head.out,
    )


def _circuit_json(place: Path) -> Model:
    """The JSON of `verified-circuits`: hexadecimal weights of a classifier of bit strings."""
    raw = read_file(place, LARGEST_JSON)
    try:
        data = parse_json(raw)
        config, state = data["cfg"], data["state_dict_hex"]
        arrays = {str(name): _from_hex(rows) for name, rows in state.items()}
        row = Architecture(
            int(config["layers"]), int(config["heads"]), bool(config["causal"]), "tok", "pos",
            query="blocks.{}.Wq", key="blocks.{}.Wk", value="blocks.{}.Wv", out="blocks.{}.Wo",
            inside="blocks.{}.mlp1", outside="blocks.{}.mlp2", pool=config["pool"],
            readout=("h1", "relu", "h2"),
        )  # fmt: skip
        length = int(config["n"])
    except (KeyError, TypeError, ValueError, AttributeError):
        raise RaspValueError(f"`{place}` holds no model that is known", hint=KNOWN) from None
    network = network_of(row, arrays)
    adapter = Adapter(("0", "1"), (0, 1), (False, True), "whole", shortest=length, longest=length,
                      source="the JSON of verified-circuits")  # fmt: skip
    return Model(network, adapter, str(place), fingerprint(raw), {}, {})


def _from_hex(rows: Any) -> Array:
    if isinstance(rows, str):
        return np.array(float.fromhex(rows))
    return np.array([_from_hex(row) for row in rows])


def read_safetensors(path: Path) -> dict[str, Array]:
    """Read a safetensors file of any kind of floats, checking every size against the file."""
    raw = read_file(path, LARGEST)
    try:
        length = int.from_bytes(raw[:8], "little")
        header = parse_json(raw[8 : 8 + length])
        header.pop("__metadata__", None)
        return {name: _tensor(raw, 8 + length, entry) for name, entry in header.items()
                if entry["dtype"] in KINDS}  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError):
        raise RaspValueError(
            f"`{path}` is not a safetensors file that can be read", hint="was it cut short?"
        ) from None


def _tensor(raw: bytes, body: int, entry: dict[str, Any]) -> Array:
    start, end = (body + int(place) for place in entry["data_offsets"])
    array = np.frombuffer(raw[start:end], KINDS[entry["dtype"]]).reshape(entry["shape"])
    if entry["dtype"] == "BF16":  # the upper half of a float32
        array = (array.astype("<u4") << 16).view("<f4")
    return array.astype(np.float64)


EXPORTS = {
    "torch": Architecture(
        0, 1, False, "tokens", "positions", query="blocks.{}.attention.query",
        key="blocks.{}.attention.key", value="blocks.{}.attention.value",
        out="blocks.{}.attention.out", readout=("unembedding",),
    ),
    "transformer-lens": Architecture(
        0, 1, False, "tok_embed", "pos", query="layers.{}.attn.q", key="layers.{}.attn.k",
        value="layers.{}.attn.v", out="layers.{}.attn.o", inside="layers.{}.mlp.fc_in",
        outside="layers.{}.mlp.fc_out", readout=("head",),
    ),
}  # fmt: skip
"""The rows of our exports; layers, heads and direction are in each one's configuration."""


def _export(place: Path) -> Model:
    """What `rasp export` wrote: `rasp.json` says which id and which logit means what."""
    card = _json(place / "rasp.json")
    target = card.get("target")
    if target in ("hf-gpt2", "hf-bert"):
        model = _stock(place)
    elif target == "onnx":
        model = _onnx(place)
    elif target in EXPORTS:
        config = _json(place / "config.json")
        row = replace(
            EXPORTS[target],
            layers=int(config.get("blocks", config.get("n_layers", 0))),
            heads=int(config.get("heads", config.get("n_heads", 0))),
            causal=config.get("causal", config.get("attention_dir") == "causal"),
        )
        path = place / "weights.safetensors"
        network = network_of(row, read_safetensors(path))
        model = Model(network, None, str(place), fingerprint(read_file(path, LARGEST)), {}, {})
    else:
        raise RaspUnsupportedError(f"there is no way to read an export to `{target}`", hint=KNOWN)
    outputs = _card_adapters(card)
    return replace(model, adapter=next(iter(outputs.values())), outputs=outputs)


def _card_adapters(card: dict[str, Any]) -> dict[str, Adapter]:
    tokens = tuple(_atom(text) for text in card["tokens"])
    first, bos = card["first_token_id"], card["bos"]
    base = Adapter(
        tokens, tuple(card["tokens"].values()), (), before=() if first is None else (first,),
        longest=card["max_length"], first=None if bos is None else _atom(bos),
        source="rasp.json, which `rasp export` wrote",
    )  # fmt: skip
    return {
        output["name"]: replace(base, answers=tuple(map(_atom, output["labels"])),
                                logits=tuple(output["logits"]),
                                codes=tuple(output.get("codes", ())))
        for output in card["outputs"]
    }  # fmt: skip


def _atom(text: str) -> Any:
    """An atom as `show` wrote it."""
    return {"True": True, "False": False}[text] if text in ("True", "False") else json.loads(text)


def _onnx(place: Path) -> Model:
    """The arrays of an ONNX file that we wrote, by the names of the torch export."""
    try:
        import onnx
        from onnx import numpy_helper
    except ImportError:
        raise missing("onnx", "onnx", "reading an ONNX file") from None
    path = place / "model.onnx"
    raw = read_file(path, LARGEST)
    graph = onnx.load_model_from_string(raw).graph
    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    heads = int(arrays.pop("split")[2]) if "split" in arrays else 1
    is_causal = any(node.op_type == "Trilu" for node in graph.node)
    named = {name: array.T if name.endswith(".weight") else array
             for name, array in arrays.items()}  # fmt: skip
    layers = sum(name.endswith(".inside.weight") for name in named)
    row = replace(EXPORTS["torch"], layers=layers, heads=heads, causal=is_causal)
    return Model(network_of(row, named), None, str(place), fingerprint(raw), {}, {})


def _hugging_face(place: Path) -> Model:
    """A stock model, with the adapter that its tokenizer and configuration suggest."""
    model = _stock(place)
    adapter = guessed_adapter(place, _json(place / "config.json"), model.network)
    return replace(model, adapter=adapter)


def _stock(place: Path) -> Model:
    from rasp.models.proving.stock_models import stock_network

    config = _json(place / "config.json")
    path = place / "model.safetensors"
    if not path.is_file() and (place / "pytorch_model.bin").is_file():
        raise RaspUnsupportedError(
            f"the weights in `{place}` are pickled, and reading them could run anything",
            hint="save the model again with `save_pretrained`, which writes model.safetensors",
        )
    arrays = read_safetensors(path)
    network = stock_network(config, arrays)
    return Model(network, None, str(place), fingerprint(read_file(path, LARGEST)), {}, {})


def _json(path: Path) -> dict[str, Any]:
    try:
        data = parse_json(read_file(path, LARGEST_JSON))
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise RaspValueError(f"`{path}` holds no JSON object", hint="was it changed or cut short?")
    return data


def _arrays_of(given: Any) -> dict[str, Array]:
    """The arrays of a torch module, or of a mapping of names to arrays."""
    state = given.state_dict() if hasattr(given, "state_dict") else given
    if not isinstance(state, Mapping):
        raise RaspValueError(
            "weights are a torch module, or a mapping of names to arrays", hint=KNOWN
        )
    return {
        str(name): np.asarray(value.detach().cpu().double().numpy() if hasattr(value, "detach")
                              else value, np.float64)
        for name, value in state.items()
    }  # fmt: skip


def _hash(arrays: Mapping[str, Array]) -> str:
    """A hash of names, shapes and numbers."""
    parts: list[bytes | str] = []
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name], "<f8")
        parts += [f"{name} {array.shape}", array.tobytes()]
    return fingerprint_of(parts)
