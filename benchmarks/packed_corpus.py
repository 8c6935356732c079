"""The packed corpus on which networks are trained and which they translate."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.random_corpus import LABEL_COUNT, write_random_corpus
from benchmarks.settings import BenchmarkSettings, CorpusName
from pipeline_py.files.artifacts import write_atomically
from pipeline_py.kinds.syntax_kind import load_syntax_kind
from pipeline_py.run.errors import InputError
from pipeline_py.subword.vocabulary import Vocabulary

ROOT = Path(__file__).parent.parent
CONTROL_PARSER = "random"
"""The parser of random control trees in the default configuration."""


@dataclass(frozen=True)
class PackedCorpus:
    """Packed sentences.

    Attributes:
        name: what they are.
        train_files: "source", "target" and kinds of syntax → file of the training pairs.
        test_file: file of the sources that are translated.
        dev_files: "source" and "target" → file of the development set; none where sentences are random.
        target_vocabulary_file: the words of the target side; None where sentences are random.
        vocabulary_sizes: "source", "target" and kinds of syntax that have one → size of the vocabulary.
    """

    name: str
    train_files: Mapping[str, Path]
    test_file: Path
    vocabulary_sizes: Mapping[str, int]
    dev_files: Mapping[str, Path] = field(default_factory=dict)
    target_vocabulary_file: Path | None = None


def prepare_corpus(settings: BenchmarkSettings) -> PackedCorpus:
    """Prepare a corpus, or take what was prepared before.

    Raises:
        InputError: Multi30k is asked for and not there, or the workflow fails.
    """
    corpus = settings.corpus
    has_multi30k = (settings.data / "multi30k" / "train.en.gz").exists()
    if corpus is CorpusName.AUTO:
        corpus = CorpusName.MULTI30K if has_multi30k else CorpusName.EMBEDDED
    if corpus is CorpusName.RANDOM:
        return _prepare_random_corpus(settings)
    if corpus is CorpusName.MULTI30K and not has_multi30k:
        raise InputError("there is no multi30k/train.en.gz; name its directory with --data", settings.data)
    return _prepare_with_workflow(corpus, settings)


def _prepare_random_corpus(settings: BenchmarkSettings) -> PackedCorpus:
    """Draw as many pairs as a pool of batches needs, so that batches have sentences of similar lengths."""
    pairs = settings.batch_size * max(20, settings.batches)
    folder = (settings.work / "data" / f"random.{settings.vocabulary}.{pairs}").absolute()
    kinds = ("distances", "units", "trees", "heads", "labels", "parents")
    files = {name: folder / f"{name}.arrow" for name in ("source", "target", *kinds)}
    if not folder.exists():
        with write_atomically(folder) as temporary:
            temporary.mkdir()
            write_random_corpus(
                {name: temporary / file.name for name, file in files.items()}, pairs, settings.vocabulary
            )
    sizes = {**dict.fromkeys(("source", "target", "units"), settings.vocabulary), "labels": LABEL_COUNT}
    return PackedCorpus(f"random sentences, {settings.vocabulary:,} words", files, files["source"], sizes)


def _prepare_with_workflow(corpus_name: CorpusName, settings: BenchmarkSettings) -> PackedCorpus:
    folder = (settings.work / "data" / corpus_name).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "config.yaml", folder)
    results = Path("results", "subword", "default")
    packed = results / "packed"
    files = {
        "source": packed / "train.source.arrow",
        "target": packed / "train.target.arrow",
        "distances": results / CONTROL_PARSER / "train.distances.arrow",
        "units": packed / CONTROL_PARSER / "train.units.arrow",
        **{kind: packed / CONTROL_PARSER / f"train.{kind}.arrow" for kind in ("trees", "heads", "labels", "parents")},
    }
    test = packed / "test.source.arrow"
    dev = {side: packed / f"dev.{side}.arrow" for side in ("source", "target")}
    vocabularies = {name: results / f"vocabulary.{name}" for name in ("source", "target", "units")}
    vocabularies["labels"] = results / f"vocabulary.labels.{CONTROL_PARSER}"
    _run_snakemake(corpus_name, settings, folder, [*files.values(), test, *dev.values(), *vocabularies.values()])
    sizes = {name: len(Vocabulary.load(folder / file)) for name, file in vocabularies.items()}
    for kind in ("units", "labels"):  # the padding "/", the label of EOS
        identifiers = load_syntax_kind(kind).vocabulary_ids
        assert identifiers is not None
        sizes[kind] += identifiers.extra_id_count
    display_name = {CorpusName.MULTI30K: "Multi30k", CorpusName.EMBEDDED: "embedded corpus"}[corpus_name]
    name = f"{display_name}, BPE, {sizes['source']:,} and {sizes['target']:,} words"
    files, dev = ({kind: folder / file for kind, file in relative_paths.items()} for relative_paths in (files, dev))
    return PackedCorpus(name, files, folder / test, sizes, dev, folder / vocabularies["target"])


def _run_snakemake(corpus_name: CorpusName, settings: BenchmarkSettings, folder: Path, targets: list[Path]) -> None:
    """Make files of an experiment in a folder of its own, apart from the results of others."""
    command: list[str | Path] = [
        Path(sys.executable).with_name("snakemake"),
        *targets,
        *("--snakefile", ROOT / "Snakefile", "--directory", folder, "--cores", str(settings.threads)),
        *("--quiet", "all", "--config", f"data={settings.data.absolute()}"),
        *("--configfile", Path(__file__).with_name(f"{corpus_name}.yaml")),
    ]
    log = folder / "workflow.txt"
    with log.open("w") as file:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        process_result = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, env=environment)
    if process_result.returncode:
        raise InputError("the workflow cannot prepare the text; this file says why", log)
