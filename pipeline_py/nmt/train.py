"""Train a neural system."""

import sys
from importlib import metadata
from pathlib import Path
from typing import Annotated

from pipeline_py import stage
from pipeline_py.config.base import from_json
from pipeline_py.config.effects import Effect
from pipeline_py.config.systems.composition import System
from pipeline_py.config.systems.training import Training
from pipeline_py.energy import cards_of, meter
from pipeline_py.input_error import InputError
from pipeline_py.nmt.data.packed import syntax_files, syntax_vocabularies
from pipeline_py.nmt.training.launch import is_one_of_several, launch
from pipeline_py.options import Option
from pipeline_py.output_cache import OutputCache, identity
from pipeline_py.progress import progress

LIBRARIES = ("torch", "numpy", "safetensors", "sacrebleu")
"""Their versions decide the result."""

SIDES = ("source", "target")


def train(
    *,
    name: str = "system",
    system: str,
    training: str,
    like: str | None = None,
    initial: Path | None = None,
    seed: Annotated[int, Option(min=0)] = 1,
    train_source: Path,
    train_target: Path,
    dev_source: Path,
    dev_target: Path,
    source_vocabulary: Path,
    target_vocabulary: Path,
    train_syntax: list[str] | None = None,
    dev_syntax: list[str] | None = None,
    syntax_vocabulary: list[str] | None = None,
    code: str = "",
    checkpoints: Path,
    tensorboard: Path | None = None,
    cache: Path | None = None,
    model_output: Path,
    config_output: Path,
    curve_output: Path,
    facts_output: Path,
) -> None:
    """Train a neural system and keep the weights that are best on the development set.

    After a kill, training continues from the last checkpoint and ends with the same weights, bit by bit, as without the
    kill (on the same machine with the same number of threads). A checkpoint of other inputs, settings or code is
    renamed and not used. A run with the same inputs, settings and code as the last finished one reuses its outputs.

    If several processes are to train, this one starts them like torchrun, or is started by torchrun. Each process gets
    a share of every batch; without dropout, the weights are the same as with one process, up to rounding.

    Args:
        name: Name of the system, for messages.
        system: The system, one of `systems` of the configuration, as JSON.
        training: `training` of the configuration as JSON; `seeds` is ignored.
        like: Another system as JSON, whose number of parameters this one matches: embedding and hidden size become one
            number, the smallest with which this system has at least as many parameters. Both have the vocabularies
            given here.
        initial: Weights in safetensors to start from. The system must have all of them, but may have more.
        seed: Seed of the initial weights, the order of batches, and dropout.
        train_source: Packed source sentences (ragged int32).
        train_target: Packed target sentences.
        dev_source: Packed source sentences of the development set, which selects the weights.
        dev_target: Packed target sentences of the development set.
        source_vocabulary: `token count` on each line.
        target_vocabulary: `token count` on each line.
        train_syntax: KIND=FILE for each kind of syntax that the system reads or learns to predict, e.g.
            distances=train.distances.arrow; repeatable.
        dev_syntax: The same for the development set; repeatable.
        syntax_vocabulary: KIND=FILE for each kind of syntax with a vocabulary, e.g. units=vocabulary.units, that this
            system or the one given with --like reads or learned to predict; repeatable.
        code: Any text that identifies the version of the code; checkpoints and outputs of another version are not
            reused.
        checkpoints: Folder for the latest checkpoint; no other run may use it, and it must survive a kill.
        tensorboard: Folder for the learning curve in TensorBoard's format; no other run may use it.
        cache: Folder for the outputs of this run when it last finished; no other run may use it, and it must not be an
            output folder. Without it, every run trains.
        model_output: Weights in safetensors.
        config_output: What is needed to build the network, as JSON: `system` and `vocabularies`.
        curve_output: The learning curve as TSV, a row for each validation.
        facts_output: Size, speed, energy, scores and versions as JSON.

    Raises:
        InputError: options or files are invalid, or do not belong together; the training diverged.
    """
    system_options = from_json(System, system, "--system")
    training_options = from_json(Training, training, "--training")
    like_options = None if like is None else from_json(System, like, "--like")
    train_files = syntax_files(system_options.trained_on, train_syntax or [], "--train-syntax")
    dev_files = syntax_files(system_options.trained_on, dev_syntax or [], "--dev-syntax")
    kinds = sorted({kind for one in (system_options, like_options) if one for kind in one.kinds_with_vocabulary})
    vocabulary_files = syntax_files(kinds, syntax_vocabulary or [], "--syntax-vocabulary")
    files = [train_source, train_target, dev_source, dev_target, source_vocabulary, target_vocabulary]
    for of_kinds in (train_files, dev_files, vocabulary_files):
        files += [of_kinds[kind] for kind in sorted(of_kinds)]
    made_from = identity(
        files if initial is None else [*files, initial],
        system_options.model_dump_json(),
        training_options.model_dump_json(exclude=training_options.without(Effect.ROUNDING)),
        "" if like_options is None else like_options.model_dump_json(),
        str(seed),
        code,
        *map(metadata.version, LIBRARIES),
    )
    finished = OutputCache(cache, made_from)
    outputs = model_output, config_output, curve_output, facts_output
    one_of_several = is_one_of_several(training_options.processes)
    if not one_of_several and finished.restore(*outputs):
        return
    if training_options.processes > 1 and not one_of_several:
        launch(training_options.processes)
        return

    import torch

    from pipeline_py.nmt.data.dataset import Dataset
    from pipeline_py.nmt.device import prepare
    from pipeline_py.nmt.model import Model
    from pipeline_py.nmt.precision import with_precision
    from pipeline_py.nmt.saved import save_config, save_weights, start_from
    from pipeline_py.nmt.training.capacity import matched
    from pipeline_py.nmt.training.checkpoint import Checkpoints
    from pipeline_py.nmt.training.facts import write_curve, write_facts
    from pipeline_py.nmt.training.processes import ALONE, Processes
    from pipeline_py.nmt.training.run import Run
    from pipeline_py.nmt.training.update import recorded
    from pipeline_py.nmt.training.validation import Validation
    from pipeline_py.subword.vocabulary import Vocabulary

    device = prepare(training_options.device, training_options.threads)
    processes = Processes.joined(device) if one_of_several else ALONE
    vocabulary = Vocabulary.load(target_vocabulary)
    of_source = Vocabulary.load(source_vocabulary)
    if system_options.model.tied_embeddings == "all" and of_source.tokens != vocabulary.tokens:
        raise InputError(f"the system ties both sides' embeddings, but {target_vocabulary} differs", source_vocabulary)
    vocabularies = {
        "source": len(of_source),
        "target": len(vocabulary),
        **syntax_vocabularies(kinds, syntax_vocabulary or [], "--syntax-vocabulary"),
    }
    if like_options is not None:
        system_options = matched(system_options, like_options, vocabularies)
        print(f"{name}: embedding and hidden size are {system_options.model.hidden}", file=sys.stderr)
    needed = {*SIDES, *system_options.kinds_with_vocabulary}
    vocabularies = {kind: size for kind, size in vocabularies.items() if kind in needed}
    training_options = processes.of_first(lambda: with_precision(training_options, system_options.model.hidden, device))
    training_options = recorded(training_options, system_options)
    data = Dataset(train_source, train_target, train_files, vocabularies, training_options.max_length)
    dev = Dataset(dev_source, dev_target, dev_files, vocabularies)

    torch.manual_seed(seed)
    model = Model(system_options, vocabularies)
    model.learn_frequencies(torch.from_numpy(data.target_frequencies(len(vocabulary))))
    if initial is not None:
        start_from(model, initial)
    run = Run(
        name=name,
        model=model,
        training=training_options,
        data=data,
        validation=Validation(
            dev,
            dev.in_order_of_length(training_options.batch_size, training_options.batch_unit),
            device,
            half=training_options.precision == "bfloat16",
        ),
        vocabulary=vocabulary,
        checkpoints=(
            rolling := Checkpoints(checkpoints, identity([], made_from, device.type, training_options.precision))
        ),
        device=device,
        seed=seed,
        meter=meter(cards_of(processes.count) if device.type == "cuda" else []),
        processes=processes,
    )
    what = f"train {name}" + (f" from update {run.state.update}" if run.resume() else "")
    updates = run.updates()
    if processes.first:
        if tensorboard is not None:
            run.watched(tensorboard)
        updates = progress(updates, what, run.remaining(), "updates", run.status)
    for _ in updates:
        pass
    if not processes.first:
        processes.part()
        return

    save_weights(model_output, run.model.state_dict())
    save_config(config_output, run.model)
    write_curve(curve_output, run.state.curve)
    write_facts(facts_output, run, data.skipped)
    finished.store(*outputs)
    rolling.remove()
    processes.part()


if __name__ == "__main__":
    stage.run(train)
