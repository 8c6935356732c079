"""Initial weights replace those of their names and nothing else; the network that is kept can still be read."""

import tarfile
from pathlib import Path

import pytest
import torch

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.files.text_files import read_lines
from pipeline_py.nmt.model import TranslationModel
from pipeline_py.nmt.saved_model import load_initial_weights, load_model, save_weights
from pipeline_py.run.errors import InputError

KEPT = Path(__file__).parents[2] / "docs" / "outputs" / "multi30k.tar.xz"


def network(seed: int) -> TranslationModel:
    torch.manual_seed(seed)
    return TranslationModel(
        CompositionConfig.model_validate({"model": {"embedding": 4, "hidden": 6}}), {"source": 9, "target": 8}
    )


def test_weights_in_file_are_loaded(tmp_path: Path) -> None:
    source_weights, initial_weights, started = network(1).state_dict(), network(2).state_dict(), network(2)
    encoder_weights = {name: tensor for name, tensor in source_weights.items() if name.startswith("encoders.")}
    assert 0 < len(encoder_weights) < len(source_weights)
    save_weights(tmp_path / "initial.safetensors", encoder_weights)
    load_initial_weights(started, tmp_path / "initial.safetensors")
    for name, tensor in started.state_dict().items():
        assert torch.equal(tensor, encoder_weights.get(name, initial_weights[name])), name
    assert all(parameter.requires_grad for parameter in started.parameters())


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"parser.weight": (2, 3)}, "the network has no parser.weight; take the weights of a network with the same"),
        ({"{first}": (3, 7)}, "not the weights of this network (size mismatch for {first}: "),
        ({"{first}": ()}, "not the weights of this network (size mismatch for {first}: "),
    ],
    ids=["name", "shape", "scalar"],
)
def test_weights_of_another_network_raise_error(tmp_path: Path, weights: dict, message: str) -> None:
    model = network(1)
    first = next(iter(model.state_dict()))
    save_weights(tmp_path / "w", {name.format(first=first): torch.ones(shape) for name, shape in weights.items()})
    with pytest.raises(InputError) as error:
        load_initial_weights(model, tmp_path / "w")
    assert str(error.value).startswith(f"{tmp_path / 'w'}: {message.format(first=first)}")


def test_invalid_file_raises_error(tmp_path: Path) -> None:
    (tmp_path / "w").write_text("weights")
    with pytest.raises(InputError, match=r"w: damaged"):
        load_initial_weights(network(1), tmp_path / "w")
    with pytest.raises(FileNotFoundError):
        load_initial_weights(network(1), tmp_path / "none")


def test_kept_network_can_be_loaded(tmp_path: Path) -> None:
    with tarfile.open(KEPT) as archive:
        archive.extractall(tmp_path, filter="data")
    results_folder = tmp_path / "multi30k"
    folder = results_folder / "nmt" / "GlobalAtt" / "seed1"
    model = load_model(folder / "model.safetensors", folder / "config.json")
    vocabularies = {
        side: results_folder / "subword" / "default" / f"vocabulary.{side}" for side in ("source", "target")
    }
    assert model.vocabulary_sizes == {side: len([*read_lines(file)]) for side, file in vocabularies.items()}
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
