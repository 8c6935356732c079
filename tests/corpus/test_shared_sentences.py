"""Sets that share sentences with the training text are found in files, and counted once."""

import gzip
import json
from pathlib import Path

from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.corpus import shared_sentences as module
from pipeline_py.corpus.clean import clean
from pipeline_py.corpus.shared_sentences import count_shared_sentences
from pipeline_py.run.file_hash_cache import FileHashCache
from tests.plan.conftest import DEFAULT_CONFIG

TRAIN = ["Das ist eins", "zwei  Wörter", "drei\u2028vier", "\ufefffünf", "sechs", "zwei Wörter"]


def described(folder: Path, **corpora):
    (folder / "b.en.gz").write_bytes(gzip.compress("\n".join(TRAIN[3:]).encode()))
    (folder / "a.en").write_bytes("\r\n".join(TRAIN[:3]).encode() + b"\n")
    tests = {"one": [b"zwei W\xc3\xb6rter", b"f\xc3\xbcnf"], "two": [b"drei vier "], "none": [b"sieben", b"\xff"]}
    for name, lines in tests.items():
        (folder / f"{name}.en").write_bytes(b"\n".join(lines))
    (folder / "pairs.tsv").write_text("source\tcorrect\tcontrastive\nsechs\ta\tb\n")
    files = {
        "train": [{"source": f"{name}.en{end}", "target": f"{name}.de"} for name, end in (("a", ""), ("b", ".gz"))],
        "tests": [{"name": name, "source": f"{name}.en", "references": ["x.de"]} for name in tests],
        "contrast": [{"name": "told", "file": "pairs.tsv"}],
    }
    over = {"data": str(folder), "corpora": {**files, **corpora}, "targets": ["sdrnmt"], "parser": "embedded"}
    return load_experiment(DEFAULT_CONFIG, over, should_check_files=False)


def counted(experiment, folder: Path) -> dict[str, int]:
    return count_shared_sentences(
        experiment, FileHashCache(folder / "contents.json").hash_files, folder / "shared.json"
    )


def test_sentences_are_the_same_if_cleaning_says_so(tmp_path):
    experiment = described(tmp_path)
    found = counted(experiment, tmp_path)
    assert found == {"one": 3, "two": 1, "none": 0, "told": 1}, "dev is generated"
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
        assert json.loads((tmp_path / "counts").read_text())["dropped"]["occurs in held-out"] == found[name]


def test_a_count_is_remembered_until_a_file_changes(tmp_path, monkeypatch):
    experiment = described(tmp_path)
    first = counted(experiment, tmp_path)
    read = []
    monkeypatch.setattr(
        module, "_count_shared_pairs", lambda train, sets, *options: read.append([*sets]) or dict.fromkeys(sets, 9)
    )
    assert counted(experiment, tmp_path) == first and read == []
    (tmp_path / "two.en").write_text("anders\n")
    assert counted(experiment, tmp_path) == {**first, "two": 9} and read == [["two"]]
    (tmp_path / "a.en").write_text("anders\n")
    assert set(counted(experiment, tmp_path).values()) == {9}, "the training text is another"
    (tmp_path / "shared.json").write_text("broken")
    assert set(counted(experiment, tmp_path).values()) == {9}


def test_a_count_depends_on_what_later_steps_do_to_the_source(tmp_path):
    """The files are the same each time, and counts are remembered."""
    tests = [{"name": "upper", "source": "upper.en", "references": ["x.de"]}]

    def count(**source: str) -> int:
        experiment = described(tmp_path, tests=tests, source={"language": "en", "tokenizer": "moses", **source})
        (tmp_path / "upper.en").write_text("ZWEI WÖRTER\nfünf’\nse\u00adchs\n")
        return counted(experiment, tmp_path)["upper"]

    assert [count(), count(case="lower"), count(case="true"), count(tokenizer="none")] == [1, 3, 3, 0]
    TRAIN.append("fünf'")
    try:
        assert [count(), count(punctuation="normalize"), count(punctuation="normalize", case="lower")] == [1, 2, 4]
    finally:
        TRAIN.pop()


def test_what_cannot_be_known_is_left_out(tmp_path):
    experiment = described(tmp_path)
    (tmp_path / "one.en").unlink()
    assert "one" not in counted(experiment, tmp_path)
    assert counted(load_experiment(DEFAULT_CONFIG, should_check_files=False), tmp_path) == {}
