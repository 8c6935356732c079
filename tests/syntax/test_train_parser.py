"""Training from tiny treebanks, parsing with the result, measuring it: the whole way of a parser."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline_py.stage import InputError
from pipeline_py.syntax.accuracy import accuracy
from pipeline_py.syntax.annotation import Annotation
from pipeline_py.syntax.parse import parse
from pipeline_py.syntax.train_parser import Processor, train_parser
from pipeline_py.syntax.treebank_text import treebank_text

COMMAND = [sys.executable, "-m", "pipeline_py.syntax.train_parser"]


def write_treebanks(folder: Path, name: str, sentences: int, seed: int) -> None:
    """The same short sentences in both formats, some with a second root, some with a multi-word token."""
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


@pytest.mark.slow
def test_train_parse_measure(tmp_path: Path) -> None:
    for name, sentences, seed in (("train", 80, 1), ("dev", 20, 2)):
        write_treebanks(tmp_path, name, sentences, seed)
    for processor, suffix, epochs in (("tagger", "conllu", 8), ("depparse", "conllu", 40), ("constituency", "ptb", 5)):
        train_parser(
            processor=Processor(processor),
            treebank_train=tmp_path / f"train.{suffix}",
            treebank_dev=tmp_path / f"dev.{suffix}",
            output=tmp_path / f"{processor}.pt",
            ledger_output=tmp_path / f"{processor}.json",
            tagger=tmp_path / "tagger.pt" if processor == "constituency" else None,
            pretrain_output=tmp_path / "pretrain.pt" if processor == "constituency" else None,
            hidden=32,
            epochs=epochs,
        )
    for annotation, suffix, model in (
        (Annotation.DEPENDENCY, "conllu", {"depparse": tmp_path / "depparse.pt"}),
        (
            Annotation.CONSTITUENCY,
            "ptb",
            {"constituency": tmp_path / "constituency.pt", "pretrain": tmp_path / "pretrain.pt"},
        ),
    ):
        gold = tmp_path / f"dev.{suffix}"
        treebank_text(annotation=annotation, treebank=gold, output=tmp_path / "dev.txt")
        parse(
            annotation=annotation,
            tokens=tmp_path / "dev.txt",
            output=tmp_path / f"parsed.{suffix}",
            ledger_output=tmp_path / "parsed.json",
            tagger=tmp_path / "tagger.pt",
            **model,
        )
        accuracy(
            annotation=annotation, gold=gold, predicted=tmp_path / f"parsed.{suffix}", output=tmp_path / f"{suffix}.tsv"
        )
    dependency, phrases = values(tmp_path / "conllu.tsv"), values(tmp_path / "ptb.tsv")
    assert dependency["LAS"] > 80
    assert dependency["UPOS"] > 90
    assert phrases["bracket F1"] > 80
    assert dependency["failed parses"] == phrases["failed parses"] == 0


@pytest.mark.slow
def test_same_seed_same_bytes(tmp_path: Path) -> None:
    write_treebanks(tmp_path, "t", 20, 1)

    def train(processor: str, suffix: str, hash_seed: str) -> bytes:
        """In a process of its own, so that neither addresses nor the order of sets is the same by chance."""
        output = tmp_path / f"{processor}{hash_seed}.pt"
        command = [*COMMAND, "--processor", processor, "--treebank-train", tmp_path / f"t.{suffix}"]
        command += ["--treebank-dev", tmp_path / f"t.{suffix}", "--output", output, "--ledger-output", tmp_path / "l"]
        command += ["--epochs", "1", "--hidden", "16"]
        if processor == "constituency":
            command += ["--tagger", tmp_path / "tagger1.pt", "--pretrain-output", tmp_path / "pretrain.pt"]
        subprocess.run(command, check=True, env=os.environ | {"PYTHONHASHSEED": hash_seed}, capture_output=True)
        return output.read_bytes()

    for processor, suffix in (("tagger", "conllu"), ("depparse", "conllu"), ("constituency", "ptb")):
        first = train(processor, suffix, "1")
        assert first == train(processor, suffix, "2"), processor
        assert str(tmp_path).encode() not in first


def test_cycle_is_named_before_training_starts(tmp_path: Path) -> None:
    write_treebanks(tmp_path, "train", 2, 1)
    (tmp_path / "dev.conllu").write_text("1\ta\t_\tX\t_\t_\t2\tdep\t_\t_\n2\tb\t_\tX\t_\t_\t1\tdep\t_\t_\n")
    command = [*COMMAND, "--processor", "depparse", "--treebank-train", tmp_path / "train.conllu"]
    command += [
        "--treebank-dev",
        tmp_path / "dev.conllu",
        "--output",
        tmp_path / "o",
        "--ledger-output",
        tmp_path / "l",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "dev.conllu, line 1: the heads of word 1 run in a cycle" in done.stderr
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"processor": Processor.CONSTITUENCY, "tagger": Path("t")}, "--pretrain-output"),
        ({"processor": Processor.CONSTITUENCY, "pretrain_output": Path("p")}, "--tagger"),
        ({"processor": Processor.TAGGER, "vectors": Path("v")}, "--pretrain-output"),
        ({"processor": Processor.TAGGER, "epochs": 0}, "epochs"),
    ],
)
def test_options_that_do_not_go_together(options: dict[str, object], error: str) -> None:
    with pytest.raises(InputError, match=error):
        train_parser(
            treebank_train=Path("a"), treebank_dev=Path("b"), output=Path("c"), ledger_output=Path("d"), **options
        )  # type: ignore[arg-type]


@pytest.mark.parametrize("content", ["", "2 3\na 1 2 x\n", "a 1 2\nb 1\n", "a\n"])
def test_word_vectors_in_another_format(content: str, tmp_path: Path) -> None:
    from pipeline_py.syntax.word_vectors import write_pretrain

    (tmp_path / "v").write_text(content)
    with pytest.raises(InputError, match="word2vec"):
        write_pretrain(tmp_path / "v", tmp_path / "p")
