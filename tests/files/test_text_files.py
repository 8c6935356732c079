"""Lines of text files: compressions, line ends and errors."""

import bz2
import gzip
import lzma
import tarfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from pipeline_py.files.text_files import (
    check_file_format,
    create_binary_file,
    find_compression_by_name,
    get_uncompressed_name,
    read_byte_lines,
    read_lines,
    read_parallel,
    split_lines,
)
from pipeline_py.run.errors import InputError

CONTENT = "\ufeffeins\r\nzwei\u2028\u0085\x0b\x1c\n\n\ufeffvier\rfünf".encode()
LINES = ["eins", "zwei\u2028\u0085\x0b\x1c", "", "\ufeffvier\rfünf"]


def lzma_compress(content: bytes) -> bytes:
    return lzma.compress(content, format=lzma.FORMAT_ALONE)


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress, lzma_compress])
def test_first_bytes_decide_how_a_file_is_compressed(tmp_path: Path, compress) -> None:
    file = tmp_path / "text.de"
    file.write_bytes(compress(CONTENT))
    assert [*read_lines(file)] == LINES


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress, lzma_compress])
def test_an_empty_file_has_no_lines(tmp_path: Path, compress) -> None:
    (tmp_path / "empty.gz").write_bytes(b"")
    (tmp_path / "text").write_bytes(compress(b""))
    assert [*read_byte_lines(tmp_path / "empty.gz"), *read_byte_lines(tmp_path / "text")] == []


@pytest.mark.parametrize(
    ("compress", "name"),
    [(gzip.compress, "gzip"), (bz2.compress, "bzip2"), (lzma.compress, "xz"), (lzma_compress, "LZMA")],
)
def test_a_broken_file_is_rejected(tmp_path: Path, compress, name: str) -> None:
    content = compress(bytes(range(256)) * 9999)
    for number, broken in enumerate([content[:-20], content[:60] + b"\x99" * 99 + content[159:]]):
        (tmp_path / f"text{number}").write_bytes(broken)
        with pytest.raises(InputError, match=rf"text{number}: broken {name} file \(.*\); fetch it again"):
            [*read_byte_lines(tmp_path / f"text{number}")]


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz", "lzma", "zst"])
def test_a_file_without_the_compression_of_its_name_is_rejected(tmp_path: Path, ending: str) -> None:
    (tmp_path / f"text.{ending}").write_bytes(b"<html>Not found</html>\n")
    with pytest.raises(InputError, match=rf"broken \w+ file .* not compressed without \.{ending}"):
        [*read_byte_lines(tmp_path / f"text.{ending}")]


@pytest.mark.parametrize(
    ("beginning", "name"),
    [
        (b"\x28\xb5\x2f\xfd\x04", "Zstandard"),
        (b"PK\x03\x04", "ZIP"),
        (b"PK\x05\x06", "ZIP"),
        (b"\x04\x22\x4d\x18", "LZ4"),
        (b"Rar!\x1a\x07\x01\x00", "RAR"),
        (b"LZIP\x01", "lzip"),
        (b"\x1f\x9d\x90", "compress"),
    ],
)
def test_unsupported_compressions_are_rejected_with_the_remedy(tmp_path: Path, beginning: bytes, name: str) -> None:
    (tmp_path / "text").write_bytes(beginning + b"...")
    with pytest.raises(
        InputError, match=rf"text: {name} files cannot be read; decompress it, or compress it with gzip"
    ):
        [*read_byte_lines(tmp_path / "text")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "a pointer of Git LFS"),
        (b"%PDF-1.4\n%\xe2\xe3\n", "a PDF"),
        (b"\xef\xbb\xbf<!DOCTYPE html>\n<html>", "a page of HTML"),
    ],
)
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_other_formats_are_rejected(tmp_path: Path, content: bytes, message: str, compress: Callable) -> None:
    (tmp_path / "text").write_bytes(compress(content))
    with pytest.raises(InputError, match=f"text: {message}"):
        check_file_format(tmp_path / "text")


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress, lzma_compress])
@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_an_archive_is_rejected(tmp_path: Path, compress, form: int) -> None:
    (tmp_path / "größe.de").write_text("eins\n" * 200)
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=form) as archive:
        archive.add(tmp_path / "größe.de", arcname="größe.de")
    (tmp_path / "text").write_bytes(compress(packed.getvalue()))
    with pytest.raises(InputError, match=r"text: a tar archive, which holds files and is no text; unpack it"):
        check_file_format(tmp_path / "text")
    with pytest.raises(InputError, match=r"text: a tar archive"):
        [*read_byte_lines(tmp_path / "text")]


def test_text_is_not_mistaken_for_an_archive(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"x" * 257 + b"ustar\x0000" + b"y" * 999)
    check_file_format(tmp_path / "text")


@pytest.mark.parametrize("name", ["a.de", "a.de.gz", "a.de.bz2", "a.de.xz", "a.de.lzma"])
def test_a_file_is_compressed_according_to_its_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with create_binary_file(path, find_compression_by_name(path)) as file:
        file.write(b"eins\n")
    assert [*read_lines(path)] == ["eins"] and get_uncompressed_name(path) == "a.de"
    assert (path.read_bytes() == b"eins\n") == (name == "a.de")


def test_an_error_names_the_line_and_the_likely_encoding(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes("Hallo\nschöne Größe\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"text, line 2: byte 3 is not UTF-8 .*; the file looks like Latin-1 .*iconv"):
        [*read_lines(tmp_path / "text")]


def test_an_open_file_is_split_like_a_named_file() -> None:
    assert [line.decode() for line in split_lines(BytesIO(CONTENT))] == LINES


def test_parallel_files_need_the_same_number_of_lines(tmp_path: Path) -> None:
    (tmp_path / "long").write_text("1\n2\n3\n")
    (tmp_path / "short").write_text("1\n2\n")
    with pytest.raises(InputError, match=r"short: the file has 2 lines and .*long has more"):
        list(read_parallel(tmp_path / "long", tmp_path / "short"))
