"""Run a job: check its arguments and inputs, reuse cached outputs or call the stage, and record what was made."""

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

from pipeline_py.run.errors import InputError
from pipeline_py.run.job import hash_json, is_output, list_files
from pipeline_py.run.output_cache import OutputCache
from pipeline_py.run.provenance import made_by
from pipeline_py.run.record import check_input, hash_content, read_record, remove_records, write_records

CHECKPOINTS = "checkpoints"
"""The parameter of a stage for a folder of its checkpoints.

A job with another identity gets another folder. All of them are removed when the outputs are complete.
"""

RECORDED = ("stage", "plan", "wildcards", "identity", "process", "software", "modules", "is_cached", "results")
"""Keys of a job that its record repeats."""


@dataclass(frozen=True)
class Loaded:
    """Marks a parameter of a stage that its module's function `load` returns: `Annotated[Networks, Loaded()]`.

    `load` is called once for all sets of a job, with those arguments of the stage that it has parameters for.
    """


def run_job(job: Mapping[str, Any], can_reuse: bool = True) -> None:
    """Run a job that `Plan.call` or a record describes.

    Args:
        job: `stage`; `arguments` of all sets; `calls`, the further arguments of each set, or of the only call;
            `results`, the folder of results; `identity`; `is_cached`, whether outputs are cached; `plan` and
            `wildcards`, which tell the plan what the job is; `process`, a hash of settings, code and versions.
        can_reuse: whether outputs may come from the cache.

    Raises:
        InputError: an argument is invalid, an input is damaged, or the stage refuses its input.
    """
    stage = Stage(job["stage"])
    for arguments in job["calls"]:
        _run_call(stage, {**job["arguments"], **arguments}, job, can_reuse)


def run_again(path: Path) -> None:
    """Run the job of a record again, without its cache.

    Raises:
        InputError: the file is no record, or as for `run_job`.
    """
    record = read_record(path)
    if record is None or not {"stage", "arguments", "results"} <= record.keys():
        raise InputError("not the record of a job; give a file NAME.job.json", path)
    Stage(record["stage"])
    software = record.get("software", {})
    names = [name for name in software if name != "code"]
    if software and made_by(record["stage"], *names, parts=record.get("modules", ())) != software:
        # The outputs are of other code or versions, so that they are no outputs of the recorded job.
        record = {**record, "identity": None, "process": ""}
    run_job({**record, "calls": [{}]}, can_reuse=False)


class Stage:
    """The function of a stage, with what it loads once for several calls."""

    def __init__(self, name: str) -> None:
        """Import a stage: "nmt.translate"."""
        self.name = name
        try:
            self.module = import_module(f"pipeline_py.{name}")
            self.function: Callable[..., None] = getattr(self.module, name.rpartition(".")[2])
        except (ModuleNotFoundError, AttributeError) as error:
            if isinstance(error, ModuleNotFoundError) and not f"pipeline_py.{name}".startswith(str(error.name)):
                raise
            raise InputError(f"there is no stage `{name}`") from None
        self._loaded: dict[str, Any] = {}

    def validate(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Convert JSON values to the types of the parameters.

        Raises:
            InputError: a parameter is missing or unknown, or a value does not have its type.
        """
        try:
            return dict(_arguments_type(self.function).validate_python(arguments))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "arguments"
            message = first["msg"].removeprefix("Value error, ")
            raise InputError(f"{self.name}: {place}: {message}; correct the configuration") from None

    def call(self, arguments: Mapping[str, Any], loaded: Any = None) -> Any:
        """Call the stage with validated arguments.

        Args:
            arguments: by parameter.
            loaded: what the module's `load` has returned; by default, it is called once.
        """
        names = _loaded_parameters(self.function)
        if names and loaded is None:
            loaded = self.load(arguments)
        return self.function(**dict.fromkeys(names, loaded), **arguments)

    def hash_read_parts(self, arguments: Mapping[str, Any]) -> dict[Path, str]:
        """Return hashes of the parts of inputs that decide the outputs, if the module's `hash_inputs` has such."""
        function = getattr(self.module, "hash_inputs", None)
        return {} if function is None else function(**_select(function, arguments))

    def load(self, arguments: Mapping[str, Any]) -> Any:
        """Return what the module loads for a call with these arguments; equal arguments load once."""
        values = _select(self.module.load, arguments)
        key = repr(values)
        if key not in self._loaded:
            self._loaded[key] = self.module.load(**values)
        return self._loaded[key]


def _select(function: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters
    return {name: value for name, value in arguments.items() if name in parameters}


def _arguments_type(function: Callable[..., None]) -> TypeAdapter[Any]:
    parameters = inspect.signature(function, eval_str=True).parameters
    loaded = _loaded_parameters(function)
    fields = {name: parameter.annotation for name, parameter in parameters.items() if name not in loaded}
    required = {name for name in fields if parameters[name].default is inspect.Parameter.empty}
    arguments = TypedDict("arguments", fields, total=False)  # type: ignore[misc]
    arguments.__required_keys__, arguments.__optional_keys__ = frozenset(required), frozenset(fields.keys() - required)
    return TypeAdapter(with_config(ConfigDict(extra="forbid", arbitrary_types_allowed=True))(arguments))


def _loaded_parameters(function: Callable[..., None]) -> list[str]:
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    return [
        parameter.name
        for parameter in parameters
        if any(isinstance(mark, Loaded) for mark in getattr(parameter.annotation, "__metadata__", ()))
    ]


def _run_call(stage: Stage, arguments: Mapping[str, Any], job: Mapping[str, Any], can_reuse: bool) -> None:
    start = time.perf_counter()
    if "threads" in job and "threads" in inspect.signature(stage.function).parameters:
        arguments = {**arguments, "threads": job["threads"]}
    validated = stage.validate(arguments)
    outputs = [path for name, value in validated.items() if is_output(name) for path in list_files(value)]
    inputs = [path for name, value in validated.items() if not is_output(name) for path in list_files(value)]
    for path in inputs:
        check_input(path)
    hashes = {path: hash_content(path) for path in inputs if path.exists() and not path.is_dir()}
    key = _cache_key(job["process"], validated, hashes | stage.hash_read_parts(validated))
    if validated.get(CHECKPOINTS) is not None:
        validated[CHECKPOINTS] /= key
    is_cached = can_reuse and job.get("is_cached")
    cache = OutputCache(cache_folder(outputs[0]) if is_cached else None, key)
    remove_records(outputs)
    is_restored = cache.restore(*outputs)
    if not is_restored and stage.call(validated) is not False:
        cache.store(*outputs)
    record = {
        **{name: job[name] for name in RECORDED if name in job},
        "arguments": arguments,
        "inputs": {str(path): content for path, content in hashes.items()},
        "seconds": round(time.perf_counter() - start, 3),
    }
    write_records(record, [path for path in outputs if path.exists()], Path(job["results"]))
    if validated.get(CHECKPOINTS) is not None and not is_restored:
        shutil.rmtree(validated[CHECKPOINTS].parent, ignore_errors=True)


def _cache_key(process: str, arguments: Mapping[str, Any], hashes: Mapping[Path, str]) -> str:
    """Hash what the outputs of one call depend on: settings, code and versions, and the content of its inputs."""

    def describe(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: describe(item) for name, item in value.items()}
        if isinstance(value, list):
            return [*map(describe, value)]
        return hashes.get(value) if isinstance(value, Path) else None

    inputs = {
        name: describe(value)
        for name, value in arguments.items()
        if not is_output(name) and not hashes.keys().isdisjoint(list_files(value))
    }
    outputs = sorted(name for name, value in arguments.items() if is_output(name) and value is not None)
    return hash_json([process, inputs, outputs])


def cache_folder(output: Path) -> Path:
    """Return the folder of a job's cache, which is not an output, since Snakemake deletes outputs before a job."""
    return output.parent / "cache" / output.name
