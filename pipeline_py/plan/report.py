"""Jobs of the rules of `report`: tables and figures."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.systems.setting_differences import (
    collect_differing_settings,
    describe_paper_deviations,
    format_difference_warning,
    format_table_notes,
)
from pipeline_py.config.systems.system_types import EnsembleConfig, NeuralSystemConfig
from pipeline_py.config.tables import (
    AttentionTableConfig,
    BleuTableConfig,
    MeasureTableConfig,
    ParseTableConfig,
    SystemTableConfig,
    VocabularyTableConfig,
)
from pipeline_py.plan.claims import ALL_TABLES, ClaimsPlan
from pipeline_py.plan.corpus import CorpusPlan
from pipeline_py.plan.evaluation import EvaluationPlan
from pipeline_py.plan.parsers import ParsersPlan
from pipeline_py.plan.paths import build_name_pattern, find_run_folder, get_beam_choice_path, get_run_folder
from pipeline_py.plan.subword import SubwordPlan
from pipeline_py.plan.syntax import SyntaxPlan
from pipeline_py.run.errors import InputError
from pipeline_py.run.job import Job

SIDES = ("source", "target")


def match_targets(target: str, names: Iterable[str]) -> list[str]:
    """Return the names that equal a target or are in a folder of that name."""
    return [name for name in names if name.partition("/")[0] == target]


def find_published_files(experiment: ExperimentConfig, papers_folder: Path) -> dict[str, list[str]]:
    """Return the file of published numbers for each table, as a list; empty if the table requests none.

    Raises:
        InputError: a paper is unknown.
    """
    files_by_table = {}
    for name, table in experiment.tables.items():
        files = [papers_folder / f"{table.published.paper}.tsv"] if table.published else []
        for file in files:
            if not file.is_file():
                known_papers = ", ".join(sorted(file.stem for file in papers_folder.glob("*.tsv")))
                raise InputError(f"tables.{name}.published: unknown paper `{file.stem}`; known are {known_papers}")
        files_by_table[name] = [*map(str, files)]
    return files_by_table


@dataclass(frozen=True)
class ReportPlan:
    """Jobs of tables and figures.

    Attributes:
        published_files: files of published numbers by table.
        requested_tables: tables that this run makes.
    """

    experiment: ExperimentConfig
    corpus: CorpusPlan
    parsers: ParsersPlan
    syntax: SyntaxPlan
    subword: SubwordPlan
    evaluation: EvaluationPlan
    claims: ClaimsPlan
    published_files: Mapping[str, list[str]]
    requested_tables: set[str] = field(default_factory=set)

    def build_table_description(self, table: str) -> dict[str, Any]:
        """Return the options of a table and related settings of the configuration."""
        options = self.experiment.tables[table]
        text = self.experiment.corpora.dev if "dev" in self.evaluation.get_compared_sets(table) else None
        dev = None if text is None else text.name
        if isinstance(options, MeasureTableConfig):
            options = options.model_copy(update={"sets": self.evaluation.get_compared_sets(table) or options.sets})
        description: dict[str, Any] = {"table": options.model_dump(mode="json", exclude=options.omitted_keys)}
        if isinstance(options, ParseTableConfig) and self.experiment.parsers[options.parser].fallback:
            description["parser_chain"] = self.experiment.get_parser_chain(options.parser)
        if isinstance(options, BleuTableConfig | MeasureTableConfig):
            description |= {
                "tests": self.evaluation.get_compared_test_sets(table),
                "dev": dev,
                "metrics": self.experiment.evaluation.metrics,
                "set_names": {} if dev is None else {"dev": "Dev" if dev.lower() == "dev" else f"Dev ({dev})"},
                "contrastive": options.get_contrastive_sets(self.experiment.corpora)
                if isinstance(options, MeasureTableConfig)
                else [],
                "settings": {system: self.format_system_settings(system) for system in options.systems},
                "notes": [*format_table_notes(self.experiment, options), *self._format_set_notes(table)],
                "departures": describe_paper_deviations(self.experiment, options),
                "from_elsewhere": [*filter(self.experiment.find_external_system, options.systems)],
                "lowercase_trees": self.experiment.corpora.source.case == "lower",
            }
        if options.published and not isinstance(options, BleuTableConfig) and self.experiment.corpora.dev:
            description["dev"] = self.experiment.corpora.dev.name
        return description

    def get_table_files(self, table: str) -> dict[str, dict[str, str]]:
        """Return the input files of a table, by kind and subject (system, run, set …)."""
        published = self.published_files[table]
        return {**self._get_measured_files(table), **({"published": {"": published[0]}} if published else {})}

    def _get_measured_files(self, table: str) -> dict[str, dict[str, str]]:
        """Return the input files of a table except for published numbers."""
        options = self.experiment.tables[table]
        if isinstance(options, ParseTableConfig):
            splits = self.experiment.corpora.splits
            ending = "ptb.json" if self.experiment.parsers[options.parser].fallback else "binary.json"
            return {"counts": {split: f"<results>/syntax/{options.parser}/{split}.{ending}" for split in splits}}
        if isinstance(options, VocabularyTableConfig):
            corpora, units, subword = self.experiment.corpora, options.subword, self.subword
            languages = [corpora.source.language, corpora.target.language]
            if languages[0] == languages[1]:
                languages = [f"{language} ({side})" for language, side in zip(languages, SIDES, strict=True)]
            return {
                form: {language: file.format(split="train") for language, file in zip(languages, files, strict=True)}
                for form, files in (
                    ("original", map(self.corpus.get_token_path_pattern, SIDES)),
                    ("generalised", (subword.get_word_path_pattern(units, side) for side in SIDES)),
                    ("bpe", (subword.get_piece_path_pattern(units, side) for side in SIDES)),
                )
            }
        if isinstance(options, AttentionTableConfig):
            return {"shares": {"": f"<results>/evaluation/{table}/attention.tsv"}}
        sets = self.evaluation.get_scored_sets(table)
        statistics_paths = {
            place: file for split in sets for place, file in self.evaluation.get_statistics_paths(table, split).items()
        }
        facts_files = self.get_facts_files(table)
        files = {
            "statistics": {":".join(place): file for place, file in statistics_paths.items()},
            "facts": facts_files["facts"],
            "comparisons": self.get_comparison_paths(table),
            "claims": {"": self.claims.get_claims_path(table)} if self.claims.is_scored_table(table) else {},
            "exclusions": {"": self.claims.get_exclusions_path(table)} if self.claims.is_scored_table(table) else {},
            "ceiling": facts_files["ceiling"],
        }
        if isinstance(options, BleuTableConfig):
            return files
        parsed = {
            split: file for split in sets for file in self.evaluation.get_parsed_sentences_file(table, split).values()
        }
        contrast_scores = {
            kind: {
                f"{system}:{run}:{split}": file
                for split in self.evaluation.get_contrastive_sets(table)
                for system, runs in self.evaluation.get_contrast_score_paths(table, split)[kind].items()
                for run, file in runs.items()
            }
            for kind in ("correct", "contrastive")
        }
        has_lengths = "length" in options.columns and options.parsed_by is None
        words = {
            "words": {
                ":".join((system, run, split)): file.replace(".statistics.arrow", ".json")
                for (system, run, split), file in statistics_paths.items()
                if not self.experiment.find_external_system(system)
            },
            "reference_tokens": {split: f"<results>/corpus/tokenized/{split}.target" for split in sets},
        }
        return {
            **files,
            "parsed": parsed,
            "accuracy": facts_files["accuracy"],
            **contrast_scores,
            "pairs": {
                split: self.evaluation.corpus.get_pair_metadata_path(split)
                for split in self.evaluation.get_contrastive_sets(table)
            },
            **(words if has_lengths else {}),
        }

    def get_facts_files(self, table: str) -> dict[str, dict[str, str]]:
        """Return the input files of a table of facts, by kind and subject."""
        return {
            **{
                kind: {":".join(place): file for place, file in paths.items()}
                for kind, paths in (
                    ("facts", self.get_facts_paths(table)),
                    ("accuracy", self.get_accuracy_paths(table)),
                )
            },
            "ceiling": {"": self.evaluation.ceiling_path} if self.evaluation.get_scored_sets(table) else {},
            **({"beams": beams} if (beams := self.get_beam_choice_paths(table)) else {}),
        }

    def build_facts_description(self, table: str) -> dict[str, Any]:
        """Return the settings of the systems of a table."""
        options = self.experiment.tables[table]
        assert isinstance(options, SystemTableConfig)
        settings: dict[str, dict[str, str]] = {}
        for (system, column), text in collect_differing_settings(self.experiment, options).items():
            settings.setdefault(column, {})[system] = text
        parsers = {system: self.experiment.systems[system].parser for system in self.get_trained_systems(table)}
        heads = {
            system: source
            for system, parser in parsers.items()
            if parser is not None and "ptb" in self.experiment.get_network_tree_formats(system)
            if (source := self.syntax.describe_head_source(parser)) is not None
        }
        if heads:
            settings["phrase_heads"] = heads
        if fallbacks := {
            system: ", ".join(self.experiment.get_parser_chain(parser)[1:])
            for system, parser in parsers.items()
            if parser is not None and self.experiment.parsers[parser].fallback
        }:
            settings["fallback_parser"] = fallbacks
        description: dict[str, Any] = {
            "parsers": parsers,
            "settings": settings,
            "sets": self.evaluation.get_scored_sets(table),
        }
        if origins := {
            row: external_system.origin
            for row in options.systems
            if (external_system := self.experiment.find_external_system(row))
        }:
            description["from_elsewhere"] = origins
        return description

    def table_name_pattern(self, *table_types: str) -> str:
        """Return a regular expression for the names of tables of some types."""
        return build_name_pattern(name for name, table in self.experiment.tables.items() if table.type in table_types)

    def add_requested_table(self, table: str) -> str:
        """Record that this run makes a table."""
        self.requested_tables.add(table)
        return table

    def get_displayed_files(self) -> list[str]:
        """Return the files that are shown to the user after this run: the page and its tables."""
        page = ["report.html"] if ALL_TABLES in self.claims.requested_tables else []
        return [*page, *(f"{table}.md" for table in self.experiment.tables if table in self.requested_tables)]

    def format_warnings(self) -> list[str]:
        """Format warnings about systems in a table of this run that differ in other settings."""
        warnings = (
            format_difference_warning(self.experiment, table)
            for table in self.experiment.tables
            if table in self.requested_tables
        )
        return [*filter(None, warnings)]

    def get_trained_systems(self, table: str) -> list[str]:
        """Return the trained systems of a table's rows, with ensembles replaced by their members."""
        rows = [row for row in self.experiment.get_rows(table) if not self.experiment.find_external_system(row)]
        return list(dict.fromkeys(system for row in rows for system in self.experiment.get_networks(row) or [row]))

    def get_facts_paths(self, table: str) -> dict[tuple[str, str], str]:
        """Return the training facts of a table's systems, by system and run."""
        return {
            (system, run): f"{find_run_folder(self.experiment, system, run)}/facts.json"
            for system in self.get_trained_systems(table)
            for run in self.experiment.get_runs(system, table)
        }

    def get_beam_choice_paths(self, table: str) -> dict[str, str]:
        """Return the beam widths chosen for a table's rows, by SYSTEM:RUN:ROW for each trained system of the row."""
        return {
            f"{system}:{run}:{row}": get_beam_choice_path(row, run)
            for row in self.experiment.get_rows(table)
            if self.experiment.is_beam_chosen(row)
            for system in self.experiment.get_networks(row)
            for run in self.experiment.get_runs(row, table)
        }

    def get_comparison_paths(self, table: str) -> dict[str, str]:
        """Return the comparisons of a table's systems by set, if it has marks; for a BLEU table on the test sets."""
        options = self.experiment.tables[table]
        compared_sets = self.evaluation.get_compared_test_sets(table)
        if isinstance(options, MeasureTableConfig):
            compared_sets = self.evaluation.get_compared_sets(table) if options.marks else []
        return {split: f"<results>/evaluation/{table}/{split}.comparisons.tsv" for split in compared_sets}

    def format_system_settings(self, system: str) -> dict[str, str]:
        """Return the settings of a system that are columns of a table."""
        options = self.experiment.systems[system]
        if not isinstance(options, NeuralSystemConfig | EnsembleConfig):
            return {}
        losses = [self.experiment.get_network(network).loss for network in self.experiment.get_networks(system)]
        samples = {f"{loss.sampled_word_count:,}" if loss.sampled_word_count else "" for loss in losses}
        search = [
            *(["normalized"] if options.decoding.length_normalization else []),
            *(["with length model"] if options.decoding.length_model else []),
        ]
        return {
            # Members of an ensemble may differ.
            "negative_samples": samples.pop() if len(samples) == 1 else "",
            "subword": "yes" if self.evaluation.has_subword_pieces(system) else "no",
            "search": ", ".join(search) or "plain",
            "beam": options.decoding.beam_text,
        }

    def get_table_outputs(self, table: str) -> list[str]:
        """Return a table in all formats, its facts and figure if it has them, and translations without scores."""
        options = self.experiment.tables[table]
        endings = [
            "tsv",
            "md",
            "tex",
            *(["facts.tsv"] if isinstance(options, BleuTableConfig | MeasureTableConfig) else []),
        ]
        figure_endings = ["svg", "pdf"] if self.evaluation.has_length_figure(table) else []
        return [
            *(f"<results>/{table}.{ending}" for ending in endings),
            *(f"<results>/figures/{table}.length.{ending}" for ending in figure_endings),
            *self.evaluation.get_unscored_output_paths(table),
        ]

    def get_figure_outputs(self, figure: str) -> list[str]:
        """Return the files of a figure, for each sentence."""
        return [
            f"<results>/figures/{figure}.{sentence}.{ending}"
            for sentence in self.experiment.figures[figure].sentences
            for ending in ("svg", "pdf")
        ]

    def get_accuracy_paths(self, table: str) -> dict[tuple[str, str], str]:
        """Return the accuracies of the trees that a table's systems read, by parser and format, if there are any."""
        tree_uses = {
            (parser, trees)
            for system in self.get_trained_systems(table)
            if (parser := self.experiment.systems[system].parser) is not None
            for trees in self.experiment.get_network_tree_formats(system)
        }
        return {
            (parser, trees): f"<results>/syntax/{parser}/accuracy/{trees}.tsv"
            for parser, trees in sorted(tree_uses)
            if self.parsers.has_gold_trees(parser, trees)
        }

    def _format_set_notes(self, table: str) -> Iterator[str]:
        """Yield notes about sets without references and about cells that are empty for lack of translations."""
        options = self.experiment.tables[table]
        assert isinstance(options, SystemTableConfig)
        scored = self.evaluation.get_scored_sets(table)
        for row in options.systems:
            if missing := [split for split in scored if not self.experiment.has_output(row, split)]:
                tests = self.corpus.scored_test_sets
                has_average = isinstance(options, BleuTableConfig) and len(tests) > 1 and {*missing} & {*tests}
                yield (
                    f"{options.display_names[row]} has no translations of {', '.join(missing)}"
                    f"{', and therefore no average over the test sets' if has_average else ''}."
                )
        for split in self.experiment.corpora.unscored_tests if isinstance(options, BleuTableConfig) else ():
            yield f"{split} has no references: it is translated (evaluation/SYSTEM/RUN/{split}.txt), but not scored."

    # Jobs of the rules, named after their rules.

    def build_render_table_job(self, table: str) -> Job:
        """Build the job that renders a table of scores, measures or counts."""
        return Job(
            "report.render_table",
            files={"files": self.get_table_files(table)},
            settings={"description": self.build_table_description(table)},
            modules=[f"evaluation.metrics.{metric}" for metric in self.evaluation.computed_metrics],
            software=["scipy"],
        )

    def build_facts_table_job(self, table: str) -> Job:
        """Build the job that renders the table of facts about the systems of a table."""
        return Job(
            "report.render_facts",
            files={"files": self.get_facts_files(table)},
            settings={"description": self.build_facts_description(table)},
            software=["stanza", "sacrebleu"],
        )

    def build_draw_bleu_by_length_job(self, table: str) -> Job:
        """Build the job that draws the scores of a table by sentence length."""
        options = self.experiment.tables[table]
        assert isinstance(options, SystemTableConfig)
        return Job(
            "report.draw_bleu_by_length",
            files={"buckets": f"<results>/evaluation/{table}/tests.by_sentence.tsv"},
            settings={
                "title": options.title,
                "labels": options.display_names,
                "smallest_group": self.experiment.evaluation.smallest_group,
            },
            software=["matplotlib"],
        )

    def build_draw_attention_job(self, figure: str, sentence: str) -> Job:
        """Build the job that draws the attention of a system's first run over a sentence.

        The attention is drawn on the tree of the sentence if the system reads trees.
        """
        options = self.experiment.figures[figure]
        system, split = options.system, options.set
        units, network = self.experiment.get_subword_name(system), self.experiment.get_network(system)
        stem = f"{get_run_folder('nmt', system, self.experiment.get_runs(system)[0])}/{split}"
        trees = self.subword.get_syntax_path_pattern(units, "trees").format(parser=network.parser, split=split)
        return Job(
            "report.draw_attention",
            files={
                **({"tree": trees} if "trees" in network.required_syntax_names else {}),
                "source_pieces": self.subword.get_piece_path_pattern(units, "source").format(split=split),
                "translation": f"{stem}.pieces",
                "attention": f"{stem}.attention.arrow",
                "gates": f"{stem}.gates.arrow",
                **(
                    {"reference": f"<results>/corpus/tokenized/{split}.target"}
                    if self.corpus.reference_sides[split]
                    else {}
                ),
            },
            settings={
                "sentence": int(sentence),
                "title": options.title,
                "words": options.words,
                "lexical": network.reads_lexical_trees,
            },
            software=["matplotlib"],
        )
