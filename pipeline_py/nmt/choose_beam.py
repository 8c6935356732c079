"""Choose the beam width of a trained system or an ensemble by BLEU on the development set."""

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from pydantic import PositiveInt

from pipeline_py.config.systems.training import DecodingConfig
from pipeline_py.files.artifacts import SentenceCounts, write_json
from pipeline_py.files.text_files import restore_input_order
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress
from pipeline_py.subword import pieces


def choose_beam(
    *,
    model: list[Path],
    config: list[Path],
    source: list[Path],
    syntax: list[dict[str, Path]],
    references: list[Path],
    target_vocabulary: Path,
    length_model: Path | None = None,
    decoding: DecodingConfig,
    device: str = "auto",
    threads: PositiveInt = 1,
    choice_output: Path,
) -> None:
    """Translate the development set with each width of `decoding.beam`, and choose the one with the highest BLEU.

    The narrowest of equally good widths is chosen. BLEU is case-insensitive and over words, i.e. pieces joined at
    `@@ `, as in validation for `early_stopping: bleu`.

    Args:
        model: Weights from `nmt.train`, of each network.
        config: The configurations from `nmt.train` next to the weights.
        source: Packed source sentences of each network (ragged int32, each row ending with EOS), or one file for all.
        syntax: Files of the syntax that each network reads, by kind.
        references: Pieces of the reference translations, one file for each reference.
        target_vocabulary: `token count` on each line: the vocabulary that all models were trained with.
        length_model: The counts of `nmt.length_model`, if `decoding.length_model` is true or the name of a text.
        decoding: How to search.
        device: auto, cpu or cuda.
        threads: CPU threads.
        choice_output: JSON: `beam`, the width chosen, and in `widths` each width as `beam` with its `bleu` and what
            its search `noted`, counted as in translation.

    Raises:
        InputError: files are invalid, or do not belong together.
    """
    from sacrebleu import corpus_bleu

    from pipeline_py.nmt.length_model import LengthModel
    from pipeline_py.nmt.search.dataset_search import search_dataset
    from pipeline_py.nmt.search.ensemble import NetworkEnsemble
    from pipeline_py.nmt.torch_setup import prepare_torch

    networks = NetworkEnsemble.load(model, config, target_vocabulary, prepare_torch(device, threads))
    members = networks.open_member_datasets(source, syntax)
    sentence_count = len(members[0].sources)
    reference_texts = [_read_reference(path, source[0], sentence_count) for path in references]
    lengths = None if length_model is None else LengthModel.load(length_model, decoding.length_floor)
    scores: dict[int, float] = {}
    notes: dict[int, dict[str, int]] = {}
    for beam_size in decoding.beam_widths:
        counts = SentenceCounts()
        with closing(search_dataset(members, decoding, beam_size, lengths, counts)) as results:
            progress = show_progress(results, f"translate with beam {beam_size}", total=sentence_count)
            try:
                translations = [
                    _join_words(networks.vocabulary.decode(best.tokens)) for best, *_ in restore_input_order(progress)
                ]
            except FloatingPointError as error:
                raise InputError(f"{error}; train the system again", ", ".join(map(str, model))) from None
        bleu = corpus_bleu(translations, reference_texts, tokenize="none", lowercase=True, force=True)
        scores[beam_size], notes[beam_size] = float(bleu.score), dict(sorted(counts.noted_by_reason.items()))
    widths = [{"beam": width, "bleu": scores[width], "noted": notes[width]} for width in scores]
    write_json(choice_output, {"beam": max(scores, key=scores.__getitem__), "widths": widths})


def read_chosen_beam(path: Path) -> int:
    """Return the beam width that `choose_beam` chose."""
    return int(json.loads(path.read_text(encoding="utf-8"))["beam"])


def _join_words(sentence: list[str]) -> str:
    return " ".join(pieces.join_pieces(sentence))


def _read_reference(path: Path, source: Path, sentence_count: int) -> Sequence[str]:
    sentences = [*map(_join_words, pieces.read_tokens(path))]
    if len(sentences) != sentence_count:
        raise InputError(
            f"the file has {len(sentences)} lines and {source} has {sentence_count} sentences; "
            "give the references of that source",
            path,
        )
    return sentences
