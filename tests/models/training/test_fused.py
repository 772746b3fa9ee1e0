"""The kernels, run by Triton's interpreter: the plain model's logits, losses and gradients."""

from __future__ import annotations

import os

import pytest

torch = pytest.importorskip("torch", reason="training needs PyTorch")

pytestmark = pytest.mark.slow
os.environ["TRITON_INTERPRET"] = "1"
pytest.importorskip("triton", reason="the fused engine needs Triton")

from rasp.models.training.batch_shapes import SlotLayout  # noqa: E402
from rasp.models.training.engines import can_fuse  # noqa: E402
from rasp.models.training.fused import FusedModel  # noqa: E402
from rasp.models.training.network import SlotTensors, forward, losses, token_weights  # noqa: E402
from rasp.models.training.parameters import Shape, views  # noqa: E402

from .test_network import make_batch, random_rows  # noqa: E402


@pytest.mark.parametrize(("heads", "slots"), [(1, (2, 30)), (2, (3, 41))])
def test_kernels_compute_what_autograd_does(heads: int, slots: tuple[int, ...]) -> None:
    shape = Shape(layers=2, heads=heads, width=32, feed_forward=64, tokens=8, classes=8)
    layout = SlotLayout(slots)
    plan, batch = SlotTensors(layout, "cpu"), make_batch(layout, 2, shape)
    rows = random_rows(shape, 2)
    inside = plan.position_of < batch.lengths[:, plan.slot_of]
    counted = (inside[:, plan.cell_queries] & inside[:, plan.cell_keys])[:, None]
    pull = counted * torch.randn(2, heads, layout.cells, generator=torch.Generator().manual_seed(1))

    rows.requires_grad_()
    logits, attention = forward(views(rows, shape), shape, plan, batch)
    loss = losses(logits, batch, plan, torch.zeros(2, shape.classes))
    (loss.sum() + (attention[1] * pull).sum()).backward()

    given = (batch.tokens.int(), batch.lengths.int())
    plain_rows, gradient = rows.detach(), torch.zeros_like(rows)
    model = FusedModel(shape, layout, views(plain_rows, shape), torch.tensor([8, 8]).int())
    found = model.forward(*given)
    bias = views(plain_rows, shape)["classify_bias"][:, None]
    torch.testing.assert_close(
        (found + bias)[inside], logits.detach()[inside], rtol=1e-4, atol=1e-5
    )
    token_losses, hits = model.loss(found, batch.targets.int(), token_weights(batch, plan))
    torch.testing.assert_close(token_losses.sum(1), loss.detach())
    assert torch.equal(hits.bool(), (logits.argmax(2) == batch.targets) & inside)
    model.backward(found, *given, views(gradient, shape), {1: pull.contiguous()})
    wanted = views(rows.grad, shape)
    for name, each in views(gradient, shape).items():
        torch.testing.assert_close(
            each, wanted[name], rtol=1e-3, atol=1e-5, msg=lambda text, at=name: f"{at}: {text}"
        )


def test_classes_a_model_does_not_have_are_never_given() -> None:
    shape = Shape(layers=1, heads=1, width=16, feed_forward=16, tokens=4, classes=8)
    layout = SlotLayout((3,))
    batch = make_batch(layout, 1, Shape(1, 1, 16, 16, 4, 3))
    rows = random_rows(shape, 1)
    views(rows, shape)["classify_bias"][:, 3:] = 100.0
    model = FusedModel(shape, layout, views(rows, shape), torch.tensor([3]).int(), trains=False)
    logits = model.forward(batch.tokens.int(), batch.lengths.int())
    model.loss(logits, batch.targets.int(), torch.ones(1, 3))
    assert (logits[..., 3:] == 0).all() and (logits[..., :3] != 0).all()


@pytest.mark.parametrize(
    ("shape", "slots"),
    [
        (Shape(1, 1, 48, 64, 4, 4), (4,)),
        (Shape(1, 1, 64, 64, 4, 4), (4, 200)),
        (Shape(1, 8, 64, 64, 4, 4), (4,)),
    ],
)
def test_what_does_not_fit_the_kernels_is_left_to_the_plain_engine(
    shape: Shape, slots: tuple[int, ...]
) -> None:
    assert not can_fuse(shape, SlotLayout(slots))
    assert can_fuse(Shape(1, 2, 64, 64, 4, 4), SlotLayout((4,)))
