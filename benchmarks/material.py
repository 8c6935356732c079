"""What networks are trained on and translate, as the pipeline packs it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.random_text import LABELS, write_random
from benchmarks.setting import Corpus, Setting
from pipeline_py.files.artifacts import whole
from pipeline_py.kinds.kind import kind_of
from pipeline_py.run.errors import InputError
from pipeline_py.subword.vocabulary import Vocabulary

ROOT = Path(__file__).parent.parent
PARSER = "random"
"""Of the default configuration: a control, which draws trees."""


@dataclass(frozen=True)
class Material:
    """Packed sentences.

    Attributes:
        name: what they are.
        packed: "source", "target" and kinds of syntax → file of the training pairs.
        test: file of the sources that are translated.
        dev: "source" and "target" → file of the development set; none where sentences are random.
        target_vocabulary: the words of the target side; None where sentences are random.
        sizes: "source", "target" and kinds of syntax that have one → size of the vocabulary.
    """

    name: str
    packed: Mapping[str, Path]
    test: Path
    sizes: Mapping[str, int]
    dev: Mapping[str, Path] = field(default_factory=dict)
    target_vocabulary: Path | None = None


def prepared(setting: Setting) -> Material:
    """Prepare a corpus, or take what was prepared before.

    Raises:
        InputError: Multi30k is asked for and not there, or the workflow fails.
    """
    corpus = setting.corpus
    has_multi30k = (setting.data / "multi30k" / "train.en.gz").exists()
    if corpus is Corpus.AUTO:
        corpus = Corpus.MULTI30K if has_multi30k else Corpus.EMBEDDED
    if corpus is Corpus.RANDOM:
        return _random(setting)
    if corpus is Corpus.MULTI30K and not has_multi30k:
        raise InputError("there is no multi30k/train.en.gz; name its directory with --data", setting.data)
    return _by_workflow(corpus, setting)


def _random(setting: Setting) -> Material:
    """Draw as many pairs as a pool of batches needs, so that batches have sentences of similar lengths."""
    pairs = setting.batch_size * max(20, setting.batches)
    folder = (setting.work / "data" / f"random.{setting.vocabulary}.{pairs}").absolute()
    kinds = ("distances", "units", "trees", "heads", "labels", "parents")
    files = {name: folder / f"{name}.arrow" for name in ("source", "target", *kinds)}
    if not folder.exists():
        with whole(folder) as temporary:
            temporary.mkdir()
            write_random({name: temporary / file.name for name, file in files.items()}, pairs, setting.vocabulary)
    sizes = {**dict.fromkeys(("source", "target", "units"), setting.vocabulary), "labels": LABELS}
    return Material(f"random sentences, {setting.vocabulary:,} words", files, files["source"], sizes)


def _by_workflow(corpus: Corpus, setting: Setting) -> Material:
    folder = (setting.work / "data" / corpus).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "config.yaml", folder)
    results = Path("results", "subword", "default")
    packed = results / "packed"
    files = {
        "source": packed / "train.source.arrow",
        "target": packed / "train.target.arrow",
        "distances": results / PARSER / "train.distances.arrow",
        "units": packed / PARSER / "train.units.arrow",
        **{kind: packed / PARSER / f"train.{kind}.arrow" for kind in ("trees", "heads", "labels", "parents")},
    }
    test = packed / "test.source.arrow"
    dev = {side: packed / f"dev.{side}.arrow" for side in ("source", "target")}
    vocabularies = {name: results / f"vocabulary.{name}" for name in ("source", "target", "units")}
    vocabularies["labels"] = results / f"vocabulary.labels.{PARSER}"
    _snakemake(corpus, setting, folder, [*files.values(), test, *dev.values(), *vocabularies.values()])
    sizes = {name: len(Vocabulary.load(folder / file)) for name, file in vocabularies.items()}
    for kind in ("units", "labels"):  # the padding "/", the label of EOS
        identifiers = kind_of(kind).identifiers
        assert identifiers is not None
        sizes[kind] += identifiers.further
    called = {Corpus.MULTI30K: "Multi30k", Corpus.EMBEDDED: "embedded corpus"}[corpus]
    name = f"{called}, BPE, {sizes['source']:,} and {sizes['target']:,} words"
    files, dev = ({kind: folder / file for kind, file in each.items()} for each in (files, dev))
    return Material(name, files, folder / test, sizes, dev, folder / vocabularies["target"])


def _snakemake(corpus: Corpus, setting: Setting, folder: Path, targets: list[Path]) -> None:
    """Make files of an experiment in a folder of its own, apart from the results of others."""
    command: list[str | Path] = [
        Path(sys.executable).with_name("snakemake"),
        *targets,
        *("--snakefile", ROOT / "Snakefile", "--directory", folder, "--cores", str(setting.threads)),
        *("--quiet", "all", "--config", f"data={setting.data.absolute()}"),
        *("--configfile", Path(__file__).with_name(f"{corpus}.yaml")),
    ]
    log = folder / "workflow.txt"
    with log.open("w") as file:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, env=environment)
    if done.returncode:
        raise InputError("the workflow cannot prepare the text; this file says why", log)
