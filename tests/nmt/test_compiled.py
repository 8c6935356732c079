"""Code that is compiled, kept, loaded, or done without."""

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pipeline_py.nmt import compiled

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no GCC")

FIND = "from pipeline_py.nmt import kernels; print(kernels.library() is not None)"
PROGRAMS = "/usr/bin:/bin:/usr/local/bin"


def find(environment: dict[str, str], code: str = FIND) -> subprocess.CompletedProcess:
    given = {"PYTHONPATH": str(Path(__file__).parents[2]), **environment}
    return subprocess.run([sys.executable, "-c", code], env=given, capture_output=True, text=True)


def kept_below(cache: Path) -> Path:
    (kept,) = (cache / compiled.FOLDER).iterdir()
    return kept


def test_what_is_compiled_is_kept_and_needs_no_compiler_again(tmp_path: Path) -> None:
    assert find({"XDG_CACHE_HOME": str(tmp_path), "PATH": PROGRAMS}).stdout == "True\n"
    made = kept_below(tmp_path).stat().st_mtime_ns
    assert find({"XDG_CACHE_HOME": str(tmp_path), "PATH": str(tmp_path)}).stdout == "True\n"
    assert kept_below(tmp_path).stat().st_mtime_ns == made


def test_what_is_kept_and_cannot_be_loaded_is_compiled_again(tmp_path: Path) -> None:
    environment = {"XDG_CACHE_HOME": str(tmp_path), "PATH": PROGRAMS}
    find(environment)
    whole = kept_below(tmp_path).read_bytes()
    kept_below(tmp_path).write_bytes(b"")
    assert find(environment).stdout == "True\n"
    assert len(kept_below(tmp_path).read_bytes()) == len(whole)


def test_several_that_compile_at_once_all_load(tmp_path: Path) -> None:
    with ThreadPoolExecutor(3) as pool:
        environment = {"XDG_CACHE_HOME": str(tmp_path), "PATH": PROGRAMS}
        assert [done.stdout for done in pool.map(find, [environment] * 3)] == ["True\n"] * 3
    assert kept_below(tmp_path).is_file()


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found = find({"XDG_CACHE_HOME": str(tmp_path / "file"), "PATH": PROGRAMS})
    assert (found.stdout, found.stderr) == ("True\n", "")


def test_who_has_no_home_has_no_cache() -> None:
    nobody = "import os, pwd\nos.environ.pop('HOME', None)\npwd.getpwuid = {}.__getitem__\n"
    found = find({"PATH": PROGRAMS}, nobody + FIND)
    assert (found.stdout, found.stderr) == ("True\n", "")


def test_without_a_compiler_torch_computes(tmp_path: Path) -> None:
    found = find({"XDG_CACHE_HOME": str(tmp_path), "PATH": str(tmp_path)})
    assert (found.stdout, found.stderr.count("\n")) == ("False\n", 1)
    assert "neither gcc nor cc is there" in found.stderr


def test_where_one_compiler_fails_the_next_is_asked(tmp_path: Path) -> None:
    gcc = tmp_path / "gcc"
    gcc.write_text("#!/bin/sh\necho it is too old >&2\nexit 1\n")
    gcc.chmod(0o755)
    found = find({"XDG_CACHE_HOME": str(tmp_path / "one"), "PATH": f"{tmp_path}:/bin:/usr/bin"})
    assert (found.stdout, found.stderr) == ("True\n", "")
    (tmp_path / "cc").symlink_to(gcc)
    found = find({"XDG_CACHE_HOME": str(tmp_path / "other"), "PATH": f"{tmp_path}:/bin:/usr/bin"})
    assert found.stdout == "False\n"
    assert found.stderr == (
        "kernels: not compiled (it is too old), so torch computes in small steps; GCC makes it faster\n"
    )
