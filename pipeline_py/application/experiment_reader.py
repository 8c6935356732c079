"""Configuration of an experiment outside of Snakemake."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pipeline_py.config.config_files import read_config_file
from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.corpus.shared_sentences import count_shared_sentences
from pipeline_py.plan.plan import ExperimentPlan
from pipeline_py.run.file_hash_cache import FileHashCache
from pipeline_py.run.workflow_files import find_default_config

UNSHARDED_PARSING = {"parsing": {"shard_size": 10**9}}
"""Settings that disable parsing in shards, whose number depends on the set that the text replaces."""


def read_experiment(
    directory: Path,
    configfiles: Sequence[str],
    overrides: Sequence[str],
    fixed_settings: Mapping[str, Any] = MappingProxyType({}),
) -> ExperimentConfig:
    """Read and validate the configuration of an experiment.

    Args:
        directory: folder where Snakemake is run; `configfiles` and paths in the configuration are relative to it.
        configfiles: files that override config.yaml.
        overrides: KEY=VALUE that override these files.
        fixed_settings: keys that override all others.

    Raises:
        InputError: the configuration is invalid.
    """
    from snakemake.utils import update_config

    config: dict[str, Any] = {}
    user_config: dict[str, Any] = {}
    default_config = find_default_config(directory)
    for path in (default_config, *(directory / file for file in configfiles)):
        content = read_config_file(path)
        update_config(config, content)
        update_config(user_config, content if path != default_config else {})
    command_line = {**parse_overrides(overrides), **fixed_settings}
    update_config(user_config, command_line)
    experiment = load_experiment(config, command_line, should_check_files=False, own_config=user_config)
    return experiment.model_copy(update={"data": str(directory / experiment.data)})


def plan_experiment(experiment: ExperimentConfig, project_folder: Path) -> ExperimentPlan:
    """Plan an experiment of the working folder, where Snakemake keeps hashes of the user's files.

    Raises:
        InputError: a file or folder in the configuration is invalid.
    """
    # Next to the metadata that Snakemake keeps on the files of this folder; both can be removed together.
    hash_cache_path = Path(".snakemake/contents.json")
    shared = count_shared_sentences(
        experiment, FileHashCache(hash_cache_path).hash_files, Path(".snakemake/shared_sentences.json")
    )
    return ExperimentPlan(experiment, project_folder, hash_cache_path, shared)


def parse_overrides(overrides: Sequence[str]) -> dict[str, Any]:
    """Parse KEY=VALUE like Snakemake, whose import takes most of a second."""
    if not overrides:
        return {}
    from snakemake.cli import parse_config

    return dict(parse_config(overrides))
