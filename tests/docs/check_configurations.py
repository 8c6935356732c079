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
from tests.test_experiments import BASE_EXPERIMENTS, write_stand_ins


def find_configuration_errors(folders: list[str]) -> list[str]:
    """Return an error message for each invalid configuration, with its file."""
    default = yaml.safe_load(Path("config.yaml").read_text(encoding="utf-8"))
    errors = []
    for file in sorted(file for folder in folders for file in Path(folder).glob("*.yaml")):
        own_config: dict[str, Any] = {}
        for name in [*BASE_EXPERIMENTS.get(file.stem, []), file.stem]:
            own_config = merge_configs(own_config, yaml.safe_load(file.with_stem(name).read_text(encoding="utf-8")))
        for data_option in ({}, {"data": DATA_FOLDER}):
            config = merge_configs(merge_configs(default, own_config), data_option)
            try:
                write_stand_ins(load_experiment(config, should_check_files=False, own_config=own_config))
                load_experiment(config, own_config=own_config)
            except InputError as error:
                errors.append(f"{file}: {error}")
    return errors


if __name__ == "__main__":
    configuration_errors = find_configuration_errors(sys.argv[1:])
    print("\n".join(configuration_errors))
    sys.exit(bool(configuration_errors))
