"""Keep the results of an experiment for the pages: `python docs/keep_results.py NAME FOLDER`.

Tables, their facts, answers and comparisons replace those in docs/kept/NAME, from which `docs/regenerate.py` writes the
pages. What they are made from (translations, facts, learning curves, log-probabilities of contrastive pairs, counts of
parses, shares of attention) replaces docs/outputs/NAME.tar.xz. `--only-outputs` leaves the tables out, as for runs that
must not be read yet. Weights are kept with `--network ROW/RUN`, in `float16`.
"""

import argparse
import io
import shutil
import tarfile
import tempfile
from pathlib import Path

from pipeline_py.files.artifacts import write_atomically
from pipeline_py.nmt.saved_model import load_weights, save_weights
from pipeline_py.run.command_line import run_and_exit
from pipeline_py.run.errors import InputError

DOCS = Path(__file__).parent

OUTPUT_PATTERNS = (
    "evaluation/*/*/*.txt",
    "evaluation/source/*.arrow",
    "evaluation/**/attention.tsv",
    "nmt/*/*/facts.json",
    "smt/*/*/facts.json",
    "nmt/*/*/learning_curve.tsv",
    "nmt/*/*/*.correct.tsv",
    "nmt/*/*/*.contrastive.tsv",
    "syntax/*/accuracy/*.tsv",
    "syntax/*/*.binary.json",
)
"""Outputs of the runs, and properties of source sentences and parses, from which tables are made without a training.

Each translation `SET.txt` is kept with the counts of its words, `SET.json`. No pattern matches these alone, since files
of scores, which are made again, are next to them.
"""

NETWORK_PATTERNS = ("nmt/{run}/config.json", "subword/default/codes.*", "subword/default/vocabulary.*")
"""Files needed next to the weights of a network to translate with it."""

FILE_TIME = 1767225600
"""Time of the files in archives: the beginning of 2026."""


def find_tables(results_folder: Path) -> list[Path]:
    """Return the tables of an experiment, without those of other experiments in subfolders.

    Raises:
        InputError: the folder has no table.
    """
    other_experiments = [folder.parent for folder in results_folder.glob("*/corpus")]
    sheets = [
        path for path in results_folder.rglob("*.sheet.json") if not any(map(path.is_relative_to, other_experiments))
    ]
    if not sheets:
        raise InputError("the folder has no tables; make them, or name --only-outputs", results_folder)
    return sheets


def keep_tables(results_folder: Path, target: Path) -> None:
    """Copy the tables of a folder of results with their facts, answers and comparisons, and all answers.

    Raises:
        InputError: the folder has no table; what was kept does not change.
    """
    sheets = find_tables(results_folder)
    shutil.rmtree(target, ignore_errors=True)
    evaluation = results_folder / "evaluation"
    copies = {evaluation / "all" / file: target / file for file in ("claims.tsv", "exclusions.tsv")}
    for sheet in sheets:
        kept_sheet = target / sheet.relative_to(results_folder)
        table = str(kept_sheet.relative_to(target)).removesuffix(".sheet.json")
        copies |= {sheet: kept_sheet, evaluation / table / "claims.tsv": target / f"{table}.claims.tsv"}
        copies[results_folder / f"{table}.facts.tsv"] = target / f"{table}.facts.tsv"
        comparisons = (evaluation / table).glob("*comparisons.tsv")
        copies |= {path: target / f"{table}.{path.name}" for path in comparisons}
    for path, kept_path in copies.items():
        if path.exists():
            kept_path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, kept_path)


def keep_outputs(results_folder: Path, archive_path: Path, network: str | None) -> None:
    """Write the outputs of all runs of a folder of results, and a network (`ROW/RUN`), to an archive.

    Raises:
        InputError: the folder has no outputs, or the archive has a network and none is named; it does not change.
    """
    patterns = [*OUTPUT_PATTERNS]
    contents: dict[str, bytes] = {}
    if network is not None:
        patterns += [pattern.format(run=network) for pattern in NETWORK_PATTERNS]
        weights = f"nmt/{network}/model.safetensors"
        contents[weights] = _round_weights(results_folder / weights)
    paths = [path for pattern in patterns for path in results_folder.glob(pattern)]
    count_paths = [path.with_suffix(".json") for path in results_folder.glob("evaluation/*/*/*.txt")]
    for path in [*paths, *(path for path in count_paths if path.exists())]:
        contents[str(path.relative_to(results_folder))] = path.read_bytes()
    if not contents:
        raise InputError("the folder has no outputs; give the folder of results of an experiment", results_folder)
    if network is None and archive_path.exists():
        with tarfile.open(archive_path) as archive:
            if any(name.endswith("/model.safetensors") for name in archive.getnames()):
                raise InputError("the archive has a network; name it with --network ROW/RUN", archive_path)
    with write_atomically(archive_path) as temporary, tarfile.open(temporary, "w:xz") as archive:
        for name, content in sorted(contents.items()):
            entry = tarfile.TarInfo(f"{archive_path.name.removesuffix('.tar.xz')}/{name}")
            entry.size, entry.mtime = len(content), FILE_TIME
            archive.addfile(entry, io.BytesIO(content))


def _round_weights(path: Path) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        rounded_path = Path(folder) / path.name
        save_weights(rounded_path, {name: weight.half() for name, weight in load_weights(path).items()})
        return rounded_path.read_bytes()


def main() -> None:
    """Keep the results that the command names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="name of the experiment")
    parser.add_argument("folder", type=Path, help="its results")
    parser.add_argument("--only-outputs", action="store_true", help="keep no tables")
    parser.add_argument("--network", metavar="ROW/RUN", help="keep the weights of this run, too")
    options = parser.parse_args()
    if not options.only_outputs:
        find_tables(options.folder)  # before anything is replaced
    keep_outputs(options.folder, DOCS / "outputs" / f"{options.name}.tar.xz", options.network)
    if not options.only_outputs:
        keep_tables(options.folder, DOCS / "kept" / options.name)


if __name__ == "__main__":
    run_and_exit(main)
