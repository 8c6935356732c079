"""Compressed files that no stage can read are rejected."""

import bz2
import gzip
import lzma
import tarfile
from io import BytesIO
from pathlib import Path

import pytest

from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.run.errors import InputError
from tests.plan.conftest import DEFAULT_CONFIG


def load_texts(folder: Path, train: bytes) -> None:
    files = {"a.en": train, "a.de": bz2.compress(b"eins\n"), "b.en.xz": lzma.compress(b"two\n"), "b.de": b"zwei\n"}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    corpora = {
        "train": [{"source": "a.en", "target": "a.de"}],
        "tests": [{"name": "one", "source": "b.en.xz", "references": ["b.de"]}],
    }
    load_experiment(
        DEFAULT_CONFIG, {"data": str(folder), "corpora": corpora, "targets": ["table1"], "parser": "embedded"}
    )


def tar() -> bytes:
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.en"))
    return packed.getvalue()


@pytest.mark.parametrize(
    ("train", "message"),
    [
        (b"\x28\xb5\x2f\xfd\x04", r"a\.en: Zstandard files cannot be read; decompress it"),
        (b"PK\x03\x04", r"a\.en: ZIP files cannot be read; decompress it"),
        (tar(), r"a\.en: a tar archive, which holds files and is no text; unpack it \(tar -xf\) and name a file in it"),
        (gzip.compress(tar(), mtime=0), r"a\.en: a tar archive"),
    ],
)
def test_unsupported_compression_is_rejected(tmp_path, train, message):
    with pytest.raises(InputError, match=message):
        load_texts(tmp_path, train)


def test_supported_files_are_accepted(tmp_path):
    load_texts(tmp_path, b"one\n")
