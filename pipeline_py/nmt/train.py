"""Train a neural system."""

import sys
from pathlib import Path

from pydantic import NonNegativeInt, PositiveInt

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.config.systems.training import TrainingConfig
from pipeline_py.nmt.data.packed_files import count_syntax_identifiers
from pipeline_py.nmt.training.launch import is_torchrun_worker, launch_processes
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress

SIDES = ("source", "target")


def train(
    *,
    name: str = "system",
    system: CompositionConfig,
    training: TrainingConfig,
    like: CompositionConfig | None = None,
    initial: Path | None = None,
    seed: NonNegativeInt = 1,
    train_source: Path,
    train_target: Path,
    dev_source: Path,
    dev_target: Path,
    source_vocabulary: Path,
    target_vocabulary: Path,
    train_syntax: dict[str, Path],
    dev_syntax: dict[str, Path],
    syntax_vocabularies: dict[str, Path],
    threads: PositiveInt = 1,
    checkpoints: Path,
    tensorboard: Path | None = None,
    model_output: Path,
    config_output: Path,
    curve_output: Path,
    facts_output: Path,
) -> None:
    """Train a neural system and keep the weights that are best on the development set.

    After a kill, training continues from the last checkpoint and ends with the same weights, bit by bit, as without the
    kill (on the same machine with the same number of threads). A checkpoint of another device, precision or number of
    threads is renamed and not used.

    If several processes are to train, this one starts them like torchrun. Each process gets a share of every batch;
    without dropout, the weights are the same as with one process, up to rounding.

    Args:
        name: Name of the system, for messages.
        system: The composition of the system.
        training: How to train; `seeds` and `threads` are ignored.
        like: Another system, whose number of parameters this one matches: embedding and hidden size become one number,
            the smallest with which this system has at least as many parameters. Both have the vocabularies given here.
        initial: Weights in safetensors to start from. The system must have all of them, but may have more.
        seed: Seed of the initial weights, the order of batches, and dropout.
        train_source: Packed source sentences (ragged int32).
        train_target: Packed target sentences.
        dev_source: Packed source sentences of the development set, which selects the weights.
        dev_target: Packed target sentences of the development set.
        source_vocabulary: `token count` on each line.
        target_vocabulary: `token count` on each line.
        train_syntax: Files of each kind of syntax that the system reads or learns to predict.
        dev_syntax: The same for the development set.
        syntax_vocabularies: Vocabulary of each kind of syntax that has one and that this system, or the one in `like`,
            reads or learns to predict.
        threads: CPU threads of all processes together.
        checkpoints: Folder for the latest checkpoint of a training with these inputs and settings; it must survive a
            kill. It can be removed when the outputs are complete.
        tensorboard: Folder for the learning curve in TensorBoard's format; no other run may use it.
        model_output: Weights in safetensors.
        config_output: What is needed to build the network, as JSON: `system` and `vocabularies`.
        curve_output: The learning curve as TSV, a row for each validation.
        facts_output: Size, speed, scores and versions as JSON.

    Raises:
        InputError: files are invalid, or do not belong together; the training diverged.
    """
    arguments = dict(locals())
    is_worker = is_torchrun_worker(training.processes)
    if training.processes > 1 and not is_worker:
        launch_processes(training.processes, "nmt.train", arguments)
        return

    import torch

    from pipeline_py.nmt.data.dataset import ParallelDataset
    from pipeline_py.nmt.model import TranslationModel
    from pipeline_py.nmt.precision import resolve_precision
    from pipeline_py.nmt.saved_model import load_initial_weights, save_config, save_weights
    from pipeline_py.nmt.torch_setup import prepare_torch
    from pipeline_py.nmt.training.capacity import match_parameter_count
    from pipeline_py.nmt.training.checkpoint import CheckpointStore
    from pipeline_py.nmt.training.process_group import SINGLE_PROCESS, ProcessGroup
    from pipeline_py.nmt.training.training_outputs import write_learning_curve, write_training_metadata
    from pipeline_py.nmt.training.training_run import TrainingRun
    from pipeline_py.nmt.training.update import disable_unsupported_graphs
    from pipeline_py.nmt.training.validation import Validator
    from pipeline_py.subword.vocabulary import Vocabulary

    training = training.model_copy(update={"threads": max(1, threads // training.processes)})
    device = prepare_torch(training.device, training.threads)
    processes = ProcessGroup.from_torchrun(device) if is_worker else SINGLE_PROCESS
    vocabulary = Vocabulary.load(target_vocabulary)
    source_tokens = Vocabulary.load(source_vocabulary)
    if system.model.tied_embeddings == "all" and source_tokens.tokens != vocabulary.tokens:
        raise InputError(f"the system ties both sides' embeddings, but {target_vocabulary} differs", source_vocabulary)
    vocabularies = {
        "source": len(source_tokens),
        "target": len(vocabulary),
        **count_syntax_identifiers(syntax_vocabularies),
    }
    if like is not None:
        system = match_parameter_count(system, like, vocabularies)
        print(f"{name}: embedding and hidden size are {system.model.hidden}", file=sys.stderr)
    required_names = {*SIDES, *system.vocabulary_syntax_names}
    vocabularies = {kind: size for kind, size in vocabularies.items() if kind in required_names}
    training = disable_unsupported_graphs(
        processes.broadcast_from_first(lambda: resolve_precision(training, system.model.hidden, device))
    )
    data = ParallelDataset(train_source, train_target, train_syntax, vocabularies, training.max_length)
    dev = ParallelDataset(dev_source, dev_target, dev_syntax, vocabularies)

    torch.manual_seed(seed)
    model = TranslationModel(system, vocabularies)
    model.set_word_frequencies(torch.from_numpy(data.count_target_frequencies(len(vocabulary))))
    if initial is not None:
        load_initial_weights(model, initial)
    run = TrainingRun(
        system_name=name,
        model=model,
        training=training,
        train_dataset=data,
        validator=Validator(
            dev,
            dev.build_sorted_batches(training.batch_size, training.batch_unit),
            device,
            is_bfloat16=training.precision == "bfloat16",
            has_graphs=training.graphs,
        ),
        target_vocabulary=vocabulary,
        checkpoint_store=CheckpointStore(checkpoints, _describe_rounding(device.type, training)),
        device=device,
        seed=seed,
        process_group=processes,
    )
    title = f"train {name}" + (f" from update {run.state.update}" if run.resume() else "")
    updates = run.run_updates()
    if processes.is_first:
        if tensorboard is not None:
            run.start_tensorboard(tensorboard)
        updates = show_progress(updates, title, run.estimate_remaining_updates(), "updates", run.format_status)
    for _ in updates:
        pass
    if not processes.is_first:
        processes.leave_group()
        return

    save_weights(model_output, run.model.state_dict())
    save_config(config_output, run.model)
    write_learning_curve(curve_output, run.state.learning_curve)
    write_training_metadata(facts_output, run, data.skipped_count)
    processes.leave_group()


def _describe_rounding(device: str, training: TrainingConfig) -> str:
    """Describe the settings that affect rounding in a training on this machine."""
    return f"{device}, {training.precision}, graphs {training.graphs}, {training.threads} threads"
