"""Tests of tree metadata."""

import hashlib
from pathlib import Path

from pipeline_py.syntax.trees.tree_formats import TreeMetadata, compute_checksums

VERSIONS = {"stanza": "1.15.0", "torch": "2.13.0"}


def test_metadata_round_trip(tmp_path: Path) -> None:
    facts = TreeMetadata(3, 0.125, "cuda", VERSIONS, {"tagger.pt": "ab"})
    facts.write(tmp_path / "f")
    assert TreeMetadata.read(tmp_path / "f") == facts


def test_merge_sums_numbers_and_lists_differences() -> None:
    first = TreeMetadata(2, 1.5, "cpu", VERSIONS, {"tagger.pt": "ab", "depparse.pt": "cd"})
    second = TreeMetadata(3, 2.0, "cuda", VERSIONS | {"torch": "2.14.0"}, {"tagger.pt": "ab", "depparse.pt": "ef"})
    joined = TreeMetadata.merge([first, second, first])
    assert (joined.sentences, joined.seconds, joined.device) == (7, 5.0, "cpu, cuda")
    assert joined.versions == {"stanza": "1.15.0", "torch": "2.13.0, 2.14.0"}
    assert joined.models == {"tagger.pt": "ab", "depparse.pt": "cd, ef"}


def test_merge_ignores_parts_without_sentences() -> None:
    part = TreeMetadata(2, 1.5, "cuda", VERSIONS, {"tagger.pt": "ab"})
    empty = TreeMetadata(0, 0.0, "none", VERSIONS)
    assert TreeMetadata.merge([empty, part, empty]) == part
    assert TreeMetadata.merge([empty, empty]) == empty


def test_checksums_distinguish_models_of_the_same_name(tmp_path: Path) -> None:
    for folder in ("pos", "depparse"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "ewt.pt").write_text(folder)
    files = [tmp_path / "pos" / "ewt.pt", tmp_path / "depparse" / "ewt.pt"]
    assert compute_checksums(files) == {
        f"{name}/ewt.pt": hashlib.sha256(name.encode()).hexdigest() for name in ("pos", "depparse")
    }
    assert list(compute_checksums(files[:1])) == ["ewt.pt"]
    assert compute_checksums([]) == {}
