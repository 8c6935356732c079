"""Compute the probability of given translations under a trained system or an ensemble (forced decoding)."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import PositiveInt

from pipeline_py.files.artifacts import open_atomic_text_file
from pipeline_py.run.command_line import OptionLimits, run_command
from pipeline_py.run.errors import InputError
from pipeline_py.run.job_runner import LoadedParameter
from pipeline_py.run.progress_display import show_progress

if TYPE_CHECKING:
    from pipeline_py.nmt.search.ensemble import EnsembleMember, NetworkEnsemble

BATCH_SIZE = 64

SCORE_COLUMNS = ("log_probability", "pieces")


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


def force_decode(
    *,
    networks: Annotated["NetworkEnsemble", LoadedParameter()],
    model: list[Path],
    config: list[Path],
    source: list[Path],
    syntax: list[dict[str, Path]],
    translation: list[Path],
    target_vocabulary: Path,
    device: str = "auto",
    threads: PositiveInt = 1,
    output: list[Path],
) -> None:
    """Compute log p(translation | source) of given translations; row k of each output belongs to sentence k.

    At each step the decoder reads the preceding words of the given translation. p is the system's probability over the
    whole vocabulary, without length normalization or length model. For several models it is the ensemble's, as in beam
    search: the mean of their probabilities of each piece. A piece outside the vocabulary becomes `<unk>`. Two
    translations with the same identifiers have exactly the same value.

    Args:
        networks: What `load` returns for `model`, `config`, `target_vocabulary`, `device` and `threads`.
        model: Weights from `nmt.train`, of each network.
        config: The configurations from `nmt.train` next to the weights.
        source: Packed source sentences of each network (ragged int32, each row ending with EOS), or one file for all.
        syntax: Files of the syntax that each network reads, by kind.
        translation: Files with the pieces of a translation on each line, separated by spaces.
        target_vocabulary: `token count` on each line: the vocabulary that all models were trained with.
        device: auto, cpu or cuda.
        threads: CPU threads.
        output: TSV with a header; one file for each file of translations, in the same order. Columns:
            `log_probability`, the sum of the natural logarithms of the probabilities of all pieces and EOS; `pieces`,
            their number, EOS included.

    Raises:
        InputError: files are invalid, or do not belong together; a source is empty.
    """
    from pipeline_py.nmt.data.dataset import read_translations
    from pipeline_py.nmt.torch_setup import prepare_torch

    prepare_torch(device, threads)  # again, since other stages in this process may have changed torch after `load`
    members = networks.open_member_datasets(source, syntax)
    sources = members[0].sources
    if (sources.lengths == 1).any():
        raise InputError(
            "the sentence is empty, so that its translation has no probability; leave it out of all files",
            source[0],
            int((sources.lengths == 1).argmax()) + 1,
        )
    files = [read_translations(path, networks.vocabulary, source[0], len(sources)) for path in translation]

    scores = np.empty((len(files), len(sources)))
    computed = show_progress(
        _compute_log_probabilities(members, files), f"force_decode {source[0].name}", total=len(sources)
    )
    for number, file_scores in computed:
        # Equal translations get equal scores, although rounding depends on the rest of a batch.
        translation_scores: dict[bytes, float] = {}
        for file_index, score in enumerate(file_scores):
            key = files[file_index][number].tobytes()
            scores[file_index, number] = translation_scores.setdefault(key, score)
    if not np.isfinite(scores).all():
        models = ", ".join(map(str, model))
        raise InputError("the model predicts something that is not a number; train the system again", models)
    for path, rows, targets in zip(output, scores.tolist(), files, strict=True):
        with open_atomic_text_file(path) as file:
            file.write("\t".join(SCORE_COLUMNS) + "\n")
            file.writelines(f"{score!r}\t{len(target)}\n" for score, target in zip(rows, targets, strict=True))


def _compute_log_probabilities(
    members: Sequence["EnsembleMember"], files: Sequence[Sequence[np.ndarray]]
) -> Iterator[tuple[int, list[float]]]:
    """Yield the index of each sentence and log p of its translation in each file, in the order of the batches."""
    import torch

    from pipeline_py.nmt.data.batch import collate_batch

    device = next(members[0].network.parameters()).device
    for numbers in members[0].sources.iterate_batches(BATCH_SIZE):
        with torch.inference_mode():
            memories = [member.network.encode(member.sources.build_batch(numbers).to(device)) for member in members]
            sums = []
            for targets in files:
                target = collate_batch([targets[number] for number in numbers]).to(device)
                member_log_probabilities = torch.stack(
                    [
                        -member.network.decoder.compute_word_losses(memory, target.source, target.source_words).double()
                        for member, memory in zip(members, memories, strict=True)
                    ]
                )
                # After EOS all values are 0. Clamping removes positive values from rounding.
                log_probabilities = (member_log_probabilities.logsumexp(0) - np.log(len(members))).clamp(max=0)
                sums.append(log_probabilities.sum(dim=1))
            rows = torch.stack(sums, dim=1).tolist()
        yield from zip(numbers.tolist(), rows, strict=True)


def score_translations(
    *,
    model: list[Path],
    config: list[Path],
    source: list[Path],
    syntax: list[str] | None = None,
    translation: list[Path],
    target_vocabulary: Path,
    device: str = "auto",
    threads: Annotated[int, OptionLimits(minimum=1)] = 1,
    output: list[Path],
) -> None:
    """Compute log p(translation | source) of given translations; row k of each output belongs to sentence k.

    Args:
        model: Weights from `nmt.train`; repeatable for an ensemble.
        config: The configuration from `nmt.train`, next to the weights; one for each model, in the same order.
        source: Packed source sentences (ragged int32, each row ending with EOS): one file for all models, or one for
            each in the same order.
        syntax: KIND=FILE for each kind of syntax that the system reads, e.g. distances=test.distances.arrow;
            repeatable. In an ensemble NUMBER:KIND=FILE, with models numbered from 1.
        translation: Pieces of a translation on each line, separated by spaces; repeatable.
        target_vocabulary: `token count` on each line: the vocabulary that all models were trained with.
        device: auto, cpu or cuda.
        threads: CPU threads.
        output: TSV with a header; one file for each file of translations, in the same order. Columns:
            `log_probability`, the sum of the natural logarithms of the probabilities of all pieces and EOS; `pieces`,
            their number, EOS included.

    Raises:
        InputError: options or files are invalid, or do not belong together; a source is empty.
    """
    if len(config) != len(model):
        raise InputError(f"--config: {len(config)} for {len(model)} models; give one for each, in the same order")
    if len(source) not in (1, len(model)):
        raise InputError(
            f"--source: {len(source)} for {len(model)} models; give one for all, or one for each in the same order"
        )
    if len(output) != len(translation):
        raise InputError(f"--output: {len(output)} for {len(translation)} files of translations; give as many")
    files = _parse_syntax_options(syntax or [], len(model))
    networks = load(model=model, config=config, target_vocabulary=target_vocabulary, device=device, threads=threads)
    force_decode(
        networks=networks,
        model=model,
        config=config,
        source=source,
        syntax=files,
        translation=translation,
        target_vocabulary=target_vocabulary,
        device=device,
        threads=threads,
        output=output,
    )


def _parse_syntax_options(options: Sequence[str], model_count: int) -> list[dict[str, Path]]:
    """Parse KIND=FILE, or NUMBER:KIND=FILE for several models, into the files of each model."""
    files: list[dict[str, Path]] = [{} for _ in range(model_count)]
    for option in options:
        match = re.fullmatch(r"(?:(\d+):)?(\w+)=(.+)", option)
        if match is None or (match[1] is None) != (model_count == 1) or not 1 <= int(match[1] or 1) <= model_count:
            form = (
                "KIND=FILE" if model_count == 1 else f"NUMBER:KIND=FILE, with models numbered from 1 to {model_count}"
            )
            raise InputError(f"--syntax {option}: give {form}")
        files[int(match[1] or 1) - 1][match[2]] = Path(match[3])
    return files


if __name__ == "__main__":
    run_command(score_translations)
