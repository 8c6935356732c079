"""Translate packed sentences with a trained system or an ensemble."""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import numpy as np
from pydantic import PositiveInt

from pipeline_py.config.systems.training import DecodingConfig
from pipeline_py.files.artifacts import SentenceCounts, open_atomic_text_file
from pipeline_py.files.text_files import restore_input_order
from pipeline_py.nmt.choose_beam import read_chosen_beam
from pipeline_py.run.errors import InputError
from pipeline_py.run.job_runner import LoadedParameter
from pipeline_py.run.progress_display import show_progress

if TYPE_CHECKING:
    from pipeline_py.nmt.search.ensemble import NetworkEnsemble
    from pipeline_py.nmt.search.hypothesis import Hypothesis
    from pipeline_py.subword.vocabulary import Vocabulary


def load(
    *, model: Sequence[Path], config: Sequence[Path], target_vocabulary: Path, device: str = "auto", threads: int = 1
) -> "NetworkEnsemble":
    """Load the networks.

    Raises:
        InputError: a file is invalid, or files do not belong together.
    """
    from pipeline_py.nmt.search.ensemble import NetworkEnsemble
    from pipeline_py.nmt.torch_setup import prepare_torch

    return NetworkEnsemble.load(model, config, target_vocabulary, prepare_torch(device, threads))


def translate(
    *,
    networks: Annotated["NetworkEnsemble", LoadedParameter()],
    model: list[Path],
    config: list[Path],
    source: list[Path],
    syntax: list[dict[str, Path]],
    target_vocabulary: Path,
    length_model: Path | None = None,
    beam_choice: Path | None = None,
    decoding: DecodingConfig,
    device: str = "auto",
    threads: PositiveInt = 1,
    pieces_output: Path,
    alignment_output: Path,
    n_best_output: Path | None = None,
    attention_output: Path | None = None,
    counts_output: Path,
) -> None:
    """Translate sentences by beam search; line k of each output belongs to sentence k of the source.

    An empty source (EOS alone) becomes an empty line without a search. Several models form an ensemble: their
    probabilities are averaged; source positions, lengths and attention are those of the first model.

    Args:
        networks: What `load` returns for `model`, `config`, `target_vocabulary`, `device` and `threads`.
        model: Weights from `nmt.train`, of each network.
        config: The configurations from `nmt.train` next to the weights.
        source: Packed source sentences of each network (ragged int32, each row ending with EOS), or one file for all.
        syntax: Files of the syntax that each network reads, by kind.
        target_vocabulary: `token count` on each line: the vocabulary that all models were trained with.
        length_model: The counts of `nmt.length_model`, if `decoding.length_model` is true or the name of a text.
        beam_choice: The choice of `nmt.choose_beam`, if `decoding.beam` is a list.
        decoding: How to search.
        device: auto, cpu or cuda.
        threads: CPU threads.
        pieces_output: Pieces of the best translation, separated by spaces.
        alignment_output: For each piece, the source position (from 0) with the highest attention weight of the first
            context; the last position is EOS, and phrases are not counted.
        n_best_output: The `decoding.n_best` best translations of each sentence, best first, in Moses' format: `0 |||
            pieces ||| score`, sentences counted from 0. With `decoding.retry_beam`, a translation that is cut is never
            the first one if another ends.
        attention_output: Weights of the first context for the best translation (ragged float32). A row holds a matrix,
            row by row: a row for each piece and one for the predicted EOS (none if the translation was cut at the
            maximum length); a column for each source position, the last one for EOS, and then for each phrase if the
            system attends to phrases. Empty for an empty source.
        counts_output: JSON counts of sentences, of translations cut at the maximum length, of sentences searched again
            with `decoding.retry_beam` (those cut did not end then either), of empty sources, of sources with a length
            that the length model does not know, and of searches in bfloat16.

    Raises:
        InputError: files are invalid, or do not belong together.
    """
    from pipeline_py.files.ragged_arrays import write_ragged_rows
    from pipeline_py.nmt.length_model import LengthModel
    from pipeline_py.nmt.search.dataset_search import search_dataset
    from pipeline_py.nmt.torch_setup import prepare_torch

    prepare_torch(device, threads)  # again, since other stages in this process may have changed torch after `load`
    members = networks.open_member_datasets(source, syntax)
    lengths = None if length_model is None else LengthModel.load(length_model, decoding.length_floor)

    counts = SentenceCounts()
    beam_size = _get_beam_size(decoding, beam_choice)
    results = search_dataset(members, decoding, beam_size, lengths, counts, attention_output is not None)
    hypothesis_lists = restore_input_order(
        show_progress(results, f"translate {source[0].name}", total=len(members[0].sources))
    )
    with closing(results), ExitStack() as files:
        pieces = files.enter_context(open_atomic_text_file(pieces_output))
        alignment = files.enter_context(open_atomic_text_file(alignment_output))
        n_best = files.enter_context(open_atomic_text_file(n_best_output)) if n_best_output is not None else None
        # Iterating over the rows writes the lines of the text files.
        rows = _write_translations(hypothesis_lists, networks.vocabulary, counts, pieces, alignment, n_best)
        try:
            if attention_output is not None:
                write_ragged_rows(attention_output, rows, "float32")
            else:
                deque(rows, maxlen=0)
        except FloatingPointError as error:
            raise InputError(f"{error}; train the system again", ", ".join(map(str, model))) from None
    counts.write_json_file(counts_output)


def _get_beam_size(decoding: DecodingConfig, beam_choice: Path | None) -> int:
    if isinstance(decoding.beam, int):
        return decoding.beam
    if beam_choice is None:
        raise InputError("decoding.beam lists several widths; give the file of `nmt.choose_beam`, or a single width")
    return read_chosen_beam(beam_choice)


def _write_translations(
    hypothesis_lists: Iterator[list["Hypothesis"]],
    vocabulary: "Vocabulary",
    counts: SentenceCounts,
    pieces: IO[str],
    alignment: IO[str],
    n_best: IO[str] | None,
) -> Iterator[np.ndarray]:
    """Write a line of each file for each sentence and yield its flattened attention (empty if not requested)."""
    for number, hypotheses in enumerate(hypothesis_lists):
        best = hypotheses[0]
        counts.add_kept()
        if not best.tokens:
            counts.add_noted("empty translation")
        pieces.write(" ".join(vocabulary.decode(best.tokens)) + "\n")
        alignment.write(" ".join(map(str, best.alignment[: len(best.tokens)])) + "\n")
        if n_best is not None:
            for hypothesis in hypotheses:
                text = " ".join(vocabulary.decode(hypothesis.tokens))
                n_best.write(f"{number} ||| {text} ||| {hypothesis.score:.6f}\n")
        yield np.zeros(0, dtype=np.float32) if best.attention is None else best.attention.ravel()
