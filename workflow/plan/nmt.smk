"""What the rules of `nmt` are given: the syntax that a system reads, and whether it takes the card."""

from shutil import which


def syntax_inputs(system: str, *splits: str) -> dict[str, list[str]]:
    return {f"{split}_syntax": [*syntax_of_pieces(system, split).values()] for split in splits}


def syntax_options(option: str, system: str, files: list[str]) -> list[str]:
    """--OPTION=KIND=FILE for each kind of syntax."""
    kinds = EXPERIMENT.systems[system].syntax
    return [f"--{option}={kind}={file}" for kind, file in zip(kinds, files, strict=True)]


def trains_on_gpu() -> int:
    """1 where training takes the card: asked for, or present."""
    if EXPERIMENT.training.device == "auto":
        return int(which("nvidia-smi") is not None)
    return int(EXPERIMENT.training.device == "cuda")
