"""Download the texts of an experiment by their mtdata or sacrebleu identifiers."""

import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

from pipeline_py.config.config_files import read_config_file
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.files.artifacts import write_atomically
from pipeline_py.files.text_files import create_binary_file, find_compression_by_name, read_parallel
from pipeline_py.run.command_line import run_command
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress
from pipeline_py.run.workflow_files import find_default_config


def download(*, configfile: list[Path], data: Path | None = None) -> None:
    """Download the texts of an experiment that have the key `download` and whose files do not exist yet.

    Existing files are not changed. mtdata and sacrebleu have separate folders for their downloads.

    Args:
        configfile: Configuration file, like Snakemake's option of the same name; repeatable. Overrides keys of
            config.yaml.
        data: Folder for the files; overrides the configuration key `data`.

    Raises:
        InputError: the configuration is invalid, an identifier is unknown, its languages or number of texts do not
            match the configuration, some files of a text exist and others do not, or the download fails.
    """
    from snakemake.utils import update_config

    config: dict[str, Any] = {}
    own_config: dict[str, Any] = {}
    default_config = find_default_config(Path())
    for path in (default_config, *configfile):
        content = read_config_file(path)
        update_config(config, content)
        update_config(own_config, content if path != default_config else {})
    experiment = load_experiment(
        config, {} if data is None else {"data": str(data)}, should_check_files=False, own_config=own_config
    )
    corpora = experiment.corpora
    if not corpora.downloads:
        raise InputError("no text has the key `download`; add it, or copy the files yourself", configfile[-1])
    for identifier, files in corpora.downloads:
        paths = [Path(experiment.resolve_path(file)) for file in files]
        existing_paths = [path for path in paths if path.exists()]
        if existing_paths == paths:
            print(f"{identifier}: exists already", file=sys.stderr)
        elif not existing_paths:
            _download_text(identifier, (corpora.source.language, corpora.target.language), paths)
        else:
            missing_path = next(path for path in paths if path not in existing_paths)
            raise InputError(
                f"the file exists, but {missing_path} of the same text does not; remove the first or add the second",
                existing_paths[0],
            )


def _download_text(identifier: str, languages: tuple[str, str], output_paths: Sequence[Path]) -> None:
    """Write the source and translations of a text, one sentence per line; on failure, write no file."""
    origin, _, name = identifier.partition(":")
    try:
        rows = ROW_READERS[origin](name, languages)
        first = next(rows, ())  # report an invalid name before showing progress
        with ExitStack() as stack:
            parts = [stack.enter_context(write_atomically(path)) for path in output_paths]
            with ExitStack() as opened:
                files = [
                    opened.enter_context(create_binary_file(part, find_compression_by_name(path)))
                    for part, path in zip(parts, output_paths, strict=True)
                ]
                for row in show_progress(chain([first] if first else [], rows), f"download {identifier}"):
                    if len(row) != len(files):
                        raise InputError(
                            f"{identifier} has {len(row)} texts; name as many files, the source among them"
                        )
                    for file, sentence in zip(files, row, strict=True):
                        file.write(sentence.replace("\r", " ").replace("\n", " ").encode() + b"\n")
    except InputError:
        raise
    except (Exception, SystemExit) as error:  # any failure of a library or the network
        message = "" if isinstance(error, SystemExit) else str(error).partition("\n")[0]
        reason = message or type(error).__name__
        raise InputError(
            f"{identifier} cannot be downloaded ({reason}); try again, or put a copy at {output_paths[0]}"
        ) from None


def _read_mtdata_rows(dataset_name: str, languages: tuple[str, str]) -> Iterator[Sequence[str]]:
    try:
        from mtdata import cache_dir

        logging.getLogger().setLevel(logging.WARNING)  # otherwise it logs all of its 300,000 texts
        from mtdata.data import INDEX, Cache, Parser
        from mtdata.entry import DatasetId
        from mtdata.iso.bcp47 import BCP47Tag, bcp47
    except ImportError:
        raise InputError("mtdata is not installed; pip install -e '.[mtdata]'") from None
    if (identifier := DatasetId.parse(dataset_name)) not in INDEX:
        raise InputError(f"mtdata has no text {dataset_name}; `mtdata list -l {'-'.join(languages)}` lists its texts")
    entry = INDEX[identifier]
    fits, is_swapped = BCP47Tag.check_compat_swap(tuple(map(bcp47, languages)), entry.did.langs)
    if not fits:
        raise InputError(f"mtdata's {dataset_name} is not a text of {' and '.join(languages)}")
    segments = Parser(Cache(cache_dir).get_entry(entry), ext=entry.in_ext or None, ent=entry).read_segs(show_pbar=False)
    for first, second, *_ in segments:
        yield (second, first) if is_swapped else (first, second)


def _read_sacrebleu_rows(dataset_name: str, languages: tuple[str, str]) -> Iterator[Sequence[str]]:
    from sacrebleu.dataset import DATASETS

    pair = "-".join(languages)
    if dataset_name not in DATASETS or pair not in DATASETS[dataset_name].langpairs:
        raise InputError(
            f"sacrebleu has no test set {dataset_name} of {pair}; `sacrebleu --list -l {pair}` lists its test sets"
        )
    test_set = DATASETS[dataset_name]
    return read_parallel(*map(Path, [test_set.get_source_file(pair), *test_set.get_reference_files(pair)]))


ROW_READERS: dict[str, Callable[[str, tuple[str, str]], Iterator[Sequence[str]]]] = {
    "mtdata": _read_mtdata_rows,
    "sacrebleu": _read_sacrebleu_rows,
}
"""Functions that yield the rows of a text, by prefix of its identifier (`config.corpora.IDENTIFIER`)."""


if __name__ == "__main__":
    run_command(download)
