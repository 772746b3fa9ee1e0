"""Stacks: models trained together come out as if trained alone, and the recipe is followed."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="training needs PyTorch")

from rasp.models.training.parameters import views  # noqa: E402
from rasp.models.training.plain_engine import PlainEngine  # noqa: E402

from .small_runs import make_stack, small_run, train_epochs  # noqa: E402

pytestmark = pytest.mark.slow


def test_a_models_neighbours_make_no_difference() -> None:
    alone = make_stack([small_run("dyck_1", seed=1)])
    together = make_stack(
        [
            small_run("sort", seed=0),
            small_run("dyck_1", seed=1),
            small_run("hist", seed=2, rate=1e-2),
        ]
    )
    for stack in (alone, together):
        train_epochs(stack, 2)
    first = views(alone.own_row(alone.rows, 0)[None], alone.own_shapes[0])
    second = views(together.own_row(together.rows, 1)[None], together.own_shapes[1])
    for name, parameter in first.items():
        if not name.endswith("attend_bias"):  # the keys' bias does nothing: its gradient is noise
            torch.testing.assert_close(parameter, second[name], rtol=1e-3, atol=1e-4)
    assert alone.progress[0].loss == pytest.approx(together.progress[1].loss, rel=1e-4)
    assert alone.progress[0].validation == together.progress[1].validation


def test_one_step_is_pytorchs_adam() -> None:
    stack = make_stack([small_run("reverse", rate=1e-3)])
    engine = PlainEngine(stack)
    stack.start_epoch(engine)
    gradients: list[torch.Tensor] = []
    inner = engine._adam
    engine._adam = lambda gradient: (gradients.append(gradient.clone()), inner(gradient))[1]
    before = stack.rows.clone().requires_grad_()
    oracle = torch.optim.Adam([before], lr=1e-3)
    for number in range(3):
        engine.train_batch(number)
        before.grad = gradients[-1]
        oracle.step()
    torch.testing.assert_close(stack.rows, before.detach())


def test_the_learning_rate_falls_after_each_epoch_and_each_has_its_own_order() -> None:
    stack = make_stack([small_run("hist", rate=0.5, decay=0.25, epochs=9)])

    class Listener:
        def start_epoch(self, order, rates) -> None:  # type: ignore[no-untyped-def]
            seen.append((order.copy(), float(rates[0])))

    seen: list = []
    for epoch in range(3):
        stack.epoch = epoch
        stack.start_epoch(Listener())  # type: ignore[arg-type]
    assert [rate for _, rate in seen] == [0.5, 0.125, 0.03125]
    assert (seen[0][0] != seen[1][0]).any()


def test_learning_happens_and_the_best_epoch_is_kept() -> None:
    stack = make_stack([small_run("hist", layers=1, train=600, rate=3e-3, epochs=8)])
    engine = train_epochs(stack, 8)
    progress = stack.progress[0]
    assert progress.loss[-1] < 0.7 * progress.loss[0]
    assert progress.validation[progress.best_epoch - 1] == progress.best
    again = engine.evaluate(stack.best, "validation")
    assert again.tokens[0] == pytest.approx(progress.best, abs=1e-6)
    assert again.sequences[0] <= again.tokens[0]


def test_supervised_attention_comes_closer_to_the_programs() -> None:
    from rasp.models.training.matching import find_match

    agreements = []
    for attention in (0.0, 100.0):
        config = small_run("hist_bos", layers=1, train=600, rate=3e-3, attention=attention)
        stack = make_stack([config])
        train_epochs(stack, 5)
        match = find_match(stack.own_row(stack.rows, 0)[None], stack.own_shapes[0], stack.data[0])
        assert match is not None
        agreements.append(match["agreement"])
    assert agreements[1] > 0.9 > agreements[0]


def test_progress_says_how_far_every_task_is() -> None:
    import io

    from rasp.models.training.live import Live

    stack = make_stack([small_run("hist", epochs=2), small_run("sort", epochs=2)])
    train_epochs(stack, 1)
    out = io.StringIO()
    Live(out)([stack, stack], stack, 75.0)
    said = out.getvalue()
    assert "epoch 1/2" in said and "1:15 min left" in said and "1 more size," in said
    for task, progress in zip(("hist", "sort"), stack.progress, strict=True):
        assert f"{task} loss {progress.loss[0]:.4f} best {100 * progress.best:.2f} %" in said
