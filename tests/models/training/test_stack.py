"""Stacks: models trained together come out as if trained alone, and the recipe is followed."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="training needs PyTorch")

import rasp.models.training.engine as engine_module  # noqa: E402
from rasp.models.training.engine import Engine, adam, fast  # noqa: E402
from rasp.models.training.parameters import views  # noqa: E402
from rasp.models.training.stack import StackState  # noqa: E402
from rasp.models.training.sweep import describe  # noqa: E402

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
    first = views(alone.own_row(alone.state.rows, 0)[None], alone.own_shapes[0])
    second = views(together.own_row(together.state.rows, 1)[None], together.own_shapes[1])
    for name, parameter in first.items():
        if not name.endswith("attend_bias"):  # the keys' bias does nothing: its gradient is noise
            torch.testing.assert_close(parameter, second[name], rtol=1e-3, atol=1e-4)
    assert alone.histories[0].loss == pytest.approx(together.histories[1].loss, rel=1e-4)
    assert alone.histories[0].validation == together.histories[1].validation


def test_one_step_is_pytorchs_adam() -> None:
    torch.manual_seed(0)
    rows = torch.randn(2, 50)
    state = StackState(rows, torch.zeros(2, 50), torch.zeros(2, 50), torch.zeros(2).int())
    expected = rows.clone().requires_grad_()
    oracle = torch.optim.Adam([expected], lr=1e-3)
    for _ in range(3):
        gradient = torch.randn(2, 50)
        state = adam(state, gradient, torch.full((2,), 1e-3))
        expected.grad = gradient
        oracle.step()
    torch.testing.assert_close(state.rows, expected.detach())


def test_the_gradient_is_autograds() -> None:
    stack = make_stack([small_run("reverse", rate=1e-3)])
    engine = Engine(stack)
    stack.start_epoch(engine)
    before = stack.state.rows.clone().requires_grad_()
    pool, plan = stack.pools["train"], engine.plans["train"]
    batch = pool.gather(engine.order[:, 0], plan)
    logits, _ = engine_module.forward(views(before, stack.shape), stack.shape, plan, batch)
    loss = engine_module.losses(logits, batch, plan, engine.class_mask)
    [gradient] = torch.autograd.grad(loss.sum(), before)
    engine.train_batch(0)
    torch.testing.assert_close(stack.state.first_moment, 0.1 * gradient)
    torch.testing.assert_close(engine.total, loss.detach())


def test_where_a_step_cannot_be_compiled_it_is_taken_as_it_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object, **__: object):  # type: ignore[no-untyped-def]
        def run(*_: object) -> int:
            raise RuntimeError("no Triton here")

        return run

    monkeypatch.setattr(torch, "compile", broken)
    step = fast(lambda number: number + 1, "cuda")
    with pytest.warns(UserWarning, match="no Triton here"):
        assert step(1) == 2
    assert step(2) == 3, "without another word"


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
    history = stack.histories[0]
    assert history.loss[-1] < 0.7 * history.loss[0]
    assert history.validation[history.best_epoch - 1] == history.best
    again = engine.evaluate(stack.best, "validation")
    assert again.tokens[0] == pytest.approx(history.best, abs=1e-6)
    assert again.sequences[0] <= again.tokens[0]


def test_supervised_attention_comes_closer_to_the_programs() -> None:
    from rasp.models.training.matching import find_match

    agreements = []
    for attention in (0.0, 100.0):
        config = small_run("hist_bos", layers=1, train=600, rate=3e-3, attention=attention)
        stack = make_stack([config])
        train_epochs(stack, 5)
        match = find_match(
            stack.own_row(stack.state.rows, 0)[None], stack.own_shapes[0], stack.data[0]
        )
        assert match is not None
        agreements.append(match.agreement)
    assert agreements[1] > 0.9 > agreements[0]


def test_progress_says_how_far_every_task_is() -> None:
    stack = make_stack([small_run("hist", epochs=2), small_run("sort", epochs=2)])
    assert describe(stack) == "epoch 1 of 2"
    train_epochs(stack, 1)
    line = describe(stack)
    for task, history in zip(("hist", "sort"), stack.histories, strict=True):
        assert f"{task}: loss {history.loss[0]:.4f}, {100 * history.best:.2f} % right" in line
