"""Files of a configuration: what is wrong in them is told with its line before Snakemake reads them."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pipeline_py.config.loading.files import check_files, read_file
from pipeline_py.input_error import InputError

ROOT = Path(__file__).parents[3]
LAST = "and only the last would count; join the two or remove one"


@pytest.mark.parametrize("path", [ROOT / "config.yaml", *sorted(ROOT.glob("workflow/experiments/*.yaml"))], ids=str)
def test_a_file_says_what_yaml_says(path: Path) -> None:
    assert read_file(path) == yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a: 1\nb: 2\na: 3\n", f", line 3: `a` is in line 1 already, {LAST}"),
        ("a:\n  x: {b: 1, c: 2,\n      b: 3}\n", f", line 3: `b` is in line 2 already, {LAST}"),
        ("a: [{b: 1, 'b': 3}]\n", f", line 1: `b` is in line 1 already, {LAST}"),
        ("yes: 1\ntrue: 1\n", f", line 2: `true` is in line 1 already, {LAST}"),
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
        ("[" * 100_000, ": nested too deeply; correct it"),
        ("", ": the file is not a mapping of keys to values; write `KEY: VALUE`, as config.yaml does"),
        ("5\n", ": the file is not a mapping of keys to values"),
        ("[1]", ": the file is not a mapping of keys to values"),
        ("null", ": the file is not a mapping of keys to values"),
        (b"a: 1\nb: \xff\n", ", line 2: byte 3 is not UTF-8"),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, content: str | bytes, sentence: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InputError) as caught:
        check_files([path])
    assert str(caught.value).startswith(f"{path}{sentence}") and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        "base: &base {a: 1, b: 2}\nmore: {<<: *base, b: 3}\n",
        "one: &one {a: 1}\ntwo: &two {a: 2}\nboth: {<<: [*one, *two], a: 3}\nagain: {<<: *one, <<: *two}\n",
        "1: a\n'1': b\n",
        "a: &a [1]\nb: *a\nc: *a\n",
    ],
)
def test_what_merges_is_no_key_twice(tmp_path: Path, content: str) -> None:
    (tmp_path / "mine.yaml").write_text(content)
    assert read_file(tmp_path / "mine.yaml") == yaml.safe_load(content)


def test_a_mapping_in_itself_ends(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("a: &a\n  b: *a\n")
    assert "a" in read_file(tmp_path / "mine.yaml")


def test_what_is_no_file_is_told_with_what_is_near(tmp_path: Path) -> None:
    (tmp_path / "multi30k.yaml").write_text("a: 1")
    with pytest.raises(
        InputError, match=r"multi30.yaml: no such file; did you mean .*/multi30k.yaml\? .*targets before"
    ):
        check_files([tmp_path / "multi30.yaml"])
    with pytest.raises(InputError, match=r"table1: no such file; .*write targets before `--configfile`"):
        check_files([tmp_path / "table1"])
    (tmp_path / "table1.tsv").write_text("a\tb")
    with pytest.raises(
        InputError, match=r"table1.tsv, line 1: not valid YAML.*if it is a target: write targets before"
    ):
        check_files([tmp_path / "table1.tsv"])
    with pytest.raises(InputError, match="this is not a file"):
        check_files([tmp_path])
    with pytest.raises(InputError, match="the name is too long"):
        check_files([tmp_path / ("x" * 300)])


@pytest.mark.parametrize(
    "options", [["--configfile", "gone.yaml"], ["--configfile=gone.yaml"], ["--configfiles", "gone.yaml"]]
)
def test_the_command_line_is_looked_at_before_snakemake_reads_files(tmp_path: Path, options: list[str]) -> None:
    code = "from pipeline_py.config.loading.files import check_command_line as check; check(); print('good')"
    command = [sys.executable, "-c", code, "table1", "--config", "a=1", *options]
    environment = {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "") and done.stderr.startswith("error: gone.yaml: no such file; ")
    (tmp_path / "gone.yaml").write_text("a: 1")
    assert subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True).stdout == "good\n"
