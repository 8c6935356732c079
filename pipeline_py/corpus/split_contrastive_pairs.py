"""Turn a contrastive set into a held-out set with two translations, the correct and the contrastive one."""

from contextlib import ExitStack
from pathlib import Path

from pipeline_py.files.artifacts import open_atomic_text_file
from pipeline_py.files.contrastive_pair_files import METADATA_COLUMNS, read_contrastive_pairs
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress


def split_contrastive_pairs(
    *, input: list[Path], source_output: Path, correct_output: Path, contrastive_output: Path, pairs_output: Path
) -> None:
    """Write the pairs of some files as parallel texts: line k of each text belongs to pair k.

    A sentence with several contrastive translations occurs once for each of them, so that later stages treat the set
    like any other.

    Args:
        input: Contrastive pairs, as TSV or as LingEval97's JSON (`pipeline_py.files.contrastive_pair_files`).
        source_output: The source sentences.
        correct_output: Their correct translations.
        contrastive_output: Their contrastive translations.
        pairs_output: TSV with a row for each pair and the columns `kind`, `distance` and `frequency`, any of which may
            be empty.

    Raises:
        InputError: a file is missing, or holds no such pairs.
    """
    outputs = (source_output, correct_output, contrastive_output, pairs_output)
    with ExitStack() as stack:
        *texts, about = [stack.enter_context(open_atomic_text_file(path)) for path in outputs]
        about.write("\t".join(METADATA_COLUMNS) + "\n")
        for path in input:
            if not path.is_file():
                raise InputError("no such file; check the path in the configuration", path)
            for pair in show_progress(read_contrastive_pairs(path), f"contrastive_pairs {path.name}"):
                for file, text in zip(texts, pair[: len(texts)], strict=True):
                    file.write(text + "\n")
                about.write("\t".join(pair[len(texts) :]) + "\n")
