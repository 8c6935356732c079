"""Conversion of a contrastive set to a held-out set with a correct and a contrastive translation."""

from contextlib import ExitStack
from pathlib import Path

from pipeline_py.files.artifacts import open_atomic_text_file
from pipeline_py.files.contrastive_pair_files import METADATA_COLUMNS, SENTENCE_COLUMN, read_contrastive_pairs
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress


def split_contrastive_pairs(
    *, input: list[Path], source_output: Path, correct_output: Path, contrastive_output: Path, pairs_output: Path
) -> None:
    """Write contrastive pairs as parallel texts, in which line k belongs to pair k.

    A sentence with several contrastive translations occurs once for each of them.

    Args:
        input: Contrastive pairs, as TSV or as LingEval97's JSON (`pipeline_py.files.contrastive_pair_files`).
        source_output: Source sentences.
        correct_output: Correct translations.
        contrastive_output: Contrastive translations.
        pairs_output: TSV with a row for each pair and the columns `sentence`, the number of its source sentence, which
            pairs with the same sentence share, and `kind`, `distance` and `frequency`, whose cells can be empty.

    Raises:
        InputError: a file is missing, or has no contrastive pairs.
    """
    outputs = (source_output, correct_output, contrastive_output, pairs_output)
    with ExitStack() as stack:
        *texts, metadata = [stack.enter_context(open_atomic_text_file(path)) for path in outputs]
        metadata.write("\t".join((SENTENCE_COLUMN, *METADATA_COLUMNS)) + "\n")
        sentence_numbers: dict[str, int] = {}
        for path in input:
            if not path.is_file():
                raise InputError("no such file; check the path in the configuration", path)
            for pair in show_progress(read_contrastive_pairs(path), f"split_contrastive_pairs {path.name}"):
                for file, text in zip(texts, pair[: len(texts)], strict=True):
                    file.write(text + "\n")
                number = sentence_numbers.setdefault(pair.source, len(sentence_numbers) + 1)
                metadata.write("\t".join((str(number), *pair[len(texts) :])) + "\n")
