"""Pretrain an encoder to parse, before it is trained to translate (Hashimoto and Tsuruoka 2017; tree2seq 5.3)."""

import time
from pathlib import Path

from pydantic import NonNegativeInt, PositiveInt

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.config.systems.training import TrainingConfig
from pipeline_py.files.artifacts import write_json
from pipeline_py.files.ragged_arrays import RaggedArrayFile
from pipeline_py.kinds.heads import NO_HEAD
from pipeline_py.nmt.data.packed_files import count_syntax_identifiers
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress

SMALLEST_VOCABULARY = 2
"""Size of a vocabulary of EOS and the unknown word."""


def pretrain(
    *,
    name: str = "system",
    system: CompositionConfig,
    training: TrainingConfig,
    seed: NonNegativeInt = 1,
    train_source: Path,
    dev_source: Path,
    train_syntax: dict[str, Path],
    dev_syntax: dict[str, Path],
    source_vocabulary: Path,
    syntax_vocabularies: dict[str, Path],
    threads: PositiveInt = 1,
    weights_output: Path,
    facts_output: Path,
) -> None:
    """Train the parsing encoder of a system, and keep the weights that parse the development set best.

    Optimizer, batches, clipping, precision and length limits are those of `training`; the number of epochs is the
    encoder's `pretraining_epochs`. After a kill, pretraining starts again from the beginning.

    Args:
        name: Name of the system, for messages.
        system: The composition of the system.
        training: How to train; `seeds`, `threads`, `processes` and the keys about validation and early stopping are
            ignored.
        seed: Seed of the initial weights, the order of batches, and dropout.
        train_source: Packed source sentences (ragged int32).
        dev_source: Packed source sentences of the development set, which selects the weights.
        train_syntax: Files of each kind of syntax that the encoder learns to predict (heads, labels), and of those that
            the system reads.
        dev_syntax: The same for the development set.
        source_vocabulary: `token count` on each line.
        syntax_vocabularies: Vocabulary of each of these kinds that has one.
        threads: CPU threads.
        weights_output: All weights of the encoder in safetensors, named as in the system.
        facts_output: Loss, attachment score, speed and versions as JSON.

    Raises:
        InputError: files are invalid, or do not belong together; the training diverged.
    """
    started = time.monotonic()
    encoder_index, epochs = _find_parsing_encoder(system)

    import numpy as np
    import torch

    from pipeline_py.nmt.data.dataset import ParallelDataset
    from pipeline_py.nmt.model import TranslationModel
    from pipeline_py.nmt.parsing_encoder import ParsingEncoder
    from pipeline_py.nmt.precision import resolve_precision
    from pipeline_py.nmt.saved_model import save_weights
    from pipeline_py.nmt.torch_setup import get_processor_name, prepare_torch
    from pipeline_py.nmt.training.parser_training_run import ParserTrainingRun
    from pipeline_py.nmt.training.update import disable_unsupported_graphs
    from pipeline_py.subword.vocabulary import Vocabulary

    device = prepare_torch(training.device, threads)
    training = disable_unsupported_graphs(resolve_precision(training, system.model.hidden, device))
    size = len(Vocabulary.load(source_vocabulary))
    vocabularies = {"source": size, "target": size, **count_syntax_identifiers(syntax_vocabularies)}
    # Parsing needs no targets; the sources serve as targets.
    data = ParallelDataset(train_source, train_source, train_syntax, vocabularies, training.max_length)
    dev = ParallelDataset(dev_source, dev_source, dev_syntax, vocabularies)
    for files in (train_syntax, dev_syntax):
        _check_has_parses(files["heads"])

    torch.manual_seed(seed)
    # The decoder is unused and therefore as small as possible.
    model = TranslationModel(system, {**vocabularies, "target": SMALLEST_VOCABULARY})
    parser = model.encoders[encoder_index].to(device)
    assert isinstance(parser, ParsingEncoder)
    run = ParserTrainingRun(name, parser, epochs, training, data, dev, device, seed)
    for _ in show_progress(run.run_updates(), f"pretrain {name}", total=run.total_updates, unit="updates"):
        pass

    save_weights(
        weights_output, {f"encoders.{encoder_index}.{key}": tensor for key, tensor in parser.state_dict().items()}
    )
    write_json(
        facts_output,
        {
            "parameters": sum(parameter.numel() for parameter in parser.parameters()),
            "epochs": epochs,
            "best_epoch": run.best_validation["epoch"],
            "dev_loss": run.best_validation["dev_loss"],
            "dev_unlabelled_attachment": run.best_validation["dev_unlabelled_attachment"],
            "dev_labelled_attachment": run.best_validation["dev_labelled_attachment"],
            "curve": run.learning_curve,
            "seconds": round(time.monotonic() - started, 1),
            "seed": seed,
            "device": device.type,
            "processor": get_processor_name(device),
            "threads": threads,
            "precision": training.precision,
            "skipped": {"too_long": data.skipped_count, "non_finite_batches": run.skipped_batches},
            "versions": {"torch": torch.__version__, "numpy": np.__version__},
        },
    )


def _find_parsing_encoder(system: CompositionConfig) -> tuple[int, int]:
    """Return the index of the encoder that is pretrained, and its number of epochs."""
    candidates = [
        (index, encoder.pretraining_passes)
        for index, encoder in enumerate(system.encoders)
        if encoder.pretraining_passes is not None
    ]
    if len(candidates) != 1:
        raise InputError(
            f"{len(candidates)} encoders of the system learn to parse; give a composition with one latent_graph"
        )
    return candidates[0]


def _check_has_parses(path: Path) -> None:
    """Raise `InputError` if no word of a file has a head."""
    for _, values, offsets in RaggedArrayFile(path).iterate_blocks():
        ends = values[offsets[1:] - 1]
        if (values != NO_HEAD).sum() > (ends != NO_HEAD).sum():
            return
    raise InputError("no word has a head, since no sentence has a parse; parse the text again", path)
