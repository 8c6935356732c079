"""Configuration files: errors name the line before Snakemake reads the file."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pipeline_py.config.config_files import check_config_files, read_config_file
from pipeline_py.run.errors import InputError

ROOT = Path(__file__).parents[2]
DUPLICATE_KEY_MESSAGE = "and only the last would count; join the two or remove one"


@pytest.mark.parametrize("path", [ROOT / "config.yaml", *sorted(ROOT.glob("workflow/experiments/*.yaml"))], ids=str)
def test_content_is_that_of_yaml(path: Path) -> None:
    assert read_config_file(path) == yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", f", line 3: `a` is in line 1 already, {DUPLICATE_KEY_MESSAGE}"),
        ("a:\n  x: {b: 1, c: 2,\n      b: 3}\n", f", line 3: `b` is in line 2 already, {DUPLICATE_KEY_MESSAGE}"),
        ("a: [{b: 1, 'b': 3}]\n", f", line 1: `b` is in line 1 already, {DUPLICATE_KEY_MESSAGE}"),
        ("yes: 1\ntrue: 1\n", f", line 2: `true` is in line 1 already, {DUPLICATE_KEY_MESSAGE}"),
        ('{"a": {"b": 1, "b": 2}}', ": `b` occurs twice in one mapping, and only the last would count; join the two"),
        ("a: 1\n b: 2\n", ", line 2: not valid YAML: mapping values are not allowed"),
        ("a: [1, 2\nb: 3\n", ", line 2: not valid YAML: "),
        ("a: 1\n\tb: 2\n", ", line 2: not valid YAML: "),
        ("a: 1\nb\t: 2\n", ", line 2: not valid YAML: "),
        ("a: *gone\n", ", line 1: not valid YAML: "),
        ("a: !!python/object:os.system x\n", ", line 1: not valid YAML: "),
        ("\na: 2021-02-31\n", ", line 2: not valid YAML: the value cannot be read (day is out of range"),
        (f"a: {'9' * 5000}\n", ", line 1: not valid YAML: the value cannot be read (Exceeds the limit"),
        ("a: \x01\n", ", line 1: not valid YAML: "),
        ("? {a: 1}\n: 2\n", ", line 1: not valid YAML: "),
        ("--- 1\n--- 2\n", ", line 2: not valid YAML: "),
        ("__use_yte__: true\na: ?1+1\n", ": `__use_yte__` would run Python code in this file; remove it"),
        ("[" * 100_000, ": nested too deeply; correct it"),
        ("", ": the file is not a mapping of keys to values; write `KEY: VALUE`, as config.yaml does"),
        ("5\n", ": the file is not a mapping of keys to values"),
        ("[1]", ": the file is not a mapping of keys to values"),
        ("null", ": the file is not a mapping of keys to values"),
        (b"a: 1\nb: \xff\n", ", line 2: byte 3 is not UTF-8"),
    ],
)
def test_error_names_the_line(tmp_path: Path, content: str | bytes, message: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InputError) as caught:
        check_config_files([path])
    assert str(caught.value).startswith(f"{path}{message}") and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        "base: &base {a: 1, b: 2}\nmore: {<<: *base, b: 3}\n",
        "one: &one {a: 1}\ntwo: &two {a: 2}\nboth: {<<: [*one, *two], a: 3}\nagain: {<<: *one, <<: *two}\n",
        "1: a\n'1': b\n",
        "a: &a [1]\nb: *a\nc: *a\n",
    ],
)
def test_merge_keys_may_repeat_keys(tmp_path: Path, content: str) -> None:
    (tmp_path / "mine.yaml").write_text(content)
    assert read_config_file(tmp_path / "mine.yaml") == yaml.safe_load(content)


def build_nested_aliases(levels: int, element: str) -> str:
    """Return YAML in which each level refers to the level below nine times."""
    lines = ["a0: &a0 {x: 1}\n"]
    names = [(f"a{level}", f"a{level - 1}") for level in range(1, levels + 1)]
    return "".join(
        [*lines, *(f"{name}: &{name} {element.format(', '.join([f'*{below}'] * 9))}\n" for name, below in names)]
    )


@pytest.mark.parametrize("element", ["[{}]", "{{<<: [{}]}}"])
def test_multiplying_aliases_are_rejected(tmp_path: Path, element: str) -> None:
    (tmp_path / "mine.yaml").write_text(build_nested_aliases(9, element))
    with pytest.raises(
        InputError, match=r"mine.yaml, line \d: aliases \(`\*`\) make more than 100,000 keys and values"
    ):
        read_config_file(tmp_path / "mine.yaml")
    (tmp_path / "mine.yaml").write_text(build_nested_aliases(3, element))
    assert read_config_file(tmp_path / "mine.yaml")["a0"] == {"x": 1}


def test_deeply_nested_aliases_are_rejected(tmp_path: Path) -> None:
    lines = [f"a{level}: &a{level} [*a{level - 1}]\n" for level in range(1, 5000)]
    (tmp_path / "mine.yaml").write_text("".join(["a0: &a0 []\n", *lines]))
    with pytest.raises(InputError, match=r"line \d+: nested too deeply by aliases"):
        read_config_file(tmp_path / "mine.yaml")


@pytest.mark.parametrize(
    "content", ["a: &a\n  b: *a\n", "presets: &r {p: *r}\n", "a: &a [1, [*a]]\n", "a: &a {<<: *a}\n"]
)
def test_recursive_aliases_are_rejected(tmp_path: Path, content: str) -> None:
    (tmp_path / "mine.yaml").write_text(content)
    with pytest.raises(InputError, match=r"mine.yaml, line \d: this value contains itself by an alias"):
        read_config_file(tmp_path / "mine.yaml")


@pytest.mark.parametrize(
    ("value", "number"),
    [
        *(("1:30", "90"), ("017", "15"), ("-017", "-15"), ("1_000", "1000"), ("0b11", "3"), ("0x_1F", "31")),
        *(("1:30.5", "90.5"), ("1_0.5", "10.5"), ("00", "0")),
    ],
)
def test_unusual_numbers_are_rejected(tmp_path: Path, value: str, number: str) -> None:
    for content in (f"b: 1\na: {value}\n", f"b: 1\n{value}: a\n"):
        (tmp_path / "mine.yaml").write_text(content)
        with pytest.raises(InputError) as caught:
            read_config_file(tmp_path / "mine.yaml")
        assert str(caught.value) == (
            f"{tmp_path}/mine.yaml, line 2: YAML reads `{value}` as {number}; write this, or put text in quotes"
        )


@pytest.mark.parametrize("value", ["2021-01-31", "2021-01-31 10:00:00", "2021-01-31T10:00:00Z"])
def test_dates_are_rejected(tmp_path: Path, value: str) -> None:
    (tmp_path / "mine.yaml").write_text(f"a: {value}\n")
    with pytest.raises(InputError, match=rf"mine.yaml, line 1: YAML reads `{value}` as a date; put it in quotes"):
        read_config_file(tmp_path / "mine.yaml")


@pytest.mark.parametrize(
    "value", ["0", "-5", "+5", "0.5", ".5", "1.e+3", "1e5", "0x1F", "0o17", ".inf", "'1:30'", "'017'"]
)
def test_usual_numbers_and_text_are_read_like_yaml(tmp_path: Path, value: str) -> None:
    (tmp_path / "mine.yaml").write_text(f"a: {value}\n")
    assert read_config_file(tmp_path / "mine.yaml") == yaml.safe_load(f"a: {value}")


def test_missing_file_error_suggests_a_similar_file(tmp_path: Path) -> None:
    (tmp_path / "multi30k.yaml").write_text("a: 1")
    with pytest.raises(
        InputError, match=r"multi30.yaml: no such file; did you mean .*/multi30k.yaml\? .*targets before"
    ):
        check_config_files([tmp_path / "multi30.yaml"])
    with pytest.raises(InputError, match=r"table1: no such file; .*write targets before `--configfile`"):
        check_config_files([tmp_path / "table1"])
    (tmp_path / "table1.tsv").write_text("a\tb")
    with pytest.raises(
        InputError, match=r"table1.tsv, line 1: not valid YAML.*if it is a target: write targets before"
    ):
        check_config_files([tmp_path / "table1.tsv"])
    with pytest.raises(InputError, match="this is not a file"):
        check_config_files([tmp_path])
    with pytest.raises(InputError, match="the name is too long"):
        check_config_files([tmp_path / ("x" * 300)])


@pytest.mark.parametrize(
    "options", [["--configfile", "gone.yaml"], ["--configfile=gone.yaml"], ["--configfiles", "gone.yaml"]]
)
def test_files_on_the_command_line_are_checked(tmp_path: Path, options: list[str]) -> None:
    code = "from pipeline_py.config.config_files import check_command_line_files as check; check(); print('good')"
    command = [sys.executable, "-c", code, "table1", "--config", "a=1", *options]
    environment = {"PYTHONPATH": str(ROOT)}
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (1, "") and result.stderr.startswith(
        "error: gone.yaml: no such file; "
    )
    (tmp_path / "gone.yaml").write_text("a: 1")
    assert subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True).stdout == "good\n"
