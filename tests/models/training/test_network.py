"""The model: what PyTorch's own encoder layers compute, one sequence at a time."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="training needs PyTorch")

from rasp.models.training.batch_shapes import SlotLayout  # noqa: E402
from rasp.models.training.network import SlotTensors, StackBatch, forward, losses  # noqa: E402
from rasp.models.training.parameters import Shape, initial_row, move_row, sinusoids, views  # noqa: E402

pytestmark = pytest.mark.slow

SHAPE = Shape(layers=2, heads=2, width=16, feed_forward=24, tokens=5, classes=3)


def make_batch(layout: SlotLayout, models: int, shape: Shape) -> StackBatch:
    generator = torch.Generator().manual_seed(0)
    slots = torch.tensor(layout.slots)
    lengths = torch.stack([slots, (slots - 1).clamp(min=1)])[:models]
    plan = SlotTensors(layout, "cpu", SHAPE.width)
    inside = plan.position_of < lengths[:, plan.slot_of]
    tokens = torch.randint(0, shape.tokens, inside.shape, generator=generator)
    targets = torch.randint(0, shape.classes, inside.shape, generator=generator)
    return StackBatch(torch.where(inside, tokens, 0), lengths, torch.where(inside, targets, -1))


def random_rows(shape: Shape, models: int) -> torch.Tensor:
    rows = torch.stack([initial_row(shape, seed) for seed in range(models)])
    return rows + 0.1 * torch.randn(rows.shape, generator=torch.Generator().manual_seed(9))


def as_encoder(parameters: dict[str, torch.Tensor], model: int, layer: int) -> torch.nn.Module:
    """PyTorch's own layer with the same weights."""
    own = {name.partition(".")[2]: each[model] for name, each in parameters.items()
           if name.startswith(f"{layer}.")}  # fmt: skip
    encoder = torch.nn.TransformerEncoderLayer(
        SHAPE.width, SHAPE.heads, SHAPE.feed_forward, dropout=0.0, batch_first=True
    )
    given = {
        "self_attn.in_proj_weight": own["attend"].T, "self_attn.in_proj_bias": own["attend_bias"],
        "self_attn.out_proj.weight": own["join"].T, "self_attn.out_proj.bias": own["join_norm"][0],
        "linear1.weight": own["widen"].T, "linear1.bias": own["widen_bias"],
        "linear2.weight": own["narrow"].T, "linear2.bias": own["narrow_norm"][0],
        "norm1.weight": own["join_norm"][1], "norm1.bias": own["join_norm"][2],
        "norm2.weight": own["narrow_norm"][1], "norm2.bias": own["narrow_norm"][2],
    }  # fmt: skip
    encoder.load_state_dict(given)
    return encoder


def test_the_model_is_pytorchs_encoder_on_each_sequence_alone() -> None:
    layout = SlotLayout((1, 3, 7))
    parameters = views(random_rows(SHAPE, 2), SHAPE)
    batch = make_batch(layout, 2, SHAPE)
    with torch.no_grad():
        logits, _ = forward(parameters, SHAPE, SlotTensors(layout, "cpu", SHAPE.width), batch)
        for model in range(2):
            for slot, start in enumerate(layout.starts):
                length = int(batch.lengths[model, slot])
                tokens = batch.tokens[model, start : start + length]
                stream = parameters["embedding"][model][tokens] + sinusoids(length, SHAPE.width)
                for layer in range(SHAPE.layers):
                    stream = as_encoder(parameters, model, layer)(stream[None])[0]
                wanted = stream @ parameters["classify"][model] + parameters["classify_bias"][model]
                torch.testing.assert_close(
                    logits[model, start : start + length], wanted, rtol=1e-4, atol=1e-5
                )


def test_attention_adds_up_to_one_on_present_keys() -> None:
    layout = SlotLayout((2, 6))
    plan, batch = SlotTensors(layout, "cpu", SHAPE.width), make_batch(layout, 2, SHAPE)
    _, attention = forward(views(random_rows(SHAPE, 2), SHAPE), SHAPE, plan, batch)
    inside = plan.position_of < batch.lengths[:, plan.slot_of]
    for cells in attention:
        rows = torch.zeros(2, SHAPE.heads, layout.size).index_add_(2, plan.cell_queries, cells)
        torch.testing.assert_close(rows, torch.ones_like(rows))
        assert (cells * ~inside[:, None, plan.cell_keys]).abs().max() == 0


def test_a_heads_own_attention_in_its_place_changes_nothing_and_another_does() -> None:
    layout = SlotLayout((5, 6))
    plan, batch = SlotTensors(layout, "cpu", SHAPE.width), make_batch(layout, 1, SHAPE)
    parameters = views(random_rows(SHAPE, 1), SHAPE)
    logits, attention = forward(parameters, SHAPE, plan, batch)
    own = {(1, 0): attention[1][:, 0]}
    flat = {(1, 0): torch.full_like(attention[1][:, 0], 0.2)}
    torch.testing.assert_close(forward(parameters, SHAPE, plan, batch, own)[0], logits)
    assert (forward(parameters, SHAPE, plan, batch, flat)[0] - logits).abs().max() > 1e-3


def test_the_loss_is_a_mean_over_sequences_of_means_over_tokens() -> None:
    layout = SlotLayout((1, 3, 7))
    plan, batch = SlotTensors(layout, "cpu", SHAPE.width), make_batch(layout, 2, SHAPE)
    logits, _ = forward(views(random_rows(SHAPE, 2), SHAPE), SHAPE, plan, batch)
    found = losses(logits, batch, plan, torch.zeros(2, SHAPE.classes))
    for model in range(2):
        each = []
        for slot, start in enumerate(layout.starts):
            span = slice(start, start + int(batch.lengths[model, slot]))
            each.append(
                torch.nn.functional.cross_entropy(logits[model, span], batch.targets[model, span])
            )
        torch.testing.assert_close(found[model], torch.stack(each).mean())


def test_a_row_moved_to_more_tokens_and_classes_comes_back_as_it_was() -> None:
    wider = Shape(2, 2, 16, 24, tokens=16, classes=8)
    row = random_rows(SHAPE, 1)[0]
    back = move_row(move_row(row, SHAPE, wider), wider, SHAPE)
    for name, parameter in views(back[None], SHAPE).items():
        assert torch.equal(parameter, views(row[None], SHAPE)[name])


def test_sinusoids_are_the_transformers() -> None:
    found = sinusoids(6, 4)
    assert found[0].tolist() == [0, 1, 0, 1]
    assert found[5, 0] == pytest.approx(-0.958924, abs=1e-5)  # sin 5
    assert found[5, 3] == pytest.approx(0.998750, abs=1e-5)  # cos 5/100
