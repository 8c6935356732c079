"""A trained model on disk: weights in safetensors and a `config.json` from which the network is built."""

import json
from pathlib import Path

import torch
from pydantic import ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.files import artifacts
from pipeline_py.files.artifacts import write_atomically, write_json
from pipeline_py.nmt.model import TranslationModel
from pipeline_py.run.errors import InputError


def save_weights(path: Path, weights: dict[str, Tensor]) -> None:
    """Write weights; equal weights give equal bytes."""
    with write_atomically(path) as temporary:
        # `save_file` would leave a temporary file when killed.
        temporary.write_bytes(save(weights, metadata={"checksum": artifacts.CHECKSUM_PLACEHOLDER}))
        artifacts.write_checksum(temporary)


def load_weights(path: Path) -> dict[str, Tensor]:
    """Load weights written by `save_weights`.

    Raises:
        FileNotFoundError: the file does not exist.
        InputError: the file is damaged, or `save_weights` did not write it.
    """
    if not artifacts.has_valid_checksum(path):
        raise InputError(artifacts.CHECKSUM_MISMATCH_ERROR, path)
    try:
        return load_file(path)
    except SafetensorError as error:
        raise InputError(f"not a safetensors file ({error}); remove it and run again", path) from None


def load_initial_weights(model: TranslationModel, path: Path) -> None:
    """Load the parameters in a safetensors file into a network; other parameters do not change.

    Raises:
        InputError: the file is damaged or no safetensors file, or has parameters that the network lacks.
    """
    remedy = "take the weights of a network with the same parts, sizes and vocabularies"
    try:
        unknown = model.load_state_dict(load_weights(path), strict=False).unexpected_keys
    except RuntimeError as error:
        reason = str(error).splitlines()[1].strip()
        raise InputError(f"not the weights of this network ({reason}); {remedy}", path) from None
    if unknown:
        raise InputError(f"the network has no {unknown[0]}; {remedy}", path)


def save_config(path: Path, model: TranslationModel) -> None:
    """Write the configuration from which `load_model` builds the network: `{"system", "vocabularies"}`."""
    write_json(
        path,
        {
            "system": model.composition.model_dump(mode="json"),
            "vocabularies": model.vocabulary_sizes,
        },
    )


def load_model(weights_path: Path, config_path: Path, device: torch.device | str = "cpu") -> TranslationModel:
    """Build the network of `config_path` with its weights, in evaluation mode.

    Raises:
        InputError: a file is invalid, or the two do not belong together.
    """
    weights = load_weights(weights_path)
    remedy = "train the system again"
    try:
        config = json.loads(config_path.read_text(encoding="utf-8"))
        system = CompositionConfig.model_validate(config["system"])
        model = TranslationModel(system, {name: int(size) for name, size in config["vocabularies"].items()})
    except (ValidationError, ValueError, KeyError, TypeError, AttributeError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"not the configuration of a model ({reason}); {remedy}", config_path) from None
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"not the weights of the model in {config_path} ({reason}); {remedy}", weights_path) from None
    return model.to(device).eval()
