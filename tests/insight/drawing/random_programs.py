"""A seed in, a random program on numbers out: it evaluates on every input of numbers."""

from __future__ import annotations

from random import Random

from schedule.random_graphs import random_outputs

from rasp.insight.drawing.picture_plan import Flow, HeadShown, Plan
from rasp.language.graph import Const, Program, SOp, in_order


def random_program(seed: int) -> tuple[list[SOp], Program, list[int]]:
    """Return outputs, a program that names some nodes, and an input."""
    random = Random(seed)
    # no products: numbers that double their digits again and again do not fit a picture
    made = random_outputs(seed, random.randint(8, 24), operators="+-")
    outputs = [node for node in made if isinstance(node, SOp) and not isinstance(node, Const)][:2]
    nodes = [node for node in in_order(outputs) if node.needs]
    names = {node: f"name{at}" for at, node in enumerate(nodes) if random.random() < 0.4}
    return (
        outputs,
        Program.named(names),
        [random.randint(-3, 3) for _ in range(random.randint(1, 8))],
    )


def heads_of(plan: Plan) -> dict[str, HeadShown]:
    """The heads of a flow by their ids."""
    assert isinstance(plan, Flow)
    return {head.id: head for layer in plan.layers for head in layer.heads}
