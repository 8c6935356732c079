"""Pretrain an encoder to parse, before it is trained to translate (Hashimoto and Tsuruoka 2017; tree2seq 5.3)."""

import time
from importlib import metadata
from pathlib import Path
from typing import Annotated

from pipeline_py import stage
from pipeline_py.artifact import write_json
from pipeline_py.config.base import from_json
from pipeline_py.config.effects import Effect
from pipeline_py.config.systems.composition import System
from pipeline_py.config.systems.training import Training
from pipeline_py.input_error import InputError
from pipeline_py.kinds.heads import NO_HEAD
from pipeline_py.nmt.data.packed import syntax_files, syntax_vocabularies
from pipeline_py.options import Option
from pipeline_py.output_cache import OutputCache, identity
from pipeline_py.progress import progress
from pipeline_py.ragged import Ragged

SMALLEST_VOCABULARY = 2
"""EOS and the unknown word."""

LIBRARIES = ("torch", "numpy", "safetensors")
"""Their versions decide the result."""


def pretrain(
    *,
    name: str = "system",
    system: str,
    training: str,
    seed: Annotated[int, Option(min=0)] = 1,
    train_source: Path,
    dev_source: Path,
    train_syntax: list[str] | None = None,
    dev_syntax: list[str] | None = None,
    source_vocabulary: Path,
    syntax_vocabulary: list[str] | None = None,
    code: str = "",
    cache: Path | None = None,
    output: Path,
    facts_output: Path,
) -> None:
    """Train the parsing encoder of a system, and keep the weights that parse the development set best.

    Optimizer, batches, clipping, precision and length limits are those of `training`; the number of epochs is the
    encoder's `pretraining_epochs`. After a kill, pretraining starts again from the beginning. A run with the same
    inputs, settings and code as the last finished one reuses its outputs.

    Args:
        name: Name of the system, for messages.
        system: The system, one of `systems` of the configuration, as JSON.
        training: `training` of the configuration as JSON; `seeds` and the keys about validation and early stopping are
            ignored.
        seed: Seed of the initial weights, the order of batches, and dropout.
        train_source: Packed source sentences (ragged int32).
        dev_source: Packed source sentences of the development set, which selects the weights.
        train_syntax: KIND=FILE for each kind of syntax that the encoder learns to predict (heads=…, labels=…), and for
            those that the system reads; repeatable.
        dev_syntax: The same for the development set; repeatable.
        source_vocabulary: `token count` on each line.
        syntax_vocabulary: KIND=FILE for each of these kinds that has a vocabulary, e.g. labels=vocabulary.labels;
            repeatable.
        code: Any text that identifies the version of the code; outputs of another version are not reused.
        cache: Folder for the outputs of this run when it last finished; no other run may use it, and it must not be an
            output folder. Without it, every run trains.
        output: All weights of the encoder in safetensors, named as in the system.
        facts_output: Loss, attachment score, speed and versions as JSON.

    Raises:
        InputError: options or files are invalid, or do not belong together.
    """
    started = time.monotonic()
    system_options = from_json(System, system, "--system")
    training_options = from_json(Training, training, "--training")
    place, epochs = _parser_of(system_options)
    kinds = sorted({*system_options.pretrained_on, *system_options.trained_on})
    train_files = syntax_files(kinds, train_syntax or [], "--train-syntax")
    dev_files = syntax_files(kinds, dev_syntax or [], "--dev-syntax")
    vocabulary_files = syntax_files(
        system_options.kinds_with_vocabulary, syntax_vocabulary or [], "--syntax-vocabulary"
    )
    inputs = [train_source, dev_source, source_vocabulary]
    for of_kinds in (train_files, dev_files, vocabulary_files):
        inputs += [of_kinds[kind] for kind in sorted(of_kinds)]
    made_from = identity(
        inputs,
        system_options.model_dump_json(),
        training_options.model_dump_json(exclude=training_options.without(Effect.ROUNDING, "nmt.pretrain")),
        str(seed),
        code,
        *map(metadata.version, LIBRARIES),
    )
    finished = OutputCache(cache, made_from)
    if finished.restore(output, facts_output):
        return

    import numpy as np
    import torch

    from pipeline_py.nmt.data.dataset import Dataset
    from pipeline_py.nmt.device import prepare
    from pipeline_py.nmt.model import Model
    from pipeline_py.nmt.parsing import Parser
    from pipeline_py.nmt.precision import with_precision
    from pipeline_py.nmt.saved import save_weights
    from pipeline_py.nmt.training.parsing_run import ParsingRun
    from pipeline_py.subword.vocabulary import Vocabulary

    device = prepare(training_options.device, training_options.threads)
    training_options = with_precision(training_options, system_options.model.hidden, device)
    size = len(Vocabulary.load(source_vocabulary))
    vocabularies = {
        "source": size,
        "target": size,
        **syntax_vocabularies(kinds, syntax_vocabulary or [], "--syntax-vocabulary"),
    }
    # Nothing is translated: the sentences are their own targets.
    data = Dataset(train_source, train_source, train_files, vocabularies, training_options.max_length)
    dev = Dataset(dev_source, dev_source, dev_files, vocabularies)
    for files in (train_files, dev_files):
        _check_parsed(files["heads"])

    torch.manual_seed(seed)
    # The decoder is not used, so it is made as small as may be.
    model = Model(system_options, {**vocabularies, "target": SMALLEST_VOCABULARY})
    parser = model.encoders[place].to(device)
    assert isinstance(parser, Parser)
    run = ParsingRun(name, parser, epochs, training_options, data, dev, device, seed)
    for _ in progress(run.updates(), f"pretrain {name}", total=run.total, unit="updates"):
        pass

    save_weights(output, {f"encoders.{place}.{key}": tensor for key, tensor in parser.state_dict().items()})
    write_json(
        facts_output,
        {
            "parameters": sum(parameter.numel() for parameter in parser.parameters()),
            "epochs": epochs,
            "best_epoch": run.best["epoch"],
            "dev_loss": run.best["dev_loss"],
            "dev_unlabelled_attachment": run.best["dev_unlabelled_attachment"],
            "dev_labelled_attachment": run.best["dev_labelled_attachment"],
            "curve": run.curve,
            "seconds": round(time.monotonic() - started, 1),
            "seed": seed,
            "device": device.type,
            "threads": training_options.threads,
            "precision": training_options.precision,
            "skipped": {"too_long": data.skipped, "non_finite_batches": run.skipped},
            "versions": {"torch": torch.__version__, "numpy": np.__version__},
        },
    )
    finished.store(output, facts_output)


def _parser_of(system: System) -> tuple[int, int]:
    """Find the encoder that is pretrained: its place among the encoders, and how many passes it makes."""
    found = [
        (place, encoder.passes_of_pretraining)
        for place, encoder in enumerate(system.encoders)
        if encoder.passes_of_pretraining is not None
    ]
    if len(found) != 1:
        raise InputError(
            f"--system: {len(found)} of its encoders learn to parse; give a composition with one latent_graph"
        )
    return found[0]


def _check_parsed(path: Path) -> None:
    """Raise `InputError` where no word of a file has a head."""
    for _, values, offsets in Ragged(path).blocks():
        ends = values[offsets[1:] - 1]
        if (values != NO_HEAD).sum() > (ends != NO_HEAD).sum():
            return
    raise InputError("no word has a head, since no sentence has a parse; parse the text again", path)


if __name__ == "__main__":
    stage.run(pretrain)
