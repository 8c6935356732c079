"""The JSON schema of the configuration, for editors: `python -m pipeline_py.config.schema --output FILE`."""

import json
from pathlib import Path

from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.files.artifacts import open_atomic_text_file
from pipeline_py.run.command_line import run_command


def render_json_schema() -> str:
    """Return the schema of `ExperimentConfig` as indented JSON.

    No top-level key is required, because an experiment's file inherits the others from `config.yaml`.
    """
    schema = ExperimentConfig.model_json_schema()
    schema.pop("required", None)
    return json.dumps(schema, ensure_ascii=False, indent=2) + "\n"


def write_schema(*, output: Path) -> None:
    """Write the JSON schema of the configuration, which lets editors complete and check its keys.

    Args:
        output: The schema as JSON.
    """
    with open_atomic_text_file(output) as file:
        file.write(render_json_schema())


if __name__ == "__main__":
    run_command(write_schema)
