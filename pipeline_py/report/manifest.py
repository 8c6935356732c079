"""What a page is made of: the plan writes it as one JSON file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pipeline_py.config.base import from_json
from pipeline_py.config.experiment import Experiment
from pipeline_py.evaluation.ceiling import Ceiling
from pipeline_py.input_error import InputError
from pipeline_py.report.ceilings import read_ceilings
from pipeline_py.report.exclusions import Exclusions, read_exclusions
from pipeline_py.report.json_object import read_object
from pipeline_py.run.record import check_input


@dataclass(frozen=True)
class Manifest:
    """Files and facts of a page.

    Attributes:
        experiment: the configuration, its systems crossed with parsers.
        files: by kind, such as `comparisons`, and by what they are of, such as `TABLE:SET`.
        published: for some tables the numbers of a paper's tables that are shown below them.
        code: hash of the code of each stage.
        versions: of installed packages.
        command: what makes the results again.
    """

    experiment: Experiment
    files: Mapping[str, Mapping[str, Path]]
    published: Mapping[str, list[str]]
    code: Mapping[str, str]
    versions: Mapping[str, str]
    command: str

    def all(self, kind: str) -> Mapping[str, Path]:
        """The files of a kind; what is not given is left out of the page."""
        return self.files.get(kind, {})

    def of(self, kind: str, name: str) -> Path | None:
        """The file of a kind that is of a name; None where there is none."""
        return self.all(kind).get(name)

    @cached_property
    def exclusions(self) -> Exclusions:
        """Systems and sets without verdicts."""
        path = next(iter(self.all("exclusions").values()), None)
        return Exclusions() if path is None else read_exclusions(path)

    @cached_property
    def ceilings(self) -> list[Ceiling]:
        """The ceilings of BLEU on all sets."""
        return [ceiling for path in self.all("ceiling").values() for ceiling in read_ceilings(path)]

    def by_set(self, kind: str, table: str) -> Iterator[tuple[str, Path]]:
        """Sets of a table, and their files of a kind."""
        for name, path in self.all(kind).items():
            of_table, _, split = name.rpartition(":")
            if of_table == table:
                yield split, path


def read_manifest(path: Path) -> Manifest:
    """Read a manifest, and see to it that the files that it names are whole.

    Raises:
        InputError: if it is none, or names a file that is missing or damaged.
    """
    content = read_object(path, remedy := "make it again")
    needed = ("experiment", "files", "published", "code", "versions", "command")
    if missing := [key for key in needed if key not in content]:
        raise InputError(f"the file has no {missing[0]!r}; {remedy}", path)
    files = {kind: {name: Path(file) for name, file in of.items()} for kind, of in content["files"].items()}
    for file in (file for of in files.values() for file in of.values()):
        if not file.is_file():
            raise InputError("no such file; make it, or the page's manifest again", file)
        check_input(file)
    experiment = from_json(Experiment, content["experiment"], "experiment")
    return Manifest(experiment, files, *(content[key] for key in needed[2:]))
