"""What the rules of `nmt` are given: the syntax that a system reads."""

from collections.abc import Iterable


def syntax_inputs(system: str, *splits: str) -> dict[str, list[str]]:
    return {f"{split}_syntax": [*syntax_of_system(system, split).values()] for split in splits}


def syntax_options(option: str, kinds: Iterable[str], files: list[str]) -> list[str]:
    """--OPTION=KIND=FILE for each kind of syntax."""
    return [f"--{option}={kind}={file}" for kind, file in zip(kinds, files, strict=True)]


def training_of_system(threads: int | None = None) -> str:
    """`training` as JSON: what decides the result or, told the threads of the job, all of it."""
    if threads is None:
        return EXPERIMENT.training.model_dump_json(exclude={"threads", "checkpoint_minutes", "seeds"})
    return EXPERIMENT.training.model_copy(update={"threads": threads}).model_dump_json()


def name_of_run(system: str, run: str) -> str:
    """What messages call a run: the system, and where it has several, which."""
    return system if len(EXPERIMENT.runs(system)) == 1 else f"{system} ({run})"


def sizes_of_inputs(system: str) -> list[list[int]]:
    """Dimensions of each input of each encoder, shares worked out."""
    composition = EXPERIMENT.systems[system]
    return [encoder.sizes(composition.model.embedding) for encoder in composition.encoders]
