"""Files, metadata and job of the report page."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path
from typing import Any

import pipeline_py
from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.files.artifacts import write_json
from pipeline_py.plan.claims import ALL_TABLES, ClaimsPlan
from pipeline_py.plan.corpus import CorpusPlan
from pipeline_py.plan.evaluation import EvaluationPlan
from pipeline_py.plan.paths import get_run_folder
from pipeline_py.plan.report import ReportPlan
from pipeline_py.plan.subword import SubwordPlan
from pipeline_py.plan.syntax import SyntaxPlan
from pipeline_py.run.job import Job
from pipeline_py.run.job_record import remove_records, write_records
from pipeline_py.run.provenance import compute_provenance
from pipeline_py.run.workflow_files import choose_run_command

PAPER_TABLES = {"table1": ("sdatt", ["1"]), "table2": ("sdatt", ["2"]), "sdrnmt": ("sdrnmt", ["1"])}
"""Paper and its tables that are printed below a table whose name does not contain the paper."""

PAGE_SOFTWARE = ["snakemake", "torch", "stanza", "sacrebleu", "sacremoses", "subword-nmt", "sil-machine", "scipy"]
PAGE_SOFTWARE += ["matplotlib", "jinja2"]
"""Distributions whose versions affect the page."""

PACKAGE_FOLDER = Path(pipeline_py.__file__).parent

TEMPLATE_FILES = sorted(map(str, (PACKAGE_FOLDER / "report" / "templates").iterdir()))

SECTION_MODULES = [
    f"report.{file.parent.name}.{file.stem}"
    for folder in ("sections", "chapters")
    for file in sorted((PACKAGE_FOLDER / "report" / folder).glob("[!_]*.py"))
]
"""Modules that the page finds by their folder."""

FILE_KINDS_BY_OPTION = {
    "comparisons": "comparisons",
    "intervals": "intervals",
    "breakdown": "by_sentence",
    "sentence_scores": "sentence_scores",
    "words": "words",
    "ngrams": "ngrams",
    "examples": "examples",
}
"""Suffixes of the files about a table on each of its sets, by option of the page."""


def write_manifest(manifest_path: Path, content: Mapping[str, Any]) -> None:
    """Write a manifest with a record."""
    remove_records([manifest_path])
    write_json(manifest_path, content)
    write_records({"stage": "plan.page"}, [manifest_path], manifest_path.parent)


@dataclass(frozen=True)
class PagePlan:
    """Files, metadata and job of the report page."""

    experiment: ExperimentConfig
    papers_folder: Path
    corpus: CorpusPlan
    syntax: SyntaxPlan
    subword: SubwordPlan
    evaluation: EvaluationPlan
    claims: ClaimsPlan
    report: ReportPlan

    def get_requested_tables(self, *table_types: str) -> list[str]:
        """Return the requested tables of some types."""
        tables = self.experiment.tables
        return [name for name in self.experiment.select_requested_names(tables) if tables[name].type in table_types]

    def find_paper_tables(self, table: str) -> tuple[str, list[str]] | None:
        """Return the paper and the numbers of its tables that a table reproduces; None if there are none.

        A table named PAPER/table3_4 reproduces Tables 3 and 4. Tables with published numbers in their own columns are
        excluded.
        """
        if self.report.published_files.get(table):
            return None
        match = re.fullmatch(r"(\w+)/table(\d+(?:_\d+)*)", table)
        paper, numbers = (match[1], match[2].split("_")) if match else PAPER_TABLES.get(table, ("", []))
        return (paper, numbers) if paper and (self.papers_folder / f"{paper}.tsv").is_file() else None

    def get_sets_tests_first(self, table: str) -> list[str]:
        """Return the held-out sets of a table, test sets first."""
        return sorted(self.evaluation.get_compared_sets(table), key=lambda split: split == "dev")

    def get_drawn_networks(self, table: str) -> list[str]:
        """Return the networks whose attention is drawn with examples: the proposed systems of a table."""
        return [
            system for system, _ in self.experiment.get_proposed_comparisons(table) if self.experiment.is_neural(system)
        ]

    def get_source_tree_paths(self, table: str) -> dict[str, str]:
        """Return the trees drawn with examples of the first test set: those that a system reads, or others."""
        paths = {}
        for system in self.get_drawn_networks(table):
            split = self.corpus.scored_test_sets[0]
            network = self.experiment.get_networks(system)[0]
            parser = self.experiment.get_network(network).parser
            tree_formats = self.experiment.get_network_tree_formats(network)
            trees = (parser, tree_formats[0]) if tree_formats else self.evaluation.select_grouping_trees(table)
            if trees is not None:
                paths[f"{table}:{system}:{split}"] = f"<results>/syntax/{trees[0]}/{split}.{trees[1]}"
        return paths

    def get_attention_paths(self, table: str) -> dict[str, str]:
        """Return the attention files of compared networks for the first run and test set, by SYSTEM:SET:OPTION."""
        paths: dict[str, str] = {}
        pairs = self.experiment.get_proposed_comparisons(table)
        for system in filter(self.experiment.is_neural, dict.fromkeys(row for pair in pairs for row in pair)):
            split = self.corpus.scored_test_sets[0]
            units, run = self.experiment.get_subword_name(system), self.experiment.get_runs(system, table)[0]
            stem = f"{get_run_folder('nmt', system, run)}/{split}"
            network = self.experiment.get_network(self.experiment.get_networks(system)[0])
            paths |= {
                f"{system}:{split}:source_pieces": self.subword.get_piece_path_pattern(units, "source").format(
                    split=split
                ),
                f"{system}:{split}:translation": f"{stem}.pieces",
                f"{system}:{split}:attention": f"{stem}.attention.arrow",
                f"{system}:{split}:gates": f"{stem}.gates.arrow",
            }
            if "trees" in network.required_syntax_names:
                trees = self.subword.get_syntax_path_pattern(units, "trees").format(parser=network.parser, split=split)
                paths[f"{system}:{split}:tree"] = trees
        return paths

    def get_table_files(self) -> dict[str, dict[str, str]]:
        """Return the files about tables, by option and name."""
        score_tables, bleu_tables = self.get_requested_tables("bleu", "measures"), self.get_requested_tables("bleu")
        requested_tables = self.experiment.select_requested_names(self.experiment.tables)
        paper_tables = {
            name: paper_tables
            for name in requested_tables
            if (paper_tables := self.find_paper_tables(name)) is not None
        }
        return {
            "table": {name: f"<results>/{name}.sheet.json" for name in requested_tables},
            "facts": {name: f"<results>/{name}.facts.tsv" for name in score_tables},
            "published": {name: str(self.papers_folder / f"{paper}.tsv") for name, (paper, _) in paper_tables.items()},
            **{
                option: {
                    f"{table}:{split}": f"<results>/evaluation/{table}/{split}.{kind}.tsv"
                    for table in score_tables
                    for split in self.get_sets_tests_first(table)
                }
                for option, kind in FILE_KINDS_BY_OPTION.items()
                if option != "words" or self.experiment.corpora.train
            },
            **{
                kind: {
                    f"{table}:{split}": f"<results>/evaluation/{table}/{split}.{kind}.tsv"
                    for table in score_tables
                    for split in self.evaluation.get_contrastive_sets(table)
                }
                for kind in ("contrast", "contrast_comparisons")
            },
            "source_tree": {
                name: file for table in bleu_tables for name, file in self.get_source_tree_paths(table).items()
            },
            "attended": {name: file for table in bleu_tables for name, file in self.get_attention_paths(table).items()},
        }

    def get_page_files(self) -> dict[str, dict[str, str]]:
        """Return all input files of the page, by option and name."""
        training_runs = [
            place
            for table in self.get_requested_tables("bleu", "measures")
            for place in self.report.get_facts_paths(table)
        ]
        return {
            **self.get_table_files(),
            **{
                kind: {ALL_TABLES: file} if self.claims.get_statistics_paths(ALL_TABLES) else {}
                for kind, file in (
                    ("claims", self.claims.get_claims_path(ALL_TABLES)),
                    ("exclusions", self.claims.get_exclusions_path(ALL_TABLES)),
                    ("ceiling", self.evaluation.ceiling_path),
                )
            },
            "curve": {
                f"{network}:{run}": f"{get_run_folder('nmt', network, run)}/learning_curve.tsv"
                for network, run in dict.fromkeys(training_runs)
                if self.experiment.is_neural(network)
            },
            "figure": {
                f"{figure}:{sentence}": f"<results>/figures/{figure}.{sentence}.svg"
                for figure in self.experiment.select_requested_names(self.experiment.figures)
                for sentence in self.experiment.figures[figure].sentences
            },
            "accuracy": {
                parser: f"<results>/syntax/{parser}/accuracy.tsv"
                for parser in self.experiment.requested_trained_parsers
            },
            "parser": {
                parser: f"<results>/syntax/{parser}/report.tsv" for parser in sorted(self.experiment.requested_parsers)
            },
            "agreement": {
                f"{parser}:{other_parser}": f"<results>/syntax/{parser}/agreement.{other_parser}.tsv"
                for parser, other_parser in self.syntax.get_parser_pairs()
            },
            "counts": {split: f"<results>/corpus/clean/{split}.json" for split in self.experiment.corpora.splits},
        }

    def build_manifest(self) -> dict[str, Any]:
        """Build the manifest of the page except for the command: files by kind and name, and metadata."""
        results, page_files = self.experiment.get_output_folder("results"), self.get_page_files()
        stages = [
            f"{file.parent.name}.{file.stem}"
            for file in sorted(PACKAGE_FOLDER.glob("*/*.py"))
            if re.search(rf"^def {file.stem}\(\s*\*,", file.read_text(encoding="utf-8"), re.MULTILINE)
        ]
        versions = compute_provenance("report.write_page", *PAGE_SOFTWARE)
        paper_tables = {table: self.find_paper_tables(table) for table in page_files["published"]}
        return {
            "experiment": self.experiment.model_dump_json(exclude_unset=True),
            "published": {table: paper_table[1] for table, paper_table in paper_tables.items() if paper_table},
            "versions": {name: versions[name] for name in PAGE_SOFTWARE},
            "code": {stage: compute_provenance(stage)["code"] for stage in stages},
            "files": {
                kind: {name: file.replace("<results>", results) for name, file in paths.items()}
                for kind, paths in page_files.items()
            },
        }

    def build_manifest_settings(self) -> dict[str, Any]:
        """Return everything that affects the manifest: all settings, with hashes in the place of paths."""
        contents = {
            file: self.corpus.hash_user_files([self.experiment.resolve_path(file)])
            for file in self.experiment.collect_configured_files()
        }
        if (comet := self.experiment.evaluation.comet) is not None:
            contents |= {comet.model: [], comet.python: []}

        def replace_by_hashes(value: Any) -> Any:
            if isinstance(value, dict):
                return {key: replace_by_hashes(item) for key, item in value.items()}
            if isinstance(value, list):
                return [*map(replace_by_hashes, value)]
            return contents.get(value, value) if isinstance(value, str) else value

        settings = replace_by_hashes(self.experiment.model_dump(mode="json", exclude={"data"}))
        return {**self.build_manifest(), "experiment": settings}

    def build_page_job(self) -> Job:
        """Build the job that writes the page from the files in its manifest."""
        return Job(
            "report.write_page",
            files={"manifest": "<results>/report.manifest.json"},
            software=PAGE_SOFTWARE,
            modules=SECTION_MODULES,
        )

    def format_command(
        self, config_files: Sequence[Path], config_overrides: Mapping[str, Any], targets: Sequence[str] | None = None
    ) -> str:
        """Format the command that reproduces results.

        Args:
            config_files: configuration files of this run.
            config_overrides: configuration settings of this run's command line.
            targets: targets of the command; by default the page.
        """
        words = choose_run_command(Path())
        words += [f"{self.experiment.get_output_folder('results')}/report.html"] if targets is None else targets
        if config_files:
            words += ["--configfile", *map(relpath, config_files)]
        if config_overrides:
            values = {
                key: value if isinstance(value, str) else json.dumps(value) for key, value in config_overrides.items()
            }
            words += ["--config", *(f"{key}={value}" for key, value in values.items())]
        return shlex.join(words)
