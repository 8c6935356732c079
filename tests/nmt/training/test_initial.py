"""Initial weights replace those of their names and nothing else."""

from pathlib import Path

import pytest
import torch

from pipeline_py.config.systems.composition import System
from pipeline_py.nmt.model import Model
from pipeline_py.nmt.saved import save_weights
from pipeline_py.nmt.training.initial import start_from
from pipeline_py.stage import InputError


def network(seed: int) -> Model:
    torch.manual_seed(seed)
    return Model(System.model_validate({"model": {"embedding": 4, "hidden": 6}}), {"source": 9, "target": 8})


def test_named_weights_are_taken(tmp_path: Path) -> None:
    given, drawn, started = network(1).state_dict(), network(2).state_dict(), network(2)
    taken = {name: tensor for name, tensor in given.items() if name.startswith("encoders.")}
    assert 0 < len(taken) < len(given)
    save_weights(tmp_path / "initial.safetensors", taken)
    start_from(started, tmp_path / "initial.safetensors")
    for name, tensor in started.state_dict().items():
        assert torch.equal(tensor, taken.get(name, drawn[name])), name
    assert all(parameter.requires_grad for parameter in started.parameters())


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"parser.weight": (2, 3)}, "the network has no parser.weight; take the weights of one with the same parts"),
        ({"{first}": (3, 7)}, "{first} is 3 × 7 and {shape} in the network; take the weights of one with the same"),
        ({"{first}": ()}, "{first} is a number and {shape} in the network"),
    ],
    ids=["name", "shape", "scalar"],
)
def test_weights_of_another_network(tmp_path: Path, weights: dict, message: str) -> None:
    model = network(1)
    first, tensor = next(iter(model.state_dict().items()))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    save_weights(tmp_path / "w", {name.format(first=first): torch.ones(shape) for name, shape in weights.items()})
    with pytest.raises(InputError) as error:
        start_from(model, tmp_path / "w")
    shape = " × ".join(map(str, tensor.shape))
    assert str(error.value).startswith(f"{tmp_path / 'w'}: {message.format(first=first, shape=shape)}")
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_no_safetensors(tmp_path: Path) -> None:
    (tmp_path / "w").write_text("weights")
    with pytest.raises(InputError, match=r"w: damaged"):
        start_from(network(1), tmp_path / "w")
    with pytest.raises(FileNotFoundError):
        start_from(network(1), tmp_path / "none")
