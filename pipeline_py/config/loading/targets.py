"""What is said of a target that nothing makes."""

import difflib
from collections.abc import Sequence

from pipeline_py.config.experiment import Experiment


def no_target(target: str, experiment: Experiment, rules: Sequence[str] = ()) -> str:
    """Say in one sentence that there is no such target, which is nearest, and which tables and folders of them are.

    Args:
        target: a name, or the path of a file.
        experiment: the whole configuration.
        rules: names of rules, which are targets too.
    """
    named = [*experiment.tables, *experiment.figures]
    whole = list(dict.fromkeys(name.partition("/")[0] for name in named))
    listed = f"tables: {', '.join(whole) or 'none'}"
    return f"there is no target `{target}`; {_instead(target, experiment, [*whole, *rules])}{listed}"


def _instead(target: str, experiment: Experiment, names: Sequence[str]) -> str:
    results = experiment.folder("results")
    named = [*experiment.tables, *experiment.figures]
    if target in named:  # it stands in a folder, else its name were a target
        file = f"{results}/{target}.tsv"
        if target in experiment.figures:
            file = f"{results}/figures/{target}.{experiment.figures[target].sentences[0]}.svg"
        return f"ask for its folder `{target.partition('/')[0]}`, or for the file {file}; "
    files = [f"{results}/{table}.{ending}" for table in experiment.tables for ending in ("tsv", "md", "tex")]
    near = difflib.get_close_matches(target, [*names, *named, *files, f"{results}/report.html"], n=1)
    if "/" in target or "." in target:
        near = near or _with_known_parts(target, [*experiment.systems, *experiment.parsers, *experiment.units])
        return f"did you mean {near[0]}? " if near else "no rule makes such a file (docs/stages.md lists all files); "
    return f"did you mean `{near[0]}`? " if near else ""


def _with_known_parts(path: str, known: Sequence[str]) -> list[str]:
    """The path with what is like the name of a system, parser or scheme in the place of such; nothing without."""
    parts = path.split("/")
    for place, part in enumerate(parts):
        near = difflib.get_close_matches(part, known, n=1, cutoff=0.7)
        if near and part not in known:
            return ["/".join([*parts[:place], near[0], *parts[place + 1 :]])]
    return []
