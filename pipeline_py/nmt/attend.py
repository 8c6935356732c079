"""Compute the attention of a trained system while it produces given translations."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import PositiveInt

from pipeline_py.files.text_files import restore_input_order
from pipeline_py.run.errors import InputError
from pipeline_py.run.job_runner import LoadedParameter
from pipeline_py.run.progress_display import show_progress

if TYPE_CHECKING:
    from pipeline_py.nmt.search.ensemble import EnsembleMember, NetworkEnsemble

BATCH_SIZE = 64

EMPTY_ROW: np.ndarray = np.zeros(0, dtype=np.float32)


def load(
    *, model: Path, config: Path, target_vocabulary: Path, device: str = "auto", threads: int = 1
) -> "NetworkEnsemble":
    """Load the network.

    Raises:
        InputError: a file is invalid, or files do not belong together.
    """
    from pipeline_py.nmt.search.ensemble import NetworkEnsemble
    from pipeline_py.nmt.torch_setup import prepare_torch

    return NetworkEnsemble.load([model], [config], target_vocabulary, prepare_torch(device, threads))


def attend(
    *,
    networks: Annotated["NetworkEnsemble", LoadedParameter()],
    model: Path,
    config: Path,
    source: Path,
    syntax: dict[str, Path],
    translation: Path,
    target_vocabulary: Path,
    sentences: list[int] | None = None,
    device: str = "auto",
    threads: PositiveInt = 1,
    attention_output: Path,
    gates_output: Path,
) -> None:
    """Write the attention of each step of given translations under forced decoding; row k belongs to sentence k.

    At each step the decoder reads the preceding words of the given translation. The step after the last piece predicts
    EOS, also if the translation was cut at the maximum length.

    Args:
        networks: What `load` returns for `model`, `config`, `target_vocabulary`, `device` and `threads`.
        model: Weights from `nmt.train`.
        config: The configuration from `nmt.train` next to the weights.
        source: Packed source sentences (ragged int32, each row ending with EOS).
        syntax: Files of the syntax that the system reads, by kind.
        translation: Pieces of a translation on each line, from `nmt.translate`.
        target_vocabulary: `token count` on each line: the vocabulary that the model was trained with.
        sentences: Numbers of the sentences to compute attention for, from 1. All others get empty rows. By default all
            sentences.
        device: auto, cpu or cuda.
        threads: CPU threads.
        attention_output: Weights of the first context (ragged float32). A row holds a matrix, row by row: a row for
            each piece and one for EOS; a column for each source position, the last one for EOS, and then for each
            phrase. Empty for an empty source.
        gates_output: The weight β of phrases for each piece and EOS (ragged float32). Empty for an empty source, and
            if the system has no such weight.

    Raises:
        InputError: files are invalid, or do not belong together, or a sentence number is out of range.
    """
    from pipeline_py.files.ragged_arrays import write_ragged_rows
    from pipeline_py.nmt.data.dataset import read_translations
    from pipeline_py.nmt.torch_setup import prepare_torch

    prepare_torch(device, threads)  # again, since other stages in this process may have changed torch after `load`
    (member,) = networks.open_member_datasets([source], [syntax])
    targets = read_translations(translation, networks.vocabulary, source, len(member.sources))
    selected = _select_sentences(sentences, source, len(member.sources))
    results = restore_input_order(_compute_attention(member, targets, selected))
    gates: list[np.ndarray] = []

    def iterate_rows() -> Iterator[np.ndarray]:
        for weights, phrase_weights in show_progress(results, f"attend {translation.name}", total=len(targets)):
            gates.append(phrase_weights)
            yield weights

    try:
        write_ragged_rows(attention_output, iterate_rows(), "float32")
    except FloatingPointError as error:
        raise InputError(f"{error}; train the system again", model) from None
    write_ragged_rows(gates_output, gates, "float32")


def _select_sentences(numbers: Sequence[int] | None, source: Path, sentence_count: int) -> np.ndarray:
    """Return a mask (N,) of the requested sentences; without numbers, all sentences are requested."""
    for number in numbers or []:
        if not 1 <= number <= sentence_count:
            raise InputError(f"sentence {number}: {source} has {sentence_count} sentences, counted from 1")
    selected = np.full(sentence_count, not numbers)
    selected[[number - 1 for number in numbers or []]] = True
    return selected


def _compute_attention(
    member: "EnsembleMember", targets: Sequence[np.ndarray], selected: np.ndarray
) -> Iterator[tuple[int, tuple[np.ndarray, np.ndarray]]]:
    """Yield the index of each sentence, its flattened attention and its gates, in the order of the batches."""
    import torch

    from pipeline_py.nmt.data.batch import collate_batch

    network, sources = member.network, member.sources
    device = next(network.parameters()).device
    for numbers in sources.iterate_batches(BATCH_SIZE):
        has_attention = selected[numbers] & (sources.lengths[numbers] > 1)
        for number in numbers[~has_attention].tolist():
            yield number, (EMPTY_ROW, EMPTY_ROW)
        numbers = numbers[has_attention]
        if not len(numbers):
            continue
        target = collate_batch([targets[number] for number in numbers]).to(device)
        with torch.inference_mode():
            memory = network.encode(sources.build_batch(numbers).to(device))
            attention = network.decoder.compute_attention(memory, target.source, target.source_lengths)
        weights, mask = attention.weights.float().cpu().numpy(), memory.mask.cpu().numpy()
        gates = None if attention.phrase_weights is None else attention.phrase_weights.float().cpu().numpy()
        for column, number in enumerate(numbers.tolist()):
            steps = len(targets[number])
            rows = weights[:steps, column, mask[column]]
            if not np.isfinite(rows).all():
                raise FloatingPointError("an attention weight of the model is not a number")
            yield number, (rows.ravel(), EMPTY_ROW if gates is None else gates[:steps, column])
