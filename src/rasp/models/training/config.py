"""One run of training as data: everything that decides its result, frozen, with a name and an id.

The id is a hash of the content, so the same run is never trained twice, and a name that meant
another run before is noticed.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from rasp.base.errors import RaspValueError
from rasp.models.training.tasks import TrainingTask

RECIPE = 1
"""Counts changes of the training code that change results."""
MOST_SEED = 2**63 - 1
"""What every generator of random numbers takes."""


def refuse_sizes(**sizes: int) -> None:
    """Raise where a size is not one.

    >>> refuse_sizes(layers=2, heads=1)
    """
    for what, number in sizes.items():
        if number < 1:
            raise RaspValueError(
                f"{what.replace('_', '-')} must be at least 1, not {number}", hint="give more"
            )


def refuse_rates(**rates: float) -> None:
    """Raise where a rate is not a number that steps can be multiplied by.

    >>> refuse_rates(rate=3e-4, decay=0.98)
    """
    for what, number in rates.items():
        if not 0 <= number < math.inf:
            raise RaspValueError(
                f"the {what} must be a number that is not below 0, not {number}",
                hint="3e-4 is a usual rate, and 0.98 a usual decay",
            )


def refuse_seeds(**seeds: int) -> None:
    """Raise where a seed is not a number that every generator of random numbers takes.

    >>> refuse_seeds(seed=0)
    """
    for what, number in seeds.items():
        if not 0 <= number <= MOST_SEED:
            raise RaspValueError(
                f"the {what.replace('_', ' ')} must be between 0 and {MOST_SEED}, not {number}",
                hint="any number will do: 0, 1, 2",
            )


@dataclass(frozen=True)
class RunConfig:
    """The paper's recipe by default: its appendix A.

    >>> from rasp.models.training.paper_tasks import TASKS
    >>> RunConfig("mine", TASKS["reverse"], layers=2, heads=1).size
    '2×1'
    """

    name: str
    task: TrainingTask
    layers: int
    heads: int
    width: int = 256
    feed_forward: int = 512
    rate: float = 3e-4
    decay: float = 0.98
    """What the learning rate is multiplied by after each epoch."""
    epochs: int = 100
    batch: int = 50
    train: int = 50_000
    validation: int = 1_000
    test: int = 1_000
    seed: int = 0
    """Decides the first weights and the order of the examples."""
    data_seed: int = 0
    attention: float = 0.0
    """The weight of attention's own loss; 0 leaves attention free."""

    def __post_init__(self) -> None:
        refuse_sizes(layers=self.layers, heads=self.heads, epochs=self.epochs, batch=self.batch)
        refuse_sizes(width=self.width, feed_forward=self.feed_forward)
        refuse_rates(rate=self.rate, decay=self.decay)
        refuse_seeds(seed=self.seed, data_seed=self.data_seed)
        if self.width % (2 * self.heads):
            raise RaspValueError(
                f"{self.heads} head{'s' * (self.heads > 1)} cannot share a width of {self.width} "
                "in even parts",
                hint=f"take a width that {2 * self.heads} divides",
            )
        for split in ("train", "validation", "test"):
            if getattr(self, split) % self.batch or getattr(self, split) < self.batch:
                raise RaspValueError(
                    f"{getattr(self, split)} {split} examples cannot be dealt out in batches "
                    f"of {self.batch}",
                    hint="take a number of examples that the batch divides",
                )

    @property
    def size(self) -> str:
        """Layers × heads."""
        return f"{self.layers}×{self.heads}"

    @property
    def content(self) -> dict[str, Any]:
        """Everything but the name, as JSON can hold it."""
        content = asdict(self) | {"start": "random", "recipe": RECIPE}
        del content["name"]
        for key in ("causal", "after"):  # where they say nothing, ids are as before
            if not content["task"][key]:
                del content["task"][key]
        return json.loads(json.dumps(content))  # type: ignore[no-any-return]

    @property
    def id(self) -> str:
        """A hash of the content."""
        text = json.dumps(self.content, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]

    @property
    def sizes(self) -> dict[str, int]:
        """How many examples each split has; as many longer inputs as test inputs."""
        return {
            "train": self.train,
            "validation": self.validation,
            "test": self.test,
            "longer": self.test,
        }

    @property
    def stack_key(self) -> tuple[Any, ...]:
        """Runs with equal keys can be trained together."""
        own = (self.layers, self.heads, self.width, self.feed_forward, self.epochs, self.batch,
               self.train, self.validation, self.test, self.attention,
               self.task.causal)  # fmt: skip
        return own + ((self.task,) if self.attention else ())


def read_config(name: str, content: dict[str, Any]) -> RunConfig:
    """Return the configuration that a record holds.

    >>> from rasp.models.training.paper_tasks import TASKS
    >>> config = RunConfig("mine", TASKS["reverse"], layers=2, heads=1)
    >>> read_config("mine", config.content) == config
    True
    """
    import msgspec

    return msgspec.convert({**content, "name": name}, RunConfig)


def miniature(config: RunConfig) -> RunConfig:
    """Return a run small enough for a CPU to do in a second or two: for trying the machinery.

    >>> from rasp.models.training.paper_tasks import TASKS
    >>> small = miniature(RunConfig("mine", TASKS["reverse"], layers=2, heads=1))
    >>> small.name, small.width, small.epochs
    ('smoke/mine', 32, 3)
    """
    task = replace(config.task, lengths=(1, 8), alphabet=config.task.alphabet[:5])
    return replace(
        config, task=task, name="smoke/" + config.name, width=config.width // 8, feed_forward=64,
        epochs=3, batch=20, train=600, validation=60, test=60,
    )  # fmt: skip


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Say what differs between two contents.

    >>> differences({"rate": 0.1, "seed": 0}, {"rate": 0.2, "seed": 0})
    ['rate was 0.1 and is now 0.2']
    """
    changes = []
    for key in new:
        before, after = old.get(key), new[key]
        if isinstance(before, dict) and isinstance(after, dict):
            changes += differences(before, after)
        elif before != after:
            changes.append(f"{key} was {_short(before)} and is now {_short(after)}")
    return changes


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 40 else text[:37] + "…"
