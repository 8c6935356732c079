"""Rates of learning: what each update is made with."""

import pytest
import torch

from pipeline_py.config.systems.training import OptimizerConfig
from pipeline_py.nmt.training.update import (
    apply_learning_rate_schedule,
    build_optimizer,
    decay_learning_rate_if_worse,
    get_learning_rate,
)


def rates(options: OptimizerConfig, updates: int) -> list[float]:
    optimizer = build_optimizer(options, [torch.nn.Parameter(torch.zeros(1))])
    result = []
    for update in range(updates):
        apply_learning_rate_schedule(optimizer, options, update, progress=update / updates)
        result.append(get_learning_rate(optimizer))
    return result


def test_a_linear_schedule_falls_to_nothing_by_the_last_update() -> None:
    options = OptimizerConfig(name="adam", learning_rate=0.4, schedule="linear")
    assert rates(options, 4) == pytest.approx([0.4, 0.3, 0.2, 0.1])


def test_the_rate_rises_first_where_there_is_a_warmup() -> None:
    options = OptimizerConfig(name="adam", learning_rate=0.4, schedule="linear", warmup=1)
    assert rates(options, 4) == pytest.approx([0.2, 0.3, 0.2, 0.1])
    assert rates(OptimizerConfig(name="adam", learning_rate=0.3, warmup=2), 5) == pytest.approx(
        [0.1, 0.2, 0.3, 0.3, 0.3]
    )
    assert rates(OptimizerConfig(name="sgd"), 2) == [1.0, 1.0]


def test_the_rate_falls_with_the_root_of_the_updates_after_the_warmup() -> None:
    """Vaswani et al. (2017), eq. 3, with the height of the rate where both terms meet."""
    options = OptimizerConfig(name="adam", learning_rate=0.4, schedule="inverse_square_root", warmup=3)
    expected = [0.4 * min((update + 1) / 4, (4 / (update + 1)) ** 0.5) for update in range(16)]
    assert rates(options, 16) == pytest.approx(expected)
    assert rates(options, 16)[15] == pytest.approx(0.2)


def test_adam_gets_its_constants() -> None:
    parameters = [torch.nn.Parameter(torch.zeros(1))]
    usual = build_optimizer(OptimizerConfig(name="adam"), parameters).defaults
    assert (usual["betas"], usual["eps"]) == ((0.9, 0.999), 1e-8)
    settings = build_optimizer(OptimizerConfig(name="adam", betas=(0.9, 0.997), epsilon=1e-9), parameters).defaults
    assert (settings["betas"], settings["eps"]) == ((0.9, 0.997), 1e-9)
    assert build_optimizer(OptimizerConfig(), parameters).defaults["eps"] == 1e-6


@pytest.mark.parametrize("name", ["adadelta", "adam", "sgd"])
def test_l2_regularization_is_the_gradient_of_squares(name: str) -> None:
    """One update from a loss with λ/2 Σ w² is that of the regularized rule from the loss alone."""
    start = torch.tensor([0.5, -2.0, 3.0])
    result = []
    for l2, explicit in ((0.3, 0.0), (0.0, 0.3)):
        weights = torch.nn.Parameter(start.clone())
        rule = build_optimizer(OptimizerConfig(name=name, l2=l2), [weights])
        for _ in range(3):
            rule.zero_grad()
            (weights.sin().sum() + explicit / 2 * (weights**2).sum()).backward()
            rule.step()
        result.append(weights.detach())
    torch.testing.assert_close(*result)
    assert not torch.equal(result[0], start)


def test_the_rate_decays_when_dev_is_worse_than_before_or_no_better_for_long() -> None:
    losses, since = [3.0, 2.0, 2.5, 2.2, 2.4, 2.1, 1.0], [0, 0, 1, 2, 3, 4, 0]
    for patience, expected in ((None, [1, 1, 0.5, 0.5, 0.25, 0.25, 0.25]), (2, [1, 1, 1, 0.5, 0.5, 0.25, 0.25])):
        options = OptimizerConfig(name="sgd", decay=0.5, decay_patience=patience)
        optimizer = build_optimizer(options, [torch.nn.Parameter(torch.zeros(1))])
        rates = []
        for number, since_best in enumerate(since, start=1):
            decay_learning_rate_if_worse(optimizer, options, losses[:number], since_best)
            rates.append(get_learning_rate(optimizer))
        assert rates == expected
    with pytest.raises(ValueError, match=r"add e\.g\. `decay: 0\.5`"):
        OptimizerConfig(decay_patience=2)


def test_a_constant_schedule_leaves_alone_what_dev_has_lowered() -> None:
    options = OptimizerConfig(name="sgd", decay=0.5, warmup=1)
    optimizer = build_optimizer(options, [torch.nn.Parameter(torch.zeros(1))])
    decay_learning_rate_if_worse(optimizer, options, [1.0, 2.0], validations_since_best=1)
    apply_learning_rate_schedule(optimizer, options, update=2, progress=0.5)
    assert get_learning_rate(optimizer) == 0.5
