"""Jobs of the rules of `evaluation`: postprocessing, statistics and comparisons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline_py.config.base import format_folder_name
from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.tables import AttentionTableConfig, MeasureTableConfig
from pipeline_py.plan.corpus import CorpusPlan
from pipeline_py.plan.paths import find_run_folder, get_run_folder
from pipeline_py.plan.subword import SubwordPlan
from pipeline_py.run.errors import InputError
from pipeline_py.run.job import Job, NestedPaths

ALL_TEST_SETS = "tests"
"""Name of all test sets together, in the place of a set."""


@dataclass(frozen=True)
class EvaluationPlan:
    """Jobs that score translations and compare systems."""

    experiment: ExperimentConfig
    corpus: CorpusPlan
    subword: SubwordPlan

    def get_reference_paths(self, split: str) -> list[str]:
        """Return the paths of the references of a held-out set."""
        return [f"<results>/corpus/clean/{split}.{side}" for side in self.corpus.reference_sides[split]]

    @property
    def bleu_settings(self) -> dict[str, Any]:
        """Settings of BLEU."""
        evaluation = self.experiment.evaluation
        return {"tokenizer": evaluation.tokenizer, "lowercase": evaluation.lowercase}

    @property
    def ceiling_path(self) -> str:
        """The path of the BLEU ceilings on all sets with references."""
        return "<results>/evaluation/ceiling.tsv"

    def get_translation_path_patterns(self, system: str) -> dict[str, str]:
        """Return the files of a system's translations, with {run} and {split}, by parameter of `postprocess`."""
        stem = f"{find_run_folder(self.experiment, system, '{run}')}/{{split}}"
        files = {"pieces": f"{stem}.pieces"}
        if self.should_replace_unknown(system) or self.should_restore_placeholders(system):
            source = self.subword.get_piece_path_pattern(self.experiment.get_subword_name(system), "source")
            files |= {"alignment": f"{stem}.alignment", "source_pieces": source}
        if self.should_restore_placeholders(system):
            files |= {"source_tokens": self.corpus.get_token_path_pattern("source")}
        return files

    def should_replace_unknown(self, system: str) -> bool:
        """Return whether unknown words are replaced after decoding; the phrase-based decoder does it itself."""
        decoding = getattr(self.experiment.systems[system], "decoding", None)
        return decoding is not None and decoding.replace_unknown

    def should_restore_placeholders(self, system: str) -> bool:
        """Return whether a system translates rare times, dates and numbers as placeholders."""
        units = self.experiment.subword_configs
        return (
            self.experiment.is_neural(system) and units[self.experiment.get_subword_name(system)].generalise is not None
        )

    def has_subword_pieces(self, system: str) -> bool:
        """Return whether a system translates into subword pieces."""
        units = self.experiment.subword_configs
        return self.experiment.is_neural(system) and units[self.experiment.get_subword_name(system)].scheme == "bpe"

    def has_task_tags(self, system: str) -> bool:
        """Return whether the sources of a system are enclosed in task tags."""
        return (
            self.experiment.is_neural(system)
            and self.experiment.get_subword_name(system) in self.experiment.parsing_tasks
        )

    def get_systems_with_outputs(self, table: str, *splits: str) -> list[str]:
        """Return a table's systems that have translations of all given sets."""
        rows = self.experiment.get_rows(table)
        return [row for row in rows if all(self.experiment.has_output(row, split) for split in splits)]

    def get_unscored_sets(self, table: str) -> list[str]:
        """Return the test sets without references that the systems of a BLEU table translate."""
        return self.experiment.corpora.unscored_tests if self.experiment.tables[table].type == "bleu" else []

    def get_unscored_output_paths(self, table: str) -> list[str]:
        """Return the translations of test sets without references by the systems of a BLEU table."""
        return [
            file
            for split in self.get_unscored_sets(table)
            for runs in self.get_output_paths(table, split).values()
            for file in runs.values()
        ]

    def get_exported_outputs(self) -> dict[str, dict[str, dict[str, str]]]:
        """Return the translations that the requested tables score or request, by set, folder of a system, and run."""
        outputs: dict[str, dict[str, dict[str, str]]] = {}
        for table in self.experiment.select_requested_names(self.experiment.tables):
            for split in (*self.get_scored_sets(table), *self.get_unscored_sets(table)):
                for system, runs in self.get_output_paths(table, split).items():
                    outputs.setdefault(split, {}).setdefault(format_folder_name(system), {}).update(runs)
        return outputs

    def get_statistics_paths(
        self, table: str, split: str, systems: Sequence[str] | None = None
    ) -> dict[tuple[str, str, str], str]:
        """Return the metric statistics of translations, by system, run and set."""
        return {
            (system, run, split): f"{get_run_folder('evaluation', system, run)}/{split}.statistics.arrow"
            for system in (self.get_systems_with_outputs(table, split) if systems is None else systems)
            for run in self.experiment.get_runs(system, table)
        }

    def get_tested_systems(self, table: str, split: str) -> list[str]:
        """Return a table's systems that have translations of a set, in the order of significance tests."""
        translating_systems = self.get_systems_with_outputs(table, split)
        return [system for system in self.experiment.sort_rows_for_tests(table) if system in translating_systems]

    def get_breakdown_sets(self, table: str, split: str) -> list[str]:
        """Return the sets of a breakdown: all test sets of a table, or one set."""
        return self.get_compared_test_sets(table) if split == ALL_TEST_SETS else [split]

    def get_compared_test_sets(self, table: str) -> list[str]:
        """Return the test sets on which a table's systems are compared."""
        return [split for split in self.get_compared_sets(table) if split in self.corpus.scored_test_sets]

    def has_length_figure(self, table: str) -> bool:
        """Return whether a table has a figure of scores by length, for systems with translations of all test sets."""
        tests = self.get_compared_test_sets(table)
        return self.experiment.tables[table].type == "bleu" and bool(self.get_systems_with_outputs(table, *tests))

    @property
    def computed_metrics(self) -> list[str]:
        """The metrics for which statistics are computed."""
        return self.experiment.computed_metrics

    def get_external_score_paths(self, system: str, run: str, split: str) -> dict[str, str]:
        """Return the sentence scores of external programs, by metric."""
        scores = f"{get_run_folder('evaluation', system, run)}/{split}.comet_scores.json"
        return {"comet": scores} if "comet" in self.computed_metrics else {}

    def get_compared_sets(self, table: str) -> list[str]:
        """Return the held-out sets on which a table's systems are compared; empty for a table without scores."""
        return self.experiment.get_compared_sets(table)

    def get_scored_sets(self, table: str) -> list[str]:
        """Return the held-out sets on which a table has scores of systems."""
        options = self.experiment.tables[table]
        has_scores = not isinstance(options, MeasureTableConfig) or options.has_score_columns
        return self.get_compared_sets(table) if has_scores else []

    def get_systems_baseline_first(self, table: str, split: str) -> list[str]:
        """Return a table's systems with translations of a set (or of all test sets), baseline first.

        Without a baseline, the first row takes its place.
        """
        rows = self.get_systems_with_outputs(table, *self.get_breakdown_sets(table, split))
        baseline = getattr(self.experiment.tables[table], "baseline", None)
        return sorted(rows, key=lambda row: row != baseline)

    def get_tested_metrics(self, table: str) -> list[str]:
        """Return the metrics of comparisons: those of the experiment, and those that the table marks."""
        options = self.experiment.tables[table]
        marked = options.metric_columns if isinstance(options, MeasureTableConfig) and options.marks else []
        return [*dict.fromkeys([*self.experiment.evaluation.metrics, *marked])]

    def select_grouping_trees(self, table: str) -> tuple[str, str] | None:
        """Return the parser and format of the trees by which a table's sentences are grouped; None without trees.

        Only trees that the table's networks or other requested networks read are used. Dependency trees are preferred;
        control trees are excluded.
        """
        networks = [network for row in self.experiment.get_rows(table) for network in self.experiment.get_networks(row)]
        tree_uses = [
            (parser, trees)
            for network in [*networks, *self.experiment.requested_networks]
            if (parser := self.experiment.get_network(network).parser) is not None
            for trees in self.experiment.get_network_tree_formats(network)
        ]
        parser_tree_uses = [
            (parser, trees) for parser, trees in tree_uses if self.experiment.parsers[parser].type != "control"
        ]
        return min(parser_tree_uses, key=lambda trees: trees[1] != "conllu", default=None)

    def get_properties_path(self, table: str, split: str) -> str:
        """Return the path of the properties by which a table's sentences are grouped."""
        return f"<results>/evaluation/source/{split}.{'.'.join(self.select_grouping_trees(table) or ['words'])}.arrow"

    def get_contrast_score_paths(self, table: str, split: str) -> dict[str, dict[str, dict[str, str]]]:
        """Return the scores of both translations of a contrastive set, by parameter of the stage, system and run."""
        systems = self.experiment.sort_rows_for_tests(table)
        return {
            kind: {
                system: {
                    run: f"{find_run_folder(self.experiment, system, run)}/{split}.{kind}.tsv"
                    for run in self.experiment.get_runs(system, table)
                }
                for system in systems
                if self.experiment.has_contrast_scores(system, split)
            }
            for kind in ("correct", "contrastive")
        }

    def get_contrastive_sets(self, table: str) -> list[str]:
        """Return the contrastive sets of a table for which at least one system has scores."""
        sets = self.experiment.tables[table].get_contrastive_sets(self.experiment.corpora)
        rows = self.experiment.get_rows(table)
        return [split for split in sets if any(self.experiment.has_contrast_scores(row, split) for row in rows)]

    def get_external_file(self, system: str, run: str, split: str) -> str:
        """Return the user's file for a run of an external system: translations, or scores of a contrastive set.

        Raises:
            InputError: there is no such file.
        """
        external_system, runs = self.experiment.find_external_system(system), self.experiment.get_runs(system)
        assert external_system is not None
        key, files = (
            ("scores", external_system.scores)
            if split in self.experiment.corpora.contrastive_sets
            else ("files", external_system.files)
        )
        if split not in files or run not in runs:
            raise InputError(f"the external system `{system}` has no {run} of `{split}`; give `systems.{system}.{key}`")
        return self.experiment.resolve_path(files[split][runs.index(run)])

    def get_parsed_sentences_file(self, table: str, split: str) -> dict[str, str]:
        """Return the input file that selects the sentences that a table scores; empty if it scores all."""
        parser = getattr(self.experiment.tables[table], "parsed_by", None)
        return (
            {} if parser is None else {"sentence_properties": f"<results>/evaluation/source/{split}.{parser}.ptb.arrow"}
        )

    def build_inference_settings(self, systems: Sequence[str]) -> dict[str, Any]:
        """Return the settings of `compare_systems` and `judge_claims` for confidence intervals and tests."""
        networks = {
            system: "+".join(self.experiment.get_networks(system))
            for system in systems
            if self.experiment.is_neural(system)
        }
        return {
            "fewest_sentences": self.experiment.evaluation.fewest_sentences,
            "run_deviation": self.experiment.evaluation.resolved_run_deviations,
            "networks": {
                system: network for system, network in networks.items() if [*networks.values()].count(network) > 1
            },
        }

    def get_output_paths(
        self, table: str, split: str, systems: Sequence[str] | None = None
    ) -> dict[str, dict[str, str]]:
        """Return detokenized outputs on a set by system and run, in the order of the table or of `systems`."""
        return {
            system: {
                run: f"{get_run_folder('evaluation', system, run)}/{split}.txt"
                for run in self.experiment.get_runs(system, table)
            }
            for system in (self.get_systems_with_outputs(table, split) if systems is None else systems)
        }

    def get_first_run_paths(self, table: str, split: str, file_extension: str = "txt") -> dict[str, NestedPaths]:
        """Return a file of the first run of each system on a set, baseline first."""
        first_runs = {
            system: self.experiment.get_runs(system, table)[0]
            for system in self.get_systems_baseline_first(table, split)
        }
        return {
            system: f"{get_run_folder('evaluation', system, run)}/{split}.{file_extension}"
            for system, run in first_runs.items()
        }

    # Jobs of the rules, named after their rules.

    def build_compute_bleu_ceiling_job(self) -> Job:
        """Build the job that computes the BLEU ceiling on all sets with references."""
        target, evaluation = self.experiment.corpora.target, self.experiment.evaluation
        sets = [split for split, text in self.experiment.corpora.held_out_sets.items() if text.has_references]
        causes = {f"corpora.target.{key}": getattr(target, key) for key in ("language", "tokenizer")}
        if target.punctuation != "keep":
            causes["corpora.target.punctuation"] = target.punctuation
        if target.case != "keep":
            causes["corpora.target.case"] = target.case
        causes |= {f"evaluation.{key}": getattr(evaluation, key) for key in ("detokenizer", "tokenizer")}
        return Job(
            "evaluation.compute_bleu_ceiling",
            files={
                "tokens": {split: self.corpus.get_token_path_pattern("target").format(split=split) for split in sets},
                "references": {split: self.get_reference_paths(split) for split in sets},
            },
            settings={
                "language": target.language,
                "detokenizer": evaluation.detokenizer,
                "truecased": target.case == "true",
                **self.bleu_settings,
                "causes": causes,
            },
            software=["sacrebleu", "sacremoses"],
        )

    def build_postprocess_job(self, system: str, run: str) -> Job:
        """Build the job that converts the translations of all held-out sets to text."""
        files = self.get_translation_path_patterns(system)
        return Job(
            "evaluation.postprocess",
            files_by_set={
                split: {name: file.format(run=run, split=split) for name, file in files.items()}
                for split in self.experiment.corpora.held_out_sets
            },
            settings={
                "language": self.experiment.corpora.target.language,
                "detokenizer": self.experiment.evaluation.detokenizer,
                "joiner": "bpe" if self.has_subword_pieces(system) else "none",
                "truecased": self.experiment.corpora.target.case == "true",
                "replace_unknown": self.should_replace_unknown(system),
                "restore_placeholders": self.should_restore_placeholders(system),
                "tagged": self.has_task_tags(system),
            },
            software=["sacremoses"],
        )

    def build_import_translations_job(self, system: str, run: str, split: str) -> Job:
        """Build the job that imports the user's translations of a set."""
        external_system = self.experiment.find_external_system(system)
        assert external_system is not None
        return Job(
            "evaluation.import_translations",
            files={
                "translations": self.get_external_file(system, run, split),
                "source": f"<results>/corpus/clean/{split}.source",
            },
            settings={
                "name": split,
                "form": external_system.form,
                "language": self.experiment.corpora.target.language,
                "detokenizer": self.experiment.evaluation.detokenizer,
            },
            software=["sacremoses"],
        )

    def build_import_scores_job(self, system: str, run: str, split: str) -> Job:
        """Build the job that imports the user's scores of a contrastive set."""
        return Job(
            "evaluation.import_scores",
            files={
                "scores": self.get_external_file(system, run, split),
                "pairs": self.corpus.get_pair_metadata_path(split),
            },
            settings={"name": split},
        )

    def build_compute_comet_scores_job(self, system: str, run: str, split: str) -> Job:
        """Build the job that scores the sentences of an output with COMET."""
        comet, options = self.experiment.find_comet_installation(), self.experiment.evaluation.comet
        assert comet is not None and options is not None
        name = Path(options.model).name if Path(self.experiment.resolve_path(options.model)).exists() else options.model
        return Job(
            "evaluation.compute_comet_scores",
            files={
                "source": f"<results>/corpus/clean/{split}.source",
                "hypothesis": f"{get_run_folder('evaluation', system, run)}/{split}.txt",
                "reference": self.get_reference_paths(split)[0],
                "checkpoint": comet.checkpoint,
            },
            settings={"signature": f"model:{name}|refs:1|version:{comet.version}"},
            execution_settings={"python": options.python, "gpus": options.gpus},
        )

    def build_compute_metric_statistics_job(self, system: str, run: str, split: str) -> Job:
        """Build the job that computes the statistics of an output for all metrics."""
        return Job(
            "evaluation.compute_metric_statistics",
            files={
                "hypothesis": f"{get_run_folder('evaluation', system, run)}/{split}.txt",
                "references": self.get_reference_paths(split),
                "segment_scores": self.get_external_score_paths(system, run, split),
            },
            settings={
                "metrics": self.computed_metrics,
                **self.bleu_settings,
                "language": self.corpus.get_language_config("target").language,
            },
            software=["sacrebleu"],
            modules=_get_metric_modules([*self.computed_metrics, "chrf"]),
        )

    def build_measure_source_properties_job(self, split: str, grouping: str) -> Job:
        """Build the job that measures the sentences of a set; `grouping` is PARSER.FORMAT, or `words` without trees."""
        parser, _, annotation = grouping.rpartition(".")
        option = "dependencies" if annotation == "conllu" else "phrases"
        trees = {option: f"<results>/syntax/{parser}/{split}.{annotation}"} if parser else {}
        return Job(
            "evaluation.measure_source_properties",
            files={"source": self.corpus.get_token_path_pattern("source").format(split=split), **trees},
            software=["pyarrow"],
        )

    def build_compare_systems_job(self, table: str, split: str) -> Job:
        """Build the job that compares all pairs of a table's systems on a set."""
        systems, metrics = self.get_tested_systems(table, split), self.get_tested_metrics(table)
        return Job(
            "evaluation.compare_systems",
            files={
                "statistics": _group_by_system(self.get_statistics_paths(table, split, systems)),
                **self.get_parsed_sentences_file(table, split),
            },
            settings={"metrics": metrics, **self.build_inference_settings(systems)},
            software=["scipy"],
            modules=_get_metric_modules(metrics),
        )

    def build_score_sentence_groups_job(self, table: str, split: str) -> Job:
        """Build the job that scores groups of similar sentences of a set, or of all test sets of a table."""
        sets, metrics = self.get_breakdown_sets(table, split), self.experiment.evaluation.metrics
        systems = self.get_systems_with_outputs(table, *sets)
        return Job(
            "evaluation.score_sentence_groups",
            files={
                "statistics": {
                    set_name: _group_by_system(self.get_statistics_paths(table, set_name, systems)) for set_name in sets
                },
                "properties": {set_name: self.get_properties_path(table, set_name) for set_name in sets},
            },
            settings={
                "metrics": metrics,
                "bounds": self.experiment.evaluation.length_groups,
                "baseline": self.get_systems_baseline_first(table, split)[0],
            },
            modules=_get_metric_modules([*metrics, "chrf"]),
        )

    def build_measure_contrastive_accuracy_job(self, table: str, split: str) -> Job:
        """Build the job that compares a table's systems on a contrastive set."""
        return Job(
            "evaluation.measure_contrastive_accuracy",
            files={**self.get_contrast_score_paths(table, split), "pairs": self.corpus.get_pair_metadata_path(split)},
            software=["scipy"],
        )

    def build_count_word_frequencies_job(self) -> Job:
        """Build the job that counts the words of the target side of the training text."""
        return Job(
            "evaluation.count_word_frequencies",
            files={"text": "<results>/corpus/clean/train.target"},
            settings=self.bleu_settings,
            software=["sacrebleu"],
        )

    def build_measure_word_accuracy_job(self, table: str, split: str) -> Job:
        """Build the job that measures the words of a table's outputs by frequency."""
        return Job(
            "evaluation.measure_word_accuracy",
            files={
                "outputs": self.get_output_paths(table, split),
                "references": self.get_reference_paths(split),
                "frequencies": "<results>/evaluation/word_frequencies.txt",
            },
            settings=self.bleu_settings,
            software=["sacrebleu"],
        )

    def build_compare_ngrams_job(self, table: str, split: str) -> Job:
        """Build the job that chooses n-grams that distinguish a table's outputs."""
        return Job(
            "evaluation.compare_ngrams",
            files={"outputs": self.get_first_run_paths(table, split), "references": self.get_reference_paths(split)},
            settings=self.bleu_settings,
            software=["sacrebleu"],
        )

    def build_select_example_sentences_job(self, table: str, split: str) -> Job:
        """Build the job that chooses sentences on which a table's outputs differ most."""
        return Job(
            "evaluation.select_example_sentences",
            files={
                "outputs": self.get_first_run_paths(table, split),
                "statistics": self.get_first_run_paths(table, split, "statistics.arrow"),
                "references": self.get_reference_paths(split),
                "source": f"<results>/corpus/clean/{split}.source",
            },
            software=["sacrebleu"],
        )

    def build_count_attention_shares_job(self, table: str) -> Job:
        """Build the job that counts high attention weights of a table's systems."""
        options = self.experiment.tables[table]
        assert isinstance(options, AttentionTableConfig)

        def get_run_files(system: str, run: str) -> dict[str, str]:
            stem = f"{get_run_folder('nmt', system, run)}/{options.set}"
            source = self.subword.get_packed_path(self.experiment.get_subword_name(system), options.set, "source")
            return {"attention": f"{stem}.attention.arrow", "source": source, "pieces": f"{stem}.pieces"}

        return Job(
            "evaluation.count_attention_shares",
            files={
                "systems": {
                    system: {run: get_run_files(system, run) for run in self.experiment.get_runs(system, table)}
                    for system in options.systems
                }
            },
            software=["pyarrow"],
        )

    def build_export_job(self) -> Job:
        """Build the job that exports the translations and scores of the requested tables."""
        corpora, outputs = self.experiment.corpora, self.get_exported_outputs()
        return Job(
            "evaluation.export",
            files={
                "sources": {split: f"<results>/corpus/clean/{split}.source" for split in outputs},
                "references": {split: self.get_reference_paths(split) for split in outputs},
                "translations": outputs,
                "scores": {
                    split: {
                        system: {
                            run: {
                                metric: f"{get_run_folder('evaluation', system, run)}/{split}.{metric}.json"
                                for metric in self.computed_metrics
                            }
                            for run in runs
                        }
                        for system, runs in systems.items()
                    }
                    for split, systems in outputs.items()
                    if split not in corpora.unscored_tests
                },
            },
            settings={"source_language": corpora.source.language, "target_language": corpora.target.language},
            software=["sacrebleu"],
        )


def _group_by_system(files: Mapping[tuple[str, str, str], str]) -> dict[str, dict[str, str]]:
    """Group the files of a set by system and run."""
    systems: dict[str, dict[str, str]] = {}
    for (system, run, _), file in files.items():
        systems.setdefault(system, {})[run] = file
    return systems


def _get_metric_modules(metrics: Sequence[str]) -> list[str]:
    return [f"evaluation.metrics.{metric}" for metric in dict.fromkeys(metrics)]
