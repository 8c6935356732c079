"""The recipe of the container image: what it copies is there, and it installs the package as it is described."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from pipeline_py.nmt.fast import compiled_library

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def instructions() -> list[tuple[str, str]]:
    """Keyword and rest of each instruction of the recipe, in their order."""
    lines = (ROOT / "envs/Containerfile").read_text("utf-8").replace("\\\n", "").splitlines()
    return [
        (word, rest) for line in lines if line and not line.startswith("#") for word, _, rest in [line.partition(" ")]
    ]


def said(keyword: str) -> list[str]:
    return [rest for word, rest in instructions() if word == keyword]


def test_the_image_has_the_python_of_the_environments() -> None:
    (base,) = said("FROM")
    text = "".join(file.read_text("utf-8") for file in (ROOT / "envs").glob("*.yaml"))
    assert {base} == {f"python:{version}-slim" for version in re.findall(r"- python =(.+)", text)}


def test_the_image_installs_the_pytorch_of_the_package() -> None:
    """It is installed first, with options of its own, and then does for the package."""
    _, torch, package, *_ = said("RUN")
    (code,) = re.findall(r'python -c "([^"]+)" > torch.txt', torch)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == [one for one in PROJECT["dependencies"] if one.startswith("torch==")]
    assert "$TORCH_OPTIONS -r torch.txt" in torch and "pip install --no-cache-dir . $PLUGINS" in package
    assert {argument.partition("=")[0] for argument in said("ARG")} == {"TORCH_OPTIONS", "PLUGINS"}


def test_the_image_has_what_compiles_the_kernels() -> None:
    assert any(compiler in said("RUN")[0].split() for compiler in compiled_library.COMPILERS)


def test_what_the_image_copies_is_there_and_not_ignored() -> None:
    copied = {source for rest in said("COPY") for source in rest.split()[:-1]}
    ignored, *others = [
        line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line and not line.startswith("#")
    ]
    assert ignored == "*" and {line.removeprefix("!") for line in others if line.startswith("!")} == copied
    assert {"pyproject.toml", PROJECT["readme"], *PROJECT["license-files"]} < copied
    assert all((ROOT / source).exists() for source in copied)
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["packages"]["find"]
    assert {name.removesuffix("*") for name in packages["include"]} < copied


def test_the_image_runs_the_code_of_a_clone_and_not_as_root() -> None:
    assert said("WORKDIR")[-1] == "/work" and "PYTHONPATH=/work" in said("ENV")
    assert said("USER") == ["user"] and json.loads(said("CMD")[-1])[0] == "snakemake" and not said("ENTRYPOINT")
