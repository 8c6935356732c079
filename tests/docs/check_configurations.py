"""Validate configurations over `config.yaml` of the working directory, and write stand-ins for the files they name.

python -m tests.docs.check_configurations FOLDER…
"""

import sys
from pathlib import Path
from typing import Any

import yaml

from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.run.errors import InputError
from tests.docs.reader_project import DATA_FOLDER
from tests.project_copy import merge_configs
from tests.test_experiments import BELOW, write_stand_ins


def find_configuration_errors(folders: list[str]) -> list[str]:
    """One sentence for each configuration that is none, its file before it."""
    default = yaml.safe_load(Path("config.yaml").read_text(encoding="utf-8"))
    found = []
    for file in sorted(file for folder in folders for file in Path(folder).glob("*.yaml")):
        own: dict[str, Any] = {}
        for name in [*BELOW.get(file.stem, []), file.stem]:
            own = merge_configs(own, yaml.safe_load(file.with_stem(name).read_text(encoding="utf-8")))
        for data in ({}, {"data": DATA_FOLDER}):
            config = merge_configs(merge_configs(default, own), data)
            try:
                write_stand_ins(load_experiment(config, should_check_files=False, own_config=own))
                load_experiment(config, own_config=own)
            except InputError as error:
                found.append(f"{file}: {error}")
    return found


if __name__ == "__main__":
    configuration_errors = find_configuration_errors(sys.argv[1:])
    print("\n".join(configuration_errors))
    sys.exit(bool(configuration_errors))
