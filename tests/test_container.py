"""The recipe of the container image agrees with the files and the description of the package."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from pipeline_py.nmt.fast import compiled_library

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def read_instructions() -> list[tuple[str, str]]:
    """Return the keyword and the arguments of each instruction of the recipe, in order."""
    lines = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", "").splitlines()
    return [
        (keyword, arguments)
        for line in lines
        if line and not line.startswith("#")
        for keyword, _, arguments in [line.partition(" ")]
    ]


def select_arguments(keyword: str) -> list[str]:
    return [arguments for instruction, arguments in read_instructions() if instruction == keyword]


def test_the_image_has_the_python_of_the_environments() -> None:
    (base,) = select_arguments("FROM")
    text = "".join(file.read_text("utf-8") for file in (ROOT / "envs").glob("*.yaml"))
    assert {base} == {f"python:{version}-slim" for version in re.findall(r"- python =(.+)", text)}


def test_the_image_installs_the_pytorch_of_the_package() -> None:
    """It is installed first, with its own options, and satisfies the requirement of the package."""
    _, torch, package, *_ = select_arguments("RUN")
    (command,) = re.findall(r'python -c "([^"]+)" > torch.txt', torch)
    result = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True, cwd=ROOT)
    assert result.stdout.split() == [
        requirement for requirement in PROJECT["dependencies"] if requirement.startswith("torch==")
    ]
    assert "$TORCH_OPTIONS -r torch.txt" in torch and "pip install --no-cache-dir . $PLUGINS" in package
    assert {argument.partition("=")[0] for argument in select_arguments("ARG")} == {"TORCH_OPTIONS", "PLUGINS"}


def test_the_image_has_a_compiler_for_the_kernels() -> None:
    assert any(compiler in select_arguments("RUN")[0].split() for compiler in compiled_library.COMPILERS)


def test_copied_files_exist_and_are_not_ignored() -> None:
    copied_paths = {source for arguments in select_arguments("COPY") for source in arguments.split()[:-1]}
    ignored_pattern, *exceptions = [
        line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line and not line.startswith("#")
    ]
    assert (
        ignored_pattern == "*"
        and {line.removeprefix("!") for line in exceptions if line.startswith("!")} == copied_paths
    )
    assert {"pyproject.toml", PROJECT["readme"], *PROJECT["license-files"]} < copied_paths
    assert all((ROOT / source).exists() for source in copied_paths)
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    project_files = {pattern.partition("/")[0] for pattern in settings["package-data"]["pipeline_py.project"]}
    assert {"setup.py", "pipeline_py", "embedded_grammar", *project_files} <= copied_paths


def test_the_image_runs_the_code_of_a_clone_and_not_as_root() -> None:
    assert select_arguments("WORKDIR")[-1] == "/work" and "PYTHONPATH=/work" in select_arguments("ENV")
    assert (
        select_arguments("USER") == ["user"]
        and json.loads(select_arguments("CMD")[-1])[0] == "snakemake"
        and not select_arguments("ENTRYPOINT")
    )
