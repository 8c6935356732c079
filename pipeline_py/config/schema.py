"""The JSON schema of the configuration, for editors: `python -m pipeline_py.config.schema --output FILE`."""

import json
from pathlib import Path

from pipeline_py.config.experiment import Experiment
from pipeline_py.files.artifacts import writing
from pipeline_py.run.command import run_command


def schema_text() -> str:
    """Generate the schema from the models, as indented JSON.

    A file laid over `config.yaml` may leave out any key, so nothing is required at the top.
    """
    schema = Experiment.model_json_schema()
    schema.pop("required", None)
    return json.dumps(schema, ensure_ascii=False, indent=2) + "\n"


def write_schema(*, output: Path) -> None:
    """Write the JSON schema of the configuration, which lets editors complete and check its keys."""
    with writing(output) as file:
        file.write(schema_text())


if __name__ == "__main__":
    run_command(write_schema)
