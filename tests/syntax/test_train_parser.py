"""Tests of training a parser, parsing with it and measuring its accuracy."""

import gzip
import json
import os
import random
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from pipeline_py.run.errors import InputError
from pipeline_py.run.job_runner import run_job
from pipeline_py.syntax.measure_accuracy import measure_accuracy
from pipeline_py.syntax.parse import parse
from pipeline_py.syntax.train_parser import StanzaProcessor, train_parser
from pipeline_py.syntax.treebank_text import treebank_text
from pipeline_py.syntax.trees.tree_formats import TreeKind, TreeMetadata
from tests.job_process import build_cached_job, find_imported_modules

ROOT = Path(__file__).parents[2]
TREEBANKS = (ROOT / "../shared/data/treebanks").resolve()


def write_treebanks(folder: Path, name: str, sentences: int, seed: int) -> None:
    """Write short sentences in both formats, some with a second root or a multi-word token."""
    rng = random.Random(seed)
    conllu, ptb = [], []
    for _ in range(sentences):
        det, noun, verb = rng.choice(["the", "a"]), rng.choice(["dog", "cat", "man"]), rng.choice(["sees", "takes"])
        rows = [(det, "DET", 2, "det"), (noun, "NOUN", 3, "nsubj"), (verb, "VERB", 0, "root")]
        if rng.random() < 0.5:
            rows += [("the", "DET", 5, "det"), ("ball", "NOUN", 3, "obj")]
            phrase = f"(VP (VBZ {verb}) (NP (DT the) (NN ball)))"
        else:
            rows += [("often", "ADV", 3, "advmod")]
            phrase = f"(VP (VBZ {verb}) (ADVP (RB often)))"
        rows += [("(", "PUNCT", 3, "punct")]
        if rng.random() < 0.1:
            rows += [("yes", "INTJ", 0, "root")]
        lines = ["1-2\tx\t_\t_\t_\t_\t_\t_\t_\t_"] if rng.random() < 0.1 else []
        lines += [f"{n}\t{w}\t{w}\t{u}\t{u}\t_\t{h}\t{d}\t_\t_" for n, (w, u, h, d) in enumerate(rows, 1)]
        conllu.append("\n".join(lines) + "\n\n")
        ptb.append(f"(ROOT (S (NP-SBJ (DT {det}) (NN {noun})) {phrase} (-LRB- -LRB-)))\n")
    (folder / f"{name}.conllu").write_text("".join(conllu), encoding="utf-8")
    (folder / f"{name}.ptb").write_text("".join(ptb), encoding="utf-8")


def values(path: Path) -> dict[str, float]:
    return {line.split("\t")[0]: float(line.split("\t")[1]) for line in path.read_text().splitlines()[1:]}


def train_parser_of(folder: Path, processor: str, **options: Any) -> None:
    """Train a processor on the treebanks `train` and `dev` of a folder."""
    suffix = "ptb" if processor == "constituency" else "conllu"
    if processor == "constituency":
        options = {"tagger": folder / "tagger.pt", "pretrain_output": folder / "pretrain.pt", **options}
    train_parser(
        processor=StanzaProcessor(processor),
        treebank_train=folder / f"train.{suffix}",
        treebank_dev=folder / f"dev.{suffix}",
        output=folder / f"{processor}.pt",
        counts_output=folder / f"{processor}.json",
        **options,
    )


def measure_parser(folder: Path, annotation: TreeKind, **options: Any) -> Path:
    """Parse the treebank `dev` with the models of a folder, measure that, and return the model of the parser."""
    suffix, parser = ("conllu", "depparse") if annotation is TreeKind.DEPENDENCY else ("ptb", "constituency")
    gold, text, parsed = folder / f"dev.{suffix}", folder / "dev.txt", folder / f"parsed.{suffix}"
    treebank_text(annotation=annotation, treebank=gold, output=text)
    parse(
        annotation=annotation,
        tokens=text,
        output=parsed,
        counts_output=folder / "parsed.json",
        facts_output=folder / "facts.json",
        tagger=folder / "tagger.pt",
        **{parser: folder / f"{parser}.pt"},
        **options,
    )
    measure_accuracy(annotation=annotation, gold=gold, predicted=parsed, output=folder / f"{suffix}.tsv")
    return folder / f"{parser}.pt"


@pytest.mark.slow
def test_trained_parsers_are_accurate_on_simple_sentences(tmp_path: Path) -> None:
    for name, sentences, seed in (("train", 80, 1), ("dev", 20, 2)):
        write_treebanks(tmp_path, name, sentences, seed)
    for processor, epochs in (("tagger", 8), ("depparse", 40), ("constituency", 5)):
        train_parser_of(tmp_path, processor, hidden=32, epochs=epochs)
    for annotation in TreeKind:
        pretrain = tmp_path / "pretrain.pt" if annotation is TreeKind.CONSTITUENCY else None
        measure_parser(tmp_path, annotation, pretrain=pretrain)
    dependency, phrases = values(tmp_path / "conllu.tsv"), values(tmp_path / "ptb.tsv")
    assert dependency["LAS"] > 80
    assert dependency["UPOS"] > 90
    assert phrases["bracket F1"] > 80
    assert dependency["failed parses"] == phrases["failed parses"] == 0


@pytest.mark.slow
def test_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    write_treebanks(tmp_path, "t", 60, 1)  # enough for rare words, a set

    def train(processor: str, suffix: str, hash_seed: str) -> bytes:
        """Train in a new process, so that memory addresses and orders of sets differ."""
        output = tmp_path / f"{processor}{hash_seed}.pt"
        arguments = {
            "processor": processor,
            "treebank_train": tmp_path / f"t.{suffix}",
            "treebank_dev": tmp_path / f"t.{suffix}",
            "output": output,
            "counts_output": tmp_path / "l",
            "epochs": 1,
            "hidden": 16,
        }
        if processor == "constituency":
            arguments |= {"tagger": tmp_path / "tagger1.pt", "pretrain_output": tmp_path / "pretrain.pt"}
        job = json.dumps(build_cached_job("syntax.train_parser", tmp_path, arguments), default=str)
        command = [sys.executable, "-m", "pipeline_py.run", job]
        subprocess.run(command, check=True, env=os.environ | {"PYTHONHASHSEED": hash_seed}, capture_output=True)
        return output.read_bytes()

    for processor, suffix in (("tagger", "conllu"), ("depparse", "conllu"), ("constituency", "ptb")):
        first = train(processor, suffix, "1")
        assert first == train(processor, suffix, "2"), processor
        assert str(tmp_path).encode() not in first


def test_cycle_is_rejected_before_training(tmp_path: Path) -> None:
    write_treebanks(tmp_path, "train", 2, 1)
    (tmp_path / "dev.conllu").write_text("1\ta\t_\tX\t_\t_\t2\tdep\t_\t_\n2\tb\t_\tX\t_\t_\t1\tdep\t_\t_\n")
    with pytest.raises(InputError, match=r"dev\.conllu, line 1: the heads of word 1 run in a cycle"):
        train_parser(
            processor=StanzaProcessor.DEPPARSE,
            treebank_train=tmp_path / "train.conllu",
            treebank_dev=tmp_path / "dev.conllu",
            output=tmp_path / "o",
            counts_output=tmp_path / "l",
        )
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"processor": StanzaProcessor.CONSTITUENCY, "tagger": Path("t")}, "write them to `pretrain_output`"),
        ({"processor": StanzaProcessor.CONSTITUENCY, "pretrain_output": Path("p")}, "needs a tagger"),
        ({"processor": StanzaProcessor.TAGGER, "vectors": Path("v")}, "write them to `pretrain_output`"),
    ],
)
def test_wrong_combinations_of_options_are_rejected(options: dict[str, object], error: str) -> None:
    with pytest.raises(InputError, match=error):
        train_parser(
            treebank_train=Path("a"), treebank_dev=Path("b"), output=Path("c"), counts_output=Path("d"), **options
        )  # type: ignore[arg-type]


@pytest.mark.parametrize("content", ["", "2 3\na 1 2 x\n", "a 1 2\nb 1\n", "a\n"])
def test_word_vectors_in_another_format_are_rejected(content: str, tmp_path: Path) -> None:
    from pipeline_py.syntax.stanza.training_commands import write_pretrain

    (tmp_path / "v").write_text(content)
    with pytest.raises(InputError, match="word2vec"):
        write_pretrain(tmp_path / "v", tmp_path / "p")


def test_truncated_word_vectors_are_rejected(tmp_path: Path) -> None:
    from pipeline_py.syntax.stanza.training_commands import write_pretrain

    (tmp_path / "v").write_text("3 2\na 1 2\nb 1 2\n")
    with pytest.raises(InputError, match="promises 3 word vectors, but 2 follow"):
        write_pretrain(tmp_path / "v", tmp_path / "p")


def copy_first_blocks(treebank: str, trees: int, output: Path) -> None:
    """Copy the first blocks of a gzipped treebank."""
    with gzip.open(TREEBANKS / f"{treebank}.gz", "rt", encoding="utf-8") as file:
        blocks = islice((block for block in file.read().split("\n\n") if block.strip()), trees)
        output.write_text("".join(f"{block}\n\n" for block in blocks), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(not TREEBANKS.exists(), reason="the treebanks en_ewt and en_gum are not on this machine")
def test_real_treebanks_with_word_vectors_are_supported(tmp_path: Path) -> None:
    """EWT has multi-word tokens, empty nodes and features, GUM traces and labels with functions."""
    for treebank, suffix in (("en_ewt", "conllu"), ("en_gum", "ptb")):
        copy_first_blocks(f"{treebank}/train.{suffix}", 60, tmp_path / f"train.{suffix}")
        copy_first_blocks(f"{treebank}/dev.{suffix}", 10, tmp_path / f"dev.{suffix}")
    rng = random.Random(1)
    frequent = ["the", "of", "and", ",", ".", "a\u00a0b", "\u2019s"]
    rows = [f"{word} {' '.join(f'{rng.gauss(0, 1):.3f}' for _ in range(6))}\n" for word in frequent]
    (tmp_path / "vectors.txt").write_text(f"{len(rows)} 6\n{''.join(rows)}", encoding="utf-8")

    pretrain = tmp_path / "pretrain.pt"
    for processor in ("tagger", "depparse", "constituency"):
        vectors = {"vectors": tmp_path / "vectors.txt", "pretrain_output": pretrain}
        train_parser_of(tmp_path, processor, **vectors, hidden=16, epochs=1)
    for annotation in TreeKind:
        parser = measure_parser(tmp_path, annotation, pretrain=pretrain, device="cpu")
        facts = TreeMetadata.read(tmp_path / "facts.json")
        assert facts.sentences == 10
        assert set(facts.models) == {"tagger.pt", "pretrain.pt", parser.name}
    assert values(tmp_path / "conllu.tsv")["failed parses"] == values(tmp_path / "ptb.tsv")["failed parses"] == 0


class Trainer:
    """A fake training command that writes a model and counts its calls."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, *_: object) -> None:
        import torch

        self.times += 1
        torch.save(torch.tensor(self.times), "model.pt")


@pytest.fixture
def trainer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trainer:
    from pipeline_py.syntax.stanza import pipeline as stanza_pipeline
    from pipeline_py.syntax.stanza import training_commands as stanza_training

    fake_trainer = Trainer()
    for name in ("train_tagger", "train_depparse", "train_constituency"):
        monkeypatch.setattr(stanza_training, name, fake_trainer)
    monkeypatch.setattr(stanza_pipeline, "load_pipeline_from_files", lambda *_, **__: None)
    for name in ("train", "dev"):
        write_treebanks(tmp_path, name, 3, 1)
    (tmp_path / "vectors").write_text("a 1 2\n")
    (tmp_path / "tagger").write_text("tagger")
    return fake_trainer


def training_job(folder: Path, **options: Any) -> dict[str, Any]:
    """The job that trains on the treebanks of the folder."""
    arguments: dict[str, Any] = {
        "processor": "constituency",
        "treebank_train": folder / "train.ptb",
        "treebank_dev": folder / "dev.ptb",
        "output": folder / "model.pt",
        "counts_output": folder / "model.json",
        "tagger": folder / "tagger",
        "vectors": folder / "vectors",
        "pretrain_output": folder / "model.pretrain.pt",
    }
    return build_cached_job("syntax.train_parser", folder, arguments | options)


def train(folder: Path, **changes: Any) -> bytes:
    """Run the job with changes; return the model."""
    run_job(training_job(folder) | changes)
    return (folder / "model.pt").read_bytes()


@pytest.mark.parametrize(("name", "value"), [("epochs", 0), ("hidden", 3), ("threads", 0)])
def test_number_out_of_range_is_rejected(name: str, value: int, trainer: Trainer, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"syntax\.train_parser: {name}: Input should be greater than"):
        run_job(training_job(tmp_path, **{name: value}))
    assert trainer.times == 0


def test_cached_model_is_restored_without_stanza(trainer: Trainer, tmp_path: Path) -> None:
    train(tmp_path)
    outputs = {name: (tmp_path / name).read_bytes() for name in ("model.pt", "model.json", "model.pretrain.pt")}
    for name in outputs:
        (tmp_path / name).unlink()
    imported, _ = find_imported_modules(training_job(tmp_path), "stanza", "torch")
    assert imported == set()
    assert {name: (tmp_path / name).read_bytes() for name in outputs} == outputs


@pytest.mark.parametrize("changed", ["train.ptb", "dev.ptb", "vectors", "tagger", "model.pt"])
def test_changed_file_is_trained_again(changed: str, trainer: Trainer, tmp_path: Path) -> None:
    first = train(tmp_path)
    assert train(tmp_path) == first
    with (tmp_path / changed).open("a") as file:
        file.write("b 3 4\n" if changed == "vectors" else "\n")
    assert train(tmp_path) != first
    assert trainer.times == 2


def test_changed_settings_are_trained_again(trainer: Trainer, tmp_path: Path) -> None:
    """Settings are in the hash `process`."""
    first = train(tmp_path)
    assert train(tmp_path) == first
    assert train(tmp_path, process="other") != first
    assert train(tmp_path, process="other", is_cached=False) != first
    without_vectors = {**training_job(tmp_path)["arguments"], "vectors": None}
    assert train(tmp_path, process="other", arguments=without_vectors) != first
    assert trainer.times == 4
