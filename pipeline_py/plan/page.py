"""What the page of the whole experiment is made of."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path
from typing import Any

import pipeline_py
from pipeline_py.config.experiment import Experiment
from pipeline_py.files.artifacts import write_json
from pipeline_py.plan.claims import EVERYTHING, ClaimsPlan
from pipeline_py.plan.corpus import CorpusPlan
from pipeline_py.plan.evaluation import EvaluationPlan
from pipeline_py.plan.report import ReportPlan
from pipeline_py.plan.subword import SubwordPlan
from pipeline_py.plan.syntax import SyntaxPlan
from pipeline_py.run.job import Job
from pipeline_py.run.provenance import made_by
from pipeline_py.run.record import remove_records, write_records

TABLES_OF_PAPERS = {"table1": ("sdatt", ["1"]), "table2": ("sdatt", ["2"]), "sdrnmt": ("sdrnmt", ["1"])}
"""Tables of papers whose numbers stand below tables that have no folder of the paper's name."""

SOFTWARE = ["snakemake", "torch", "stanza", "sacrebleu", "sacremoses", "subword-nmt", "sil-machine", "scipy"]
SOFTWARE += ["matplotlib", "jinja2"]
"""What decides how numbers are counted and how the page looks."""

PACKAGE = Path(pipeline_py.__file__).parent

TEMPLATES = sorted(map(str, (PACKAGE / "report" / "templates").iterdir()))

SECTIONS = [
    f"report.{file.parent.name}.{file.stem}"
    for folder in ("sections", "chapters")
    for file in sorted((PACKAGE / "report" / folder).glob("[!_]*.py"))
]
"""Modules that the page finds by their place."""

BY_SET = {
    "comparisons": "comparisons",
    "intervals": "intervals",
    "breakdown": "by_sentence",
    "sentence_scores": "sentence_scores",
    "words": "words",
    "ngrams": "ngrams",
    "examples": "examples",
}
"""What is said of a table on each of its sets: options, and the files that they are given."""


def write(manifest: Path, content: Mapping[str, Any]) -> None:
    """Write a manifest with a record."""
    remove_records([manifest])
    write_json(manifest, content)
    write_records({"stage": "plan.page"}, [manifest], manifest.parent)


@dataclass(frozen=True)
class PagePlan:
    """Files and facts of the page."""

    experiment: Experiment
    papers: Path
    corpus: CorpusPlan
    syntax: SyntaxPlan
    subword: SubwordPlan
    evaluation: EvaluationPlan
    claims: ClaimsPlan
    report: ReportPlan

    def tables(self, *types: str) -> list[str]:
        """Tables that are asked for, of some types."""
        tables = self.experiment.tables
        return [name for name in self.experiment.asked(tables) if tables[name].type in types]

    def printed_tables(self, table: str) -> tuple[str, list[str]] | None:
        """The paper, and numbers of its tables, that a table is made after; None where it is after none.

        A table that is called PAPER/table3_4 is made after Tables 3 and 4. Those whose numbers stand in its own columns
        are not shown again.
        """
        if self.report.published.get(table):
            return None
        found = re.fullmatch(r"(\w+)/table(\d+(?:_\d+)*)", table)
        paper, numbers = (found[1], found[2].split("_")) if found else TABLES_OF_PAPERS.get(table, ("", []))
        return (paper, numbers) if paper and (self.papers / f"{paper}.tsv").is_file() else None

    def sets(self, table: str) -> list[str]:
        """The held-out sets of a table, test sets first."""
        return sorted(self.evaluation.compared_sets(table), key=lambda split: split == "dev")

    def drawn(self, table: str) -> list[str]:
        """The networks whose attention is drawn with examples: what a table proposes."""
        return [system for system, _ in self.experiment.proposals(table) if self.experiment.is_neural(system)]

    def source_trees(self, table: str) -> dict[str, str]:
        """Trees below which examples are drawn on the first test set: those that a system reads, or others."""
        found = {}
        for system in self.drawn(table):
            split = self.corpus.tests[0]
            network = self.experiment.networks(system)[0]
            parser, read = self.experiment.network(network).parser, self.experiment.trees_read(network)
            trees = (parser, read[0]) if read else self.evaluation.trees_of_sentences(table)
            if trees is not None:
                found[f"{table}:{system}:{split}"] = f"<results>/syntax/{trees[0]}/{split}.{trees[1]}"
        return found

    def attention(self, table: str) -> dict[str, str]:
        """What these and the baseline attended to in the first run on the first test set, by system, set, option."""
        found: dict[str, str] = {}
        pairs = self.experiment.proposals(table)
        for system in filter(self.experiment.is_neural, dict.fromkeys(row for pair in pairs for row in pair)):
            split = self.corpus.tests[0]
            units, run = self.experiment.units_of(system), self.experiment.runs(system, table)[0]
            made = f"<results>/nmt/{system}/{run}/{split}"
            network = self.experiment.network(self.experiment.networks(system)[0])
            found |= {
                f"{system}:{split}:source_pieces": self.subword.pieces(units, "source").format(split=split),
                f"{system}:{split}:translation": f"{made}.pieces",
                f"{system}:{split}:attention": f"{made}.attention.arrow",
                f"{system}:{split}:gates": f"{made}.gates.arrow",
            }
            if "trees" in network.syntax:
                trees = self.subword.syntax(units, "trees").format(parser=network.parser, split=split)
                found[f"{system}:{split}:tree"] = trees
        return found

    def files_of_tables(self) -> dict[str, dict[str, str]]:
        """What the page says of tables, by option and name."""
        of_scores, of_bleu = self.tables("bleu", "measures"), self.tables("bleu")
        printed = {name: printed for name in of_scores if (printed := self.printed_tables(name)) is not None}
        return {
            "table": {name: f"<results>/{name}.sheet.json" for name in self.experiment.asked(self.experiment.tables)},
            "facts": {name: f"<results>/{name}.facts.tsv" for name in of_scores},
            "published": {name: str(self.papers / f"{paper}.tsv") for name, (paper, _) in printed.items()},
            **{
                option: {
                    f"{table}:{split}": f"<results>/evaluation/{table}/{split}.{kind}.tsv"
                    for table in of_scores
                    for split in self.sets(table)
                }
                for option, kind in BY_SET.items()
                if option != "words" or self.experiment.corpora.train
            },
            **{
                kind: {
                    f"{table}:{split}": f"<results>/evaluation/{table}/{split}.{kind}.tsv"
                    for table in of_scores
                    for split in self.evaluation.contrastive_sets(table)
                }
                for kind in ("contrast", "contrast_comparisons")
            },
            "source_tree": {name: file for table in of_bleu for name, file in self.source_trees(table).items()},
            "attended": {name: file for table in of_bleu for name, file in self.attention(table).items()},
        }

    def files(self) -> dict[str, dict[str, str]]:
        """Everything that the page is made of, by option and name."""
        trained = [place for table in self.tables("bleu", "measures") for place in self.report.facts(table)]
        return {
            **self.files_of_tables(),
            **{
                kind: {EVERYTHING: file} if self.claims.statistics(EVERYTHING) else {}
                for kind, file in (
                    ("claims", self.claims.file(EVERYTHING)),
                    ("exclusions", self.claims.exclusions_file(EVERYTHING)),
                )
            },
            "ceiling": {EVERYTHING: self.evaluation.ceilings} if self.claims.statistics(EVERYTHING) else {},
            "curve": {
                f"{network}:{run}": f"<results>/nmt/{network}/{run}/learning_curve.tsv"
                for network, run in dict.fromkeys(trained)
                if self.experiment.is_neural(network)
            },
            "figure": {
                f"{figure}:{sentence}": f"<results>/figures/{figure}.{sentence}.svg"
                for figure in self.experiment.asked(self.experiment.figures)
                for sentence in self.experiment.figures[figure].sentences
            },
            "accuracy": {
                parser: f"<results>/syntax/{parser}/accuracy.tsv" for parser in self.experiment.trained_parsers
            },
            "parser": {
                parser: f"<results>/syntax/{parser}/report.tsv" for parser in sorted(self.experiment.parsers_asked)
            },
            "agreement": {
                f"{parser}:{other}": f"<results>/syntax/{parser}/agreement.{other}.tsv"
                for parser, other in self.syntax.pairs_of_parsers()
            },
            "counts": {split: f"<results>/corpus/clean/{split}.json" for split in self.experiment.corpora.splits},
        }

    def manifest(self) -> dict[str, Any]:
        """What the page is made of but for the command: files by kind and name, and what is known without any."""
        results, of_page = self.experiment.folder("results"), self.files()
        stages = [
            f"{file.parent.name}.{file.stem}"
            for file in sorted(PACKAGE.glob("*/*.py"))
            if re.search(rf"^def {file.stem}\(\s*\*,", file.read_text(encoding="utf-8"), re.MULTILINE)
        ]
        versions = made_by("report.report", *SOFTWARE)
        printed = {table: self.printed_tables(table) for table in of_page["published"]}
        return {
            "experiment": self.experiment.model_dump_json(exclude_unset=True),
            "published": {table: found[1] for table, found in printed.items() if found},
            "versions": {name: versions[name] for name in SOFTWARE},
            "code": {stage: made_by(stage)["code"] for stage in stages},
            "files": {
                kind: {name: file.replace("<results>", results) for name, file in of.items()}
                for kind, of in of_page.items()
            },
        }

    def settings(self) -> dict[str, Any]:
        """Return what decides the manifest: all settings, with the content of files in the place of their paths."""
        contents = {
            file: self.corpus.contents_of([self.experiment.path(file)]) for file in self.experiment.named_files()
        }
        if (comet := self.experiment.evaluation.comet) is not None:
            contents |= {comet.model: [], comet.python: []}

        def replace_paths(value: Any) -> Any:
            if isinstance(value, dict):
                return {key: replace_paths(item) for key, item in value.items()}
            if isinstance(value, list):
                return [*map(replace_paths, value)]
            return contents.get(value, value) if isinstance(value, str) else value

        settings = replace_paths(self.experiment.model_dump(mode="json", exclude={"data"}))
        return {**self.manifest(), "experiment": settings}

    def page(self) -> Job:
        """Make the page from the files that its manifest names."""
        return Job(
            "report.report", files={"manifest": "<results>/report.manifest.json"}, software=SOFTWARE, modules=SECTIONS
        )

    def command(self, files: Sequence[Path], settings: Mapping[str, Any], targets: Sequence[str] | None = None) -> str:
        """Give the command that makes results again.

        Args:
            files: files of the configuration as they were given.
            settings: settings of the configuration as they were given.
            targets: the targets; by default the page.
        """
        words = ["snakemake", "--cores", "8"]
        words += [f"{self.experiment.folder('results')}/report.html"] if targets is None else targets
        if files:
            words += ["--configfile", *map(relpath, files)]
        if settings:
            values = {key: value if isinstance(value, str) else json.dumps(value) for key, value in settings.items()}
            words += ["--config", *(f"{key}={value}" for key, value in values.items())]
        return shlex.join(words)
