"""Tests of fetching: bytes are unchanged, except for line ends and byte order marks."""

import gzip
from pathlib import Path

import pytest

from pipeline_py.corpus.fetch import fetch
from pipeline_py.run.errors import InputError


def test_files_are_concatenated_in_order_with_missing_line_ends(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"b1\nb2")
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"a1\r\n\r\na3"))
    fetch(input=[tmp_path / "b", tmp_path / "a.gz"], output=tmp_path / "new" / "out")
    assert (tmp_path / "new" / "out").read_bytes() == b"b1\nb2\na1\n\na3\n"


def test_only_newlines_end_lines_and_other_bytes_are_unchanged(tmp_path: Path) -> None:
    odd = "a\u2028b\x85c\x0bd\x0ce\rf\x00\u00a0 ".encode() + b"\xff\xfe"
    (tmp_path / "in").write_bytes(b"a line\n" * 99 + odd + b"\r\n")
    fetch(input=[tmp_path / "in"], output=tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"a line\n" * 99 + odd + b"\n"


def test_a_byte_order_mark_is_removed_only_at_the_start_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes("\ufeffx\n\ufeffy\n".encode())
    fetch(input=[tmp_path / "in", tmp_path / "in"], output=tmp_path / "out")
    assert (tmp_path / "out").read_text() == "x\n\ufeffy\nx\n\ufeffy\n"


def test_a_small_file_with_wrong_encoding_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"a line\n" * 9999)
    (tmp_path / "small").write_bytes("Größe\n".encode("latin-1"))
    with pytest.raises(InputError, match="small: 1 of 1 lines are not UTF-8"):
        fetch(input=[tmp_path / "large", tmp_path / "small"], output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("absent", None, "absent: no such file"),
        ("empty", b"", "empty: the file is empty"),
        ("text.gz", b"not gzipped\n", "text.gz: broken gzip file"),
        ("latin", "schöne Größe\n".encode("latin-1") * 9, "latin: 9 of 9 lines are not UTF-8; .*Latin-1"),
        ("wide", "schöne Größe\n".encode("utf-16") * 9, "wide: .* contain NUL bytes; the file looks like UTF-16;"),
        ("mac", "schöne Größe\r".encode() * 9, "mac: lines end in CR"),
        ("joined", b"word " * 9999, "joined: the lines have 49,995 bytes on average"),
        ("packed", b"\x28\xb5\x2f\xfd...", "packed: Zstandard files cannot be read"),
        ("cut.gz", gzip.compress(b"line\n" * 999, mtime=0)[:-12], "cut.gz: broken gzip file"),
    ],
)
def test_a_bad_file_is_named_and_nothing_is_written(
    tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        fetch(input=[tmp_path / name], output=tmp_path / "out" / "text")
    assert not list(tmp_path.glob("out/*"))


def test_each_file_has_as_many_lines_as_its_parallel_file(tmp_path: Path) -> None:
    """Although the concatenated texts do."""
    for name, line_count in {"a.en": 2, "a.de": 3, "b.en": 3, "b.de": 2}.items():
        (tmp_path / name).write_text("x\n" * line_count)
    files = {side: [tmp_path / f"a.{side}", tmp_path / f"b.{side}"] for side in ("en", "de")}
    with pytest.raises(InputError, match=r"a\.en has 2 lines and \S*a\.de has 3; parallel files need the same number"):
        fetch(input=files["de"], parallel_input=files["en"], output=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    (tmp_path / "generated").write_text("x\n")
    fetch(input=[files["en"][0], tmp_path / "generated"], parallel_input=[files["de"][1]], output=tmp_path / "out")
    assert (tmp_path / "out").read_text() == "x\n" * 3
