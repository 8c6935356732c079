"""Cache of file hashes: detection of changed files, and reuse for unchanged files."""

import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline_py.run import file_hash_cache
from pipeline_py.run.file_hash_cache import FileHashCache

OLD, NEW = "ein alter Satz\n", "ein neuer Satz\n"
BEFORE = 10**18  # nanoseconds since the epoch: 2001


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a file that is old enough to be cached."""
    monkeypatch.setattr(file_hash_cache, "SETTLING_NANOSECONDS", -(10**18))
    file = tmp_path / "text"
    file.write_text(OLD)
    os.utime(file, ns=(BEFORE, BEFORE))
    return file


def hash_file(file: Path) -> str | None:
    (digest,) = FileHashCache(file.parent / "cache.json").hash_files([str(file)]).values()
    return digest


def move_file(file: Path, replacement: Path) -> None:
    replacement.replace(file)


def synchronize_file(file: Path, replacement: Path) -> None:
    if shutil.which("rsync") is None:
        pytest.skip("rsync is not here")
    subprocess.run(["rsync", "-a", "--ignore-times", replacement, file], check=True)


def unpack_file(file: Path, replacement: Path) -> None:
    with tarfile.open(file.parent / "archive.tar", "w") as archive:
        archive.add(replacement, arcname=file.name)
    subprocess.run(["tar", "--extract", "--file", file.parent / "archive.tar", "--directory", file.parent], check=True)


def copy_file(file: Path, replacement: Path) -> None:
    shutil.copy2(replacement, file)


def overwrite_file(file: Path, replacement: Path) -> None:
    """Overwrite a file and keep its inode, size and modification time."""
    with file.open("r+") as opened:
        opened.write(replacement.read_text())
    os.utime(file, ns=(BEFORE, BEFORE))


@pytest.mark.parametrize("replace_file", [move_file, synchronize_file, unpack_file, copy_file, overwrite_file])
@pytest.mark.parametrize("age", [0, 10**15])
def test_replacement_by_an_older_file_is_detected(
    file: Path, replace_file: Callable[[Path, Path], None], age: int
) -> None:
    first = hash_file(file)
    replacement = file.with_name("other")
    replacement.write_text(NEW)
    os.utime(replacement, ns=(BEFORE - age, BEFORE - age))
    replace_file(file, replacement)
    assert (file.read_text(), file.stat().st_size) == (NEW, len(OLD))
    assert file.stat().st_mtime_ns <= BEFORE
    second = hash_file(file)
    assert first != second
    file.write_text(OLD)
    assert hash_file(file) == first, "the content decides, and no time"


def test_an_unchanged_file_is_read_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = hash_file(file)
    monkeypatch.setattr(file_hash_cache.hashlib, "file_digest", None)
    assert hash_file(file) == first
    (file.parent / "cache.json").unlink()
    with pytest.raises(TypeError):
        hash_file(file)


def test_a_file_that_has_just_changed_is_read_again(tmp_path: Path) -> None:
    """A clock may show the same time before and after a change."""
    (tmp_path / "text").write_text(OLD)
    hash_file(tmp_path / "text")
    assert not (tmp_path / "cache.json").exists()


@pytest.mark.parametrize("cache", ["", "[]", "{", '{"text": 3}', "[1]", "null"])
def test_a_lost_or_broken_cache_is_rebuilt(file: Path, cache: str) -> None:
    first = hash_file(file)
    (file.parent / "cache.json").write_text(cache)
    assert hash_file(file) == first
    assert [*json.loads((file.parent / "cache.json").read_text())["content"]] == [str(file)]


def test_a_cache_that_cannot_be_written_is_ignored(file: Path) -> None:
    (file.parent / "cache.json").mkdir()
    assert hash_file(file) == hash_file(file) is not None


def test_a_path_that_is_not_a_file_has_no_hash(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    files = [str(tmp_path / name) for name in ("folder", "gone", "gone/below", "x" * 300)]
    assert FileHashCache(tmp_path / "cache.json").hash_files(files) == dict.fromkeys(files)


def test_a_damaged_cache_is_ignored(file: Path) -> None:
    first = hash_file(file)
    cache = file.parent / "cache.json"
    cache.write_text(cache.read_text().replace(str(first), str(first)[::-1]))
    assert hash_file(file) == first
