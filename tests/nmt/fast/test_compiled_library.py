"""Code that is compiled, kept, looked at before it is loaded, or done without."""

import os
import random
import shutil
import stat
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pipeline_py.nmt.fast import compiled_library, elementwise
from pipeline_py.run.file_locks import PRIVATE_FOLDER_NAME

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no GCC")

FIND = "from pipeline_py.nmt.fast import elementwise; print(elementwise.load_kernels() is not None)"
PROGRAMS = "/usr/bin:/bin:/usr/local/bin"
SOURCE = "int answer(void) { return 42; }\n"
ASK = """
import sys
from pathlib import Path
from pipeline_py.nmt.fast import compiled_library
for place in sys.argv[2:]:
    library = compiled_library.load_library(Path(place), [sys.argv[1]])
    print(None if library is None else library[sys.argv[1]]())
"""
FAILS = "#!/bin/sh\necho it is too old >&2\nexit 1\n"
NOBODY = 65534


def run(environment: dict[str, str], code: str, *arguments: str, **options) -> subprocess.CompletedProcess:
    environment = {"PATH": PROGRAMS, "PYTHONPATH": str(Path(__file__).parents[3]), **environment}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], env=environment, capture_output=True, text=True, **options
    )


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "answer.c").write_text(SOURCE)
    return tmp_path / "answer.c"


def ask(source: Path, cache: Path, **options) -> subprocess.CompletedProcess:
    environment = {"XDG_CACHE_HOME": str(cache), **options.pop("environment", {})}
    return run(environment, ASK, "answer", str(source), **options)


def kept_below(cache: Path) -> Path:
    (library_path,) = (cache / PRIVATE_FOLDER_NAME).iterdir()
    return library_path


def program(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.mark.slow
def test_kernels_are_compiled_and_kept_and_need_no_compiler_again(tmp_path: Path) -> None:
    result = run({"XDG_CACHE_HOME": str(tmp_path)}, FIND)
    assert (result.stdout, result.stderr) == ("True\n", "")
    product = kept_below(tmp_path).stat()
    second_result = run({"XDG_CACHE_HOME": str(tmp_path), "PATH": str(tmp_path)}, FIND)
    assert (second_result.stdout, second_result.stderr) == ("True\n", "")
    assert kept_below(tmp_path).stat().st_mtime_ns == product.st_mtime_ns
    assert stat.S_IMODE(product.st_mode) == stat.S_IMODE((tmp_path / PRIVATE_FOLDER_NAME).stat().st_mode) == 0o700


def test_kernels_say_which_functions_they_have() -> None:
    assert all(
        f"void {function}(" in elementwise.C_SOURCE_PATH.read_text() for function in elementwise.C_FUNCTION_NAMES
    )


def test_several_that_compile_at_once_all_load(source: Path, tmp_path: Path) -> None:
    with ThreadPoolExecutor(3) as pool:
        result = list(pool.map(lambda _: ask(source, tmp_path / "cache"), range(3)))
    assert [(completed.stdout, completed.stderr) for completed in result] == [("42\n", "")] * 3
    assert kept_below(tmp_path / "cache").is_file()


def test_two_that_are_loaded_are_two(source: Path, tmp_path: Path) -> None:
    (tmp_path / "other.c").write_text("int answer(void) { return 43; }\n")
    result = run({"XDG_CACHE_HOME": str(tmp_path)}, ASK, "answer", str(source), str(tmp_path / "other.c"))
    assert result.stdout == "42\n43\n"


def damaged(content: bytes, seed: int) -> bytes:
    """Cut off, or with some bytes replaced, added or left out."""
    chance = random.Random(seed)
    place = chance.randrange(len(content))
    if seed % 4 == 0:
        return content[:place]
    if seed % 4 == 1:
        return content[:place] + chance.randbytes(chance.randint(1, 9)) + content[place:]
    if seed % 4 == 2:
        return content[:place] + content[place + chance.randint(1, 9) :]
    changed = bytearray(content)
    for _ in range(chance.choice((1, 1, 8, 64))):
        changed[chance.randrange(len(changed))] ^= chance.randint(1, 255)
    return bytes(changed)


@pytest.mark.parametrize("seed", range(40))
def test_a_damaged_file_is_not_loaded_but_compiled_anew(
    seed: int, complete: tuple[Path, bytes], tmp_path: Path
) -> None:
    source, content = complete
    folder = tmp_path / PRIVATE_FOLDER_NAME
    folder.mkdir(mode=0o700)
    library_path = folder / kept_below(source.parent).name
    library_path.write_bytes(damaged(content, seed))
    library_path.chmod(0o700)
    result = ask(source, tmp_path)
    assert (result.returncode, result.stdout) == (0, "42\n")
    assert result.stderr == (
        f"warning: {library_path}: not what was compiled (its checksum does not match), so it is compiled again\n"
    )
    assert library_path.read_bytes()[-compiled_library.CHECKSUM_SIZE :] == content[-compiled_library.CHECKSUM_SIZE :]


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """A source, and beside it a cache with what it is compiled to."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "answer.c").write_text(SOURCE)
    assert ask(folder / "answer.c", folder).stdout == "42\n"
    return folder / "answer.c", kept_below(folder).read_bytes()


def planted(source: Path, cache: Path) -> Path:
    """A file of another answer where what is compiled is kept, whole and with its checksum."""
    assert ask(source, cache).stdout == "42\n"
    library_path, planted_path = kept_below(cache), cache.parent / "planted"
    planted_path.mkdir()
    (planted_path / source.name).write_text("int answer(void) { return 666; }\n")
    assert ask(planted_path / source.name, planted_path).stdout == "666\n"
    library_path.write_bytes(kept_below(planted_path).read_bytes())
    return library_path


def test_what_others_may_write_to_is_not_loaded(source: Path, tmp_path: Path) -> None:
    library_path = planted(source, tmp_path / "cache")
    library_path.chmod(0o777)
    result = ask(source, tmp_path / "cache")
    assert result.stdout == "42\n" and "not what was compiled (others may write to it)" in result.stderr
    assert ask(source, tmp_path / "cache").stderr == ""


def test_a_link_is_not_followed(source: Path, tmp_path: Path) -> None:
    library_path = planted(source, tmp_path / "cache")
    library_path.rename(tmp_path / "elsewhere.so")
    library_path.symlink_to(tmp_path / "elsewhere.so")
    result = ask(source, tmp_path / "cache")
    assert result.stdout == "42\n" and "so it is compiled again" in result.stderr
    assert not library_path.is_symlink() and (tmp_path / "elsewhere.so").is_file()


def test_a_folder_that_others_may_write_to_is_closed(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / PRIVATE_FOLDER_NAME
    folder.mkdir()
    folder.chmod(0o777)
    assert ask(source, tmp_path).stdout == "42\n"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


@pytest.mark.parametrize("file_kind", ["fifo", "folder"])
def test_what_is_no_file_is_not_loaded(file_kind: str, source: Path, tmp_path: Path) -> None:
    assert ask(source, tmp_path).stdout == "42\n"
    library_path = kept_below(tmp_path)
    library_path.unlink()
    os.mkfifo(library_path) if file_kind == "fifo" else library_path.mkdir()
    result = ask(source, tmp_path, timeout=60)
    assert result.stdout == "42\n" and result.stderr.startswith(
        f"warning: {library_path}: not what was compiled (no file)"
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("owner_path", ["folder", "file"])
def test_what_belongs_to_another_user_is_not_loaded(owner_path: str, source: Path, tmp_path: Path) -> None:
    library_path = planted(source, tmp_path / "cache")
    os.chown(library_path if owner_path == "file" else library_path.parent, NOBODY, NOBODY)
    result = ask(source, tmp_path / "cache")
    assert result.stdout == "42\n" and result.stderr.count("\n") == 1
    reason = "others may write to it" if owner_path == "file" else f"{library_path.parent} belongs to another user"
    assert reason in result.stderr


def test_a_cache_that_cannot_be_searched_is_done_without() -> None:
    as_nobody = (
        "from pipeline_py.nmt.fast import compiled_library\nimport os\n"
        "if os.geteuid() == 0: os.setegid(65534); os.seteuid(65534)\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        (source := Path(folder, "answer.c")).write_text(SOURCE)
        (closed := Path(folder, "closed")).mkdir(mode=0o000)
        result = run({"XDG_CACHE_HOME": str(closed)}, as_nobody + ASK, "answer", str(source))
        closed.chmod(0o700)
    assert result.stdout == "42\n", result.stderr
    assert "compiled for this process alone ([Errno 13] Permission denied" in result.stderr


def test_a_cache_that_cannot_be_written_is_done_without(source: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = ask(source, tmp_path / "file")
    assert result.stdout == "42\n" and result.stderr.count("\n") == 1
    assert result.stderr.startswith("warning: answer.c: compiled for this process alone ([Errno 20] Not a directory")


def test_a_full_disk_is_done_without(source: Path, tmp_path: Path, tiny_file_system: Path) -> None:
    """The folder for temporary files is of no matter where the cache has room, and the other way round."""
    full = {"environment": {"TMPDIR": str(tiny_file_system)}}
    assert ask(source, tmp_path / "cache", **full).stderr == ""
    result = ask(source, tiny_file_system)
    assert result.stdout == "42\n" and "compiled for this process alone" in result.stderr
    result = ask(source, tiny_file_system, **full)
    assert result.stdout == "None\n" and result.stderr.startswith("warning: answer.c: not compiled (")
    assert "No space left on device" in result.stderr and not [*(tiny_file_system / PRIVATE_FOLDER_NAME).glob("*.so")]


def test_who_has_no_home_has_no_cache(source: Path) -> None:
    unknown_user = "import os, pwd\nos.environ.pop('HOME', None)\npwd.getpwuid = {}.__getitem__\n"
    result = run({}, unknown_user + ASK, "answer", str(source))
    assert result.stdout == "42\n"
    assert "compiled for this process alone (there is no home folder to store it in)" in result.stderr


def test_without_a_compiler_torch_computes(tmp_path: Path) -> None:
    result = run({"XDG_CACHE_HOME": str(tmp_path), "PATH": str(tmp_path)}, FIND)
    assert (result.stdout, result.stderr.count("\n")) == ("False\n", 1)
    assert result.stderr.startswith("warning: elementwise.c: not compiled (neither gcc nor cc is there)")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (FAILS, "it is too old"),
        ("#!/bin/sh\nprintf '\\377\\n' >&2; exit 1\n", "\ufffd"),
        ("#!/bin/sh\n", "No such file"),
        ("#!/bin/sh\nfor last; do :; done; : > $last\n", "file too short"),
        ("#!/bin/sh\nfor last; do :; done; echo 'int other;' | /usr/bin/gcc -shared -xc - -o $last\n", "no answer"),
        ("no program", "Exec format error"),
        ("#!/bin/sh\nkill -9 $$\n", "ends with -9"),
        ("#!/bin/sh\nsleep 60\n", "hangs"),
    ],
)
def test_a_broken_compiler_is_a_warning(text: str, reason: str, source: Path, tmp_path: Path) -> None:
    program(tmp_path / "bin/gcc", text)
    short = (
        "from pipeline_py.nmt.fast import compiled_library\ncompiled_library.COMPILER_TIMEOUT_SECONDS = 0.2\n"
        if reason == "hangs"
        else ""
    )
    path = {"PATH": f"{tmp_path}/bin:/bin:/usr/bin", "XDG_CACHE_HOME": str(tmp_path)}
    shutil.copy(tmp_path / "bin/gcc", tmp_path / "bin/cc")
    result = run(path, short + ASK, "answer", str(source))
    assert (result.returncode, result.stdout) == (0, "None\n"), result.stderr
    assert result.stderr.startswith("warning: answer.c: not compiled (") and reason in result.stderr
    assert result.stderr.count("\n") == 1


def test_where_one_compiler_fails_the_next_is_asked(source: Path, tmp_path: Path) -> None:
    program(tmp_path / "bin/gcc", FAILS)
    result = ask(source, tmp_path, environment={"PATH": f"{tmp_path}/bin:/bin:/usr/bin"})
    assert (result.stdout, result.stderr) == ("42\n", "")
