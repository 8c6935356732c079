"""Tests of the counts of sentences that sets share with the training text."""

import gzip
import json
import sys
from pathlib import Path

from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.corpus import shared_sentences as module
from pipeline_py.corpus.clean import clean
from pipeline_py.corpus.shared_sentences import count_shared_sentences
from pipeline_py.run.file_hash_cache import FileHashCache
from tests.plan.conftest import DEFAULT_CONFIG

TRAIN = ["Das ist eins", "zwei  Wörter", "drei\u2028vier", "\ufefffünf", "sechs", "zwei Wörter"]


def load_small_experiment(folder: Path, **corpora):
    (folder / "b.en.gz").write_bytes(gzip.compress("\n".join(TRAIN[3:]).encode()))
    (folder / "a.en").write_bytes("\r\n".join(TRAIN[:3]).encode() + b"\n")
    tests = {"one": [b"zwei W\xc3\xb6rter", b"f\xc3\xbcnf"], "two": [b"drei vier "], "none": [b"sieben", b"\xff"]}
    for name, lines in tests.items():
        (folder / f"{name}.en").write_bytes(b"\n".join(lines))
    (folder / "pairs.tsv").write_text("source\tcorrect\tcontrastive\nsechs\ta\tb\n")
    files = {
        "train": [{"source": f"{name}.en{end}", "target": f"{name}.de"} for name, end in (("a", ""), ("b", ".gz"))],
        "tests": [{"name": name, "source": f"{name}.en", "references": ["x.de"]} for name in tests],
        "contrast": [{"name": "gender", "file": "pairs.tsv"}],
    }
    overrides = {"data": str(folder), "corpora": {**files, **corpora}, "targets": ["sdrnmt"], "parser": "embedded"}
    return load_experiment(DEFAULT_CONFIG, overrides, should_check_files=False)


def count(experiment, folder: Path) -> dict[str, int]:
    return count_shared_sentences(
        experiment, FileHashCache(folder / "contents.json").hash_files, folder / "shared.json"
    )


def test_counts_equal_the_counts_of_cleaning(tmp_path):
    counts = count(load_small_experiment(tmp_path), tmp_path)
    assert counts == {"one": 3, "two": 1, "none": 0, "gender": 1}, "dev is generated"
    lines = [line.encode() for line in TRAIN]
    for side in ("source", "target"):
        (tmp_path / side).write_bytes(b"\n".join([*lines[:3], lines[3].removeprefix(b"\xef\xbb\xbf"), *lines[4:]]))
    for name in ("one", "two"):
        clean(
            source_input=tmp_path / "source",
            target_input=[tmp_path / "target"],
            held_out=[tmp_path / f"{name}.en"],
            keep_duplicates=True,
            **{f"{output}_output": tmp_path / output for output in ("lines", "counts")}
            | {"source_output": tmp_path / "s", "target_output": [tmp_path / "t"]},
        )
        assert json.loads((tmp_path / "counts").read_text())["dropped"]["occurs in held-out"] == counts[name]


def test_counts_are_cached_until_a_file_changes(tmp_path, monkeypatch):
    experiment = load_small_experiment(tmp_path)
    counts = count(experiment, tmp_path)
    calls = []
    monkeypatch.setattr(
        module, "_count_shared_pairs", lambda train, sets, *options: calls.append([*sets]) or dict.fromkeys(sets, 9)
    )
    assert count(experiment, tmp_path) == counts and calls == []
    (tmp_path / "two.en").write_text("anders\n")
    assert count(experiment, tmp_path) == {**counts, "two": 9} and calls == [["two"]]
    (tmp_path / "a.en").write_text("anders\n")
    assert set(count(experiment, tmp_path).values()) == {9}, "the training text has changed"
    (tmp_path / "shared.json").write_text("broken")
    assert set(count(experiment, tmp_path).values()) == {9}


def test_counts_depend_on_later_preprocessing_of_the_source(tmp_path, monkeypatch):
    tests = [{"name": "upper", "source": "upper.en", "references": ["x.de"]}]

    def count_upper(**source: str) -> int:
        experiment = load_small_experiment(
            tmp_path, tests=tests, source={"language": "en", "tokenizer": "moses", **source}
        )
        (tmp_path / "upper.en").write_text("ZWEI WÖRTER\nfünf’\nse\u00adchs\n")
        return count(experiment, tmp_path)["upper"]

    assert [count_upper(), count_upper(case="lower"), count_upper(case="true")] == [1, 3, 3]
    assert count_upper(tokenizer="none") == 0
    monkeypatch.setattr(sys.modules[__name__], "TRAIN", [*TRAIN, "fünf'"])
    assert [count_upper(), count_upper(punctuation="normalize")] == [1, 2]
    assert count_upper(punctuation="normalize", case="lower") == 4


def test_missing_files_and_generated_text_have_no_counts(tmp_path):
    experiment = load_small_experiment(tmp_path)
    (tmp_path / "one.en").unlink()
    assert "one" not in count(experiment, tmp_path)
    assert count(load_experiment(DEFAULT_CONFIG, should_check_files=False), tmp_path) == {}


def test_a_partly_generated_training_text_has_unknown_counts(tmp_path):
    files = {"source": "a.en", "target": "a.de"}
    experiment = load_small_experiment(tmp_path, train=[files, {"generate": {"sentences": 9}}])
    assert count(experiment, tmp_path) == {}, "its generated sentences may occur in a set, too"
