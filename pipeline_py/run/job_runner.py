"""Run a job: check its arguments and inputs, restore cached outputs or call the stage, and write records."""

import inspect
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from pipeline_py.run.cpu_usage import get_peak_memory_mb
from pipeline_py.run.errors import InputError
from pipeline_py.run.job import hash_json, is_output_parameter, iterate_argument_paths
from pipeline_py.run.job_record import check_input_file, hash_content, read_record, remove_records, write_records
from pipeline_py.run.output_cache import OutputCache
from pipeline_py.run.provenance import compute_provenance

CHECKPOINTS_PARAMETER = "checkpoints"
"""Parameter of a stage for the folder of its checkpoints.

Each job identity has its own subfolder; all are removed when the outputs are complete.
"""

RECORDED_KEYS = (
    "stage",
    "plan",
    "wildcards",
    "identity",
    "process",
    "software",
    "modules",
    "settings",
    "is_cached",
    "results",
)
"""Keys of a job that are copied into its record."""


@dataclass(frozen=True)
class LoadedParameter:
    """Annotation of a parameter whose value `load` of the stage's module returns.

    Example: `Annotated[Networks, LoadedParameter()]`.

    `load` is called once for all sets of a job, with the arguments of the stage that it has parameters for.
    """


def run_job(job: Mapping[str, Any], can_use_cache: bool = True) -> None:
    """Run a job that `ExperimentPlan.serialize_call` or a record describes.

    Args:
        job: `stage`; `arguments` of all sets; `calls`, additional arguments of each set, or of the only call;
            `results`, the folder of results; `identity`; `is_cached`; `plan` and `wildcards`, which identify the job in
            the plan; `process`, a hash of settings, code and versions.
        can_use_cache: whether outputs may come from the cache.

    Raises:
        InputError: an argument is invalid, an input is damaged, or the stage refuses its input.
    """
    stage = StageFunction(job["stage"])
    for arguments in job["calls"]:
        _run_call(stage, {**job["arguments"], **arguments}, job, can_use_cache)


def rerun_job(record_path: Path) -> None:
    """Run the job of a record again without its cache.

    Raises:
        InputError: the file is not a record, or `run_job` fails.
    """
    record = read_record(record_path)
    if record is None or not {"stage", "arguments", "results"} <= record.keys():
        raise InputError("not the record of a job; give a file NAME.job.json", record_path)
    StageFunction(record["stage"])
    software = record.get("software", {})
    names = [name for name in software if name != "code"]
    if software and compute_provenance(record["stage"], *names, module_names=record.get("modules", ())) != software:
        # Code or versions have changed; the new outputs are not outputs of the recorded job.
        record = {**record, "identity": None, "process": ""}
    run_job({**record, "calls": [{}]}, can_use_cache=False)


class StageFunction:
    """The function of a stage, with values that are loaded once for several calls."""

    def __init__(self, stage_name: str) -> None:
        """Import a stage, e.g. "nmt.translate"."""
        self.stage_name = stage_name
        try:
            self.module = import_module(f"pipeline_py.{stage_name}")
            self.function: Callable[..., None] = getattr(self.module, stage_name.rpartition(".")[2])
        except (ModuleNotFoundError, AttributeError) as error:
            if isinstance(error, ModuleNotFoundError) and not f"pipeline_py.{stage_name}".startswith(str(error.name)):
                raise
            raise InputError(f"there is no stage `{stage_name}`") from None
        self._loaded_values: dict[str, Any] = {}

    def validate_arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Convert JSON values to the types of the parameters.

        Raises:
            InputError: a parameter is missing or unknown, or a value does not have its type.
        """
        try:
            return dict(_build_arguments_type(self.function).validate_python(arguments))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "arguments"
            message = first["msg"].removeprefix("Value error, ")
            raise InputError(f"{self.stage_name}: {place}: {message}; correct the configuration") from None

    def call_function(self, arguments: Mapping[str, Any], loaded_value: Any = None) -> Any:
        """Call the stage with validated arguments.

        Args:
            arguments: arguments by parameter.
            loaded_value: a result of `load_shared_value`; by default, the value is loaded once.
        """
        names = _get_loaded_parameters(self.function)
        if names and loaded_value is None:
            loaded_value = self.load_shared_value(arguments)
        return self.function(**dict.fromkeys(names, loaded_value), **arguments)

    def hash_partial_inputs(self, arguments: Mapping[str, Any]) -> dict[Path, str]:
        """Return hashes of the parts of inputs that affect the outputs, if the module has a function `hash_inputs`."""
        function = getattr(self.module, "hash_inputs", None)
        return {} if function is None else function(**_select_arguments(function, arguments))

    def load_shared_value(self, arguments: Mapping[str, Any]) -> Any:
        """Return the value of the module's `load` for a call; equal arguments load once."""
        values = _select_arguments(self.module.load, arguments)
        key = repr(values)
        if key not in self._loaded_values:
            self._loaded_values[key] = self.module.load(**values)
        return self._loaded_values[key]


def _select_arguments(function: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters
    return {name: value for name, value in arguments.items() if name in parameters}


def _build_arguments_type(function: Callable[..., None]) -> TypeAdapter[Any]:
    parameters = inspect.signature(function, eval_str=True).parameters
    loaded = _get_loaded_parameters(function)
    fields = {name: parameter.annotation for name, parameter in parameters.items() if name not in loaded}
    required = {name for name in fields if parameters[name].default is inspect.Parameter.empty}
    arguments = TypedDict("arguments", fields, total=False)  # type: ignore[misc]
    arguments.__required_keys__, arguments.__optional_keys__ = frozenset(required), frozenset(fields.keys() - required)
    return TypeAdapter(with_config(ConfigDict(extra="forbid", arbitrary_types_allowed=True))(arguments))


def _get_loaded_parameters(function: Callable[..., None]) -> list[str]:
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    return [
        parameter.name
        for parameter in parameters
        if any(isinstance(mark, LoadedParameter) for mark in getattr(parameter.annotation, "__metadata__", ()))
    ]


def _run_call(stage: StageFunction, arguments: Mapping[str, Any], job: Mapping[str, Any], can_use_cache: bool) -> None:
    start = time.perf_counter()
    if "threads" in job and "threads" in inspect.signature(stage.function).parameters:
        arguments = {**arguments, "threads": job["threads"]}
    validated = stage.validate_arguments(arguments)
    outputs = [
        path for name, value in validated.items() if is_output_parameter(name) for path in iterate_argument_paths(value)
    ]
    inputs = [
        path
        for name, value in validated.items()
        if not is_output_parameter(name)
        for path in iterate_argument_paths(value)
    ]
    for path in inputs:
        check_input_file(path)
    hashes = {path: hash_content(path) for path in inputs if path.exists() and not path.is_dir()}
    key = _compute_cache_key(job["process"], validated, hashes | stage.hash_partial_inputs(validated))
    if validated.get(CHECKPOINTS_PARAMETER) is not None:
        validated[CHECKPOINTS_PARAMETER] /= key
    is_cached = can_use_cache and job.get("is_cached")
    cache = OutputCache(get_cache_folder(outputs[0]) if is_cached else None, key)
    remove_records(outputs)
    is_restored = cache.restore(*outputs)
    if not is_restored and stage.call_function(validated) is not False:
        cache.store(*outputs)
    record = {
        **{name: job[name] for name in RECORDED_KEYS if name in job},
        "arguments": arguments,
        "inputs": {str(path): content for path, content in hashes.items()},
        "seconds": round(time.perf_counter() - start, 3),
        **({} if is_restored else {"peak_memory_mb": get_peak_memory_mb()}),
    }
    write_records(record, [path for path in outputs if path.exists()], Path(job["results"]))
    if validated.get(CHECKPOINTS_PARAMETER) is not None and not is_restored:
        shutil.rmtree(validated[CHECKPOINTS_PARAMETER].parent, ignore_errors=True)


def _compute_cache_key(process_hash: str, arguments: Mapping[str, Any], input_hashes: Mapping[Path, str]) -> str:
    """Hash everything that affects the outputs of a call: settings, code, versions and contents of inputs."""

    def replace_paths_by_hashes(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: replace_paths_by_hashes(item) for name, item in value.items()}
        if isinstance(value, list):
            return [*map(replace_paths_by_hashes, value)]
        return input_hashes.get(value) if isinstance(value, Path) else None

    inputs = {
        name: replace_paths_by_hashes(value)
        for name, value in arguments.items()
        if not is_output_parameter(name) and not input_hashes.keys().isdisjoint(iterate_argument_paths(value))
    }
    outputs = sorted(name for name, value in arguments.items() if is_output_parameter(name) and value is not None)
    return hash_json([process_hash, inputs, outputs])


def get_cache_folder(output_path: Path) -> Path:
    """Return the cache folder of a job; it is not an output, since Snakemake deletes outputs before a job."""
    return output_path.parent / "cache" / output_path.name
