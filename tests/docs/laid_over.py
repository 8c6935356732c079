"""Validate configurations over `config.yaml` of the working directory, and write stand-ins for the files they name.

python -m tests.docs.laid_over FOLDER…
"""

import sys
from pathlib import Path
from typing import Any

import yaml

from pipeline_py.config.load import load
from pipeline_py.run.errors import InputError
from tests.docs.readers_place import ELSEWHERE
from tests.test_experiments import BELOW, write_stand_ins
from tests.workplace import merged


def mistakes(folders: list[str]) -> list[str]:
    """One sentence for each configuration that is none, its file before it."""
    default = yaml.safe_load(Path("config.yaml").read_text(encoding="utf-8"))
    found = []
    for file in sorted(file for folder in folders for file in Path(folder).glob("*.yaml")):
        own: dict[str, Any] = {}
        for name in [*BELOW.get(file.stem, []), file.stem]:
            own = merged(own, yaml.safe_load(file.with_stem(name).read_text(encoding="utf-8")))
        for data in ({}, {"data": ELSEWHERE}):
            config = merged(merged(default, own), data)
            try:
                write_stand_ins(load(config, check_files=False, own=own))
                load(config, own=own)
            except InputError as error:
                found.append(f"{file}: {error}")
    return found


if __name__ == "__main__":
    found = mistakes(sys.argv[1:])
    print("\n".join(found))
    sys.exit(bool(found))
