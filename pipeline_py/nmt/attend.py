"""Compute the attention of a trained system while it produces given translations."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from pipeline_py import stage
from pipeline_py.input_error import InputError
from pipeline_py.options import Option
from pipeline_py.order import in_order
from pipeline_py.progress import progress

if TYPE_CHECKING:
    from pipeline_py.nmt.search.ensemble import Member

BATCH_SIZE = 64

NOTHING: np.ndarray = np.zeros(0, dtype=np.float32)


def attend(
    *,
    model: Annotated[Path, Option()],
    config: Annotated[Path, Option()],
    source: Annotated[Path, Option()],
    syntax: Annotated[list[str] | None, Option()] = None,
    translation: Annotated[Path, Option()],
    target_vocabulary: Annotated[Path, Option()],
    sentences: Annotated[list[int] | None, Option()] = None,
    device: Annotated[str, Option()] = "auto",
    threads: Annotated[int, Option()] = 1,
    attention_output: Annotated[Path, Option()],
    gates_output: Annotated[Path, Option()],
) -> None:
    """Write the attention of each step of given translations under forced decoding; row k belongs to sentence k.

    At each step the decoder reads the preceding words of the given translation. The step after the last piece predicts
    EOS, also if the translation was cut at the maximum length.

    Args:
        model: Weights from `nmt.train`.
        config: The configuration from `nmt.train`, beside the weights.
        source: Packed source sentences (ragged int32, each row ending with EOS).
        syntax: KIND=FILE for each kind of syntax that the system reads, e.g. trees=test.trees.arrow; repeatable.
        translation: Pieces of a translation on each line, from `nmt.translate`.
        target_vocabulary: `token count` on each line: the vocabulary that the model was trained with.
        sentences: Number of a sentence, from 1, to compute attention for; repeatable. All others get empty rows. By
            default all sentences.
        device: auto, cpu or cuda.
        threads: CPU threads.
        attention_output: Weights of the first context (ragged float32). A row holds a matrix, row by row: a row for
            each piece and one for EOS; a column for each source position, the last one for EOS, and then for each
            phrase. Empty for an empty source.
        gates_output: Β, the weight of phrases, for each piece and EOS (ragged float32). Empty for an empty source, and
            if the system has no such weight.

    Raises:
        InputError: options or files are invalid, or do not belong together.
    """
    if threads < 1:
        raise InputError("--threads must be at least 1")

    from pipeline_py.nmt.data.translations import read_translations
    from pipeline_py.nmt.device import prepare
    from pipeline_py.nmt.search.ensemble import open_members
    from pipeline_py.ragged import write_rows
    from pipeline_py.subword.vocabulary import Vocabulary

    vocabulary = Vocabulary.load(target_vocabulary)
    predicted = target_vocabulary, len(vocabulary)
    (member,) = open_members([model], [config], [source], syntax or [], predicted, prepare(device, threads))
    targets = read_translations(translation, vocabulary, source, len(member.sources))
    wanted = _wanted(sentences, source, len(member.sources))

    attended = in_order(_attention(member, targets, wanted))
    gates: list[np.ndarray] = []

    def rows() -> Iterator[np.ndarray]:
        for weights, phrase_weights in progress(attended, f"attend {translation.name}", total=len(targets)):
            gates.append(phrase_weights)
            yield weights

    try:
        write_rows(attention_output, rows(), "float32")
    except FloatingPointError as error:
        raise InputError(f"{error}; train the system again", model) from None
    write_rows(gates_output, gates, "float32")


def _wanted(numbers: Sequence[int] | None, source: Path, sentences: int) -> np.ndarray:
    """Say for each sentence whether it is asked for (N,)."""
    for number in numbers or []:
        if not 1 <= number <= sentences:
            raise InputError(f"--sentences {number}: {source} has {sentences} sentences, counted from 1")
    wanted = np.full(sentences, not numbers)
    wanted[[number - 1 for number in numbers or []]] = True
    return wanted


def _attention(
    member: "Member", targets: Sequence[np.ndarray], wanted: np.ndarray
) -> Iterator[tuple[int, tuple[np.ndarray, np.ndarray]]]:
    """Yield the number of each sentence, its attention, flattened, and its gates, in the order of the batches."""
    import torch

    from pipeline_py.nmt.data.batch import collate

    network, sources = member.network, member.sources
    device = next(network.parameters()).device
    for numbers in sources.batches(BATCH_SIZE):
        attending = wanted[numbers] & (sources.lengths[numbers] > 1)
        for number in numbers[~attending].tolist():
            yield number, (NOTHING, NOTHING)
        numbers = numbers[attending]
        if not len(numbers):
            continue
        target = collate([targets[number] for number in numbers]).to(device)
        with torch.inference_mode():
            memory = network.encode(sources.batch(numbers).to(device))
            attention = network.decoder.attend(memory, target.source, target.source_lengths)
        weights, mask = attention.weights.float().cpu().numpy(), memory.mask.cpu().numpy()
        gates = None if attention.phrase_weights is None else attention.phrase_weights.float().cpu().numpy()
        for place, number in enumerate(numbers.tolist()):
            steps = len(targets[number])
            rows = weights[:steps, place, mask[place]]
            if not np.isfinite(rows).all():
                raise FloatingPointError("the model attends with a weight that is not a number")
            yield number, (rows.ravel(), NOTHING if gates is None else gates[:steps, place])


if __name__ == "__main__":
    stage.run(attend)
