"""Files given on the command line as NAME=FILE."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pipeline_py.input_error import InputError


def named_files(pairs: Sequence[str], option: str) -> dict[str, Path]:
    """Map names to files, in the order given.

    Args:
        pairs: values of the option, `NAME=FILE`.
        option: the option's name, for messages.

    Raises:
        InputError: if a value is no pair, a name comes twice or is not printable, or a file is missing.
    """
    files: dict[str, Path] = {}
    for pair in pairs:
        name, path = named_file(pair, option)
        if name in files:
            raise InputError(f"{option} names {name!r} twice; give every name once")
        files[name] = path
    return files


def named_file(pair: str, option: str) -> tuple[str, Path]:
    """Split `NAME=FILE`, one value of the option.

    A name such as `SDAtt (n=2)`, and a path, may hold a `=` themselves: the pair is cut at the first one that
    has an existing file behind it.

    Raises:
        InputError: if the value is no pair, the name is not printable, or the file is missing.
    """
    places = [place for place, character in enumerate(pair) if character == "="]
    if not places:
        raise InputError(f"{option} {pair!r} has no '='; write it as NAME=FILE")
    place = next((place for place in places if Path(pair[place + 1 :]).is_file()), places[0])
    name, path = pair[:place], Path(pair[place + 1 :])
    if not name or not name.isprintable():
        raise InputError(f"{option} {pair!r} needs a printable name before the '='")
    if not path.is_file():
        raise InputError(f"no such file for {option} {name!r}; make it or correct the path", path)
    return name, path


def by_system(files: Mapping[str, Path]) -> dict[str, list[Path]]:
    """Gather the runs of each system, in the order given: `NAME:RUN`, or `NAME` alone where there is one run."""
    systems: dict[str, list[Path]] = {}
    for name, path in files.items():
        systems.setdefault(name.rpartition(":")[0] or name, []).append(path)
    return systems


def by_set(files: Mapping[str, Path]) -> dict[str, dict[str, dict[str, Path]]]:
    """Gather the files of `--statistics` that are called NAME:RUN:SET, by set, system and run.

    Raises:
        InputError: if one is called otherwise.
    """
    sets: dict[str, dict[str, dict[str, Path]]] = {}
    for key, path in files.items():
        parts = key.split(":")
        if len(parts) != 3 or not all(parts):
            raise InputError(f"--statistics {key!r} is not of the form NAME:RUN:SET, without ':' in a name; correct it")
        system, run, on = parts
        sets.setdefault(on, {}).setdefault(system, {})[run] = path
    return sets
