"""What the rules of `evaluation` are given: translations, references and how BLEU is counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline_py.config.experiment import Experiment
from pipeline_py.config.tables import AttentionTable, MeasureTable
from pipeline_py.plan.corpus import CorpusPlan
from pipeline_py.plan.paths import folder_of_system
from pipeline_py.plan.subword import SubwordPlan
from pipeline_py.run.errors import InputError
from pipeline_py.run.job import Files, Job

TESTS = "tests"
"""All test sets together, in the place of a set."""


@dataclass(frozen=True)
class EvaluationPlan:
    """What is scored and compared with what."""

    experiment: Experiment
    corpus: CorpusPlan
    subword: SubwordPlan

    def references(self, split: str) -> list[str]:
        """The reference translations of a held-out set."""
        return [f"<results>/corpus/clean/{split}.{side}" for side in self.corpus.references[split]]

    @property
    def bleu_settings(self) -> dict[str, Any]:
        """Settings of stages for counting BLEU."""
        evaluation = self.experiment.evaluation
        return {"tokenizer": evaluation.tokenizer, "lowercase": evaluation.lowercase}

    @property
    def ceilings(self) -> str:
        """The ceilings of BLEU on all sets with references."""
        return "<results>/evaluation/ceiling.tsv"

    def translations(self, system: str) -> dict[str, str]:
        """Return the files of a system's translations, with {run} and {split} open, by parameter of `postprocess`."""
        stem = f"{folder_of_system(self.experiment, system)}/{{run}}/{{split}}"
        files = {"pieces": f"{stem}.pieces"}
        if self.restores_unknown(system) or self.restores_placeholders(system):
            source = self.subword.pieces(self.experiment.units_of(system), "source")
            files |= {"alignment": f"{stem}.alignment", "source_pieces": source}
        if self.restores_placeholders(system):
            files |= {"source_tokens": self.corpus.tokens("source")}
        return files

    def restores_unknown(self, system: str) -> bool:
        """Whether unknown words are taken from the source afterwards; the phrase-based decoder does it itself."""
        decoding = getattr(self.experiment.systems[system], "decoding", None)
        return decoding is not None and decoding.replace_unknown

    def restores_placeholders(self, system: str) -> bool:
        """Whether a system knows rare times, dates and numbers as placeholders."""
        units = self.experiment.units
        return self.experiment.is_neural(system) and units[self.experiment.units_of(system)].generalise is not None

    def is_split(self, system: str) -> bool:
        """Whether a system translates into pieces of words."""
        units = self.experiment.units
        return self.experiment.is_neural(system) and units[self.experiment.units_of(system)].scheme == "bpe"

    def is_tagged(self, system: str) -> bool:
        """Whether the sources of a system stand between tags of their task."""
        return self.experiment.is_neural(system) and self.experiment.units_of(system) in self.experiment.tasks

    def said(self, table: str, *splits: str) -> list[str]:
        """A table's systems that have translations of all of some sets, in its order."""
        rows = self.experiment.rows(table)
        return [row for row in rows if all(self.experiment.has_output(row, split) for split in splits)]

    def unscored_outputs(self, table: str) -> list[str]:
        """Translations of the test sets without references, by the systems of a table of BLEU."""
        unscored = self.experiment.corpora.unscored_tests if self.experiment.tables[table].type == "bleu" else []
        return [file for split in unscored for runs in self.outputs(table, split).values() for file in runs.values()]

    def statistics_files(
        self, table: str, split: str, systems: Sequence[str] | None = None
    ) -> dict[tuple[str, str, str], str]:
        """What is counted of these outputs, by system, run and set."""
        return {
            (system, run, split): f"<results>/evaluation/{system}/{run}/{split}.statistics.arrow"
            for system in (self.said(table, split) if systems is None else systems)
            for run in self.experiment.runs(system, table)
        }

    def tested_systems(self, table: str, split: str) -> list[str]:
        """A table's systems that have translations of a set, in the order in which they are tested."""
        said = self.said(table, split)
        return [system for system in self.experiment.tested_in_order(table) if system in said]

    def sets_together(self, table: str, split: str) -> list[str]:
        """The sets that a breakdown is of: all test sets of a table, or one."""
        return self.compared_tests(table) if split == TESTS else [split]

    def compared_tests(self, table: str) -> list[str]:
        """The test sets on which a table's systems are compared."""
        return [split for split in self.compared_sets(table) if split in self.corpus.tests]

    def is_drawn_by_length(self, table: str) -> bool:
        """Whether there is a figure of scores by length: of the systems with translations of all test sets."""
        tests = self.compared_tests(table)
        return self.experiment.tables[table].type == "bleu" and bool(self.said(table, *tests))

    @property
    def metrics(self) -> list[str]:
        """What is counted of outputs."""
        return self.experiment.metrics_counted

    def scored_elsewhere(self) -> dict[str, str]:
        """Scores of sentences by programs of their own, by metric, with {system}, {run} and {split} open."""
        scores = "<results>/evaluation/{system}/{run}/{split}.comet_scores.json"
        return {"comet": scores} if "comet" in self.metrics else {}

    def compared_sets(self, table: str) -> list[str]:
        """The held-out sets on which a table's systems are compared; none where it is no table of scores."""
        return self.experiment.compared_sets(table)

    def from_baseline(self, table: str, split: str) -> list[str]:
        """A table's systems with translations of a set, or of all test sets.

        In front stands the one that others are compared with: the table's baseline, or else its first row.
        """
        rows = self.said(table, *self.sets_together(table, split))
        baseline = getattr(self.experiment.tables[table], "baseline", None)
        return sorted(rows, key=lambda row: row != baseline)

    def tested_metrics(self, table: str) -> list[str]:
        """What a table's systems are compared by: the metrics of the experiment, and those that the table marks."""
        options = self.experiment.tables[table]
        marked = options.metrics if isinstance(options, MeasureTable) and options.marks else []
        return [*dict.fromkeys([*self.experiment.evaluation.metrics, *marked])]

    def trees_of_sentences(self, table: str) -> tuple[str, str] | None:
        """The trees that a table's sentences are grouped by, as parser and annotation; nothing without a parser.

        They are those that the table's networks read, or else others do that are asked for: no tree is made for this
        alone. Dependencies say more than phrases, and control trees say nothing.
        """
        networks = [network for row in self.experiment.rows(table) for network in self.experiment.networks(row)]
        read = [
            (parser, trees)
            for network in [*networks, *self.experiment.networks_asked]
            if (parser := self.experiment.network(network).parser) is not None
            for trees in self.experiment.trees_read(network)
        ]
        telling = [(parser, trees) for parser, trees in read if self.experiment.parsers[parser].type != "control"]
        return min(telling, key=lambda one: one[1] != "conllu", default=None)

    def properties(self, table: str, split: str) -> str:
        """What a table's sentences are grouped by."""
        return f"<results>/evaluation/source/{split}.{'.'.join(self.trees_of_sentences(table) or ['words'])}.arrow"

    def told_apart(self, table: str, split: str) -> dict[str, dict[str, dict[str, str]]]:
        """Return scores of both translations of a contrastive set: parameter of `contrast` → system → run → file."""
        systems = self.experiment.tested_in_order(table)
        return {
            kind: {
                system: {
                    run: f"{folder_of_system(self.experiment, system)}/{run}/{split}.{kind}.tsv"
                    for run in self.experiment.runs(system, table)
                }
                for system in systems
                if self.experiment.gives_scores(system, split)
            }
            for kind in ("correct", "contrastive")
        }

    def contrastive_sets(self, table: str) -> list[str]:
        """The contrastive sets that a table's systems are tried on; none that no system gives probabilities on."""
        sets, rows = self.experiment.tables[table].contrasted_in(self.experiment.corpora), self.experiment.rows(table)
        return [split for split in sets if any(self.experiment.gives_scores(row, split) for row in rows)]

    def file_from_elsewhere(self, system: str, run: str, split: str) -> str:
        """What the user brings of a run of a system on a set: translations, or scores of a contrastive one.

        Raises:
            InputError: there is nothing.
        """
        outside, runs = self.experiment.from_elsewhere(system), self.experiment.runs(system)
        assert outside is not None
        key, files = (
            ("scores", outside.scores) if split in self.experiment.corpora.contrastive else ("files", outside.files)
        )
        if split not in files or run not in runs:
            raise InputError(
                f"`{system}` was made elsewhere, and has no {run} of `{split}`; give `systems.{system}.{key}`"
            )
        return self.experiment.path(files[split][runs.index(run)])

    def parsed_only(self, table: str, split: str) -> dict[str, str]:
        """What says which sentences a table scores; nothing where it scores all."""
        parser = getattr(self.experiment.tables[table], "parsed_by", None)
        return {} if parser is None else {"parsed": f"<results>/evaluation/source/{split}.{parser}.ptb.arrow"}

    def inference_settings(self, systems: Sequence[str]) -> dict[str, Any]:
        """Return the settings of `compare` and `claims` for intervals and tests."""
        networks = {
            system: "+".join(self.experiment.networks(system))
            for system in systems
            if self.experiment.is_neural(system)
        }
        return {
            "fewest_sentences": self.experiment.evaluation.fewest_sentences,
            "run_deviation": self.experiment.evaluation.run_deviations,
            "networks": {
                system: network for system, network in networks.items() if [*networks.values()].count(network) > 1
            },
        }

    def outputs(self, table: str, split: str, systems: Sequence[str] | None = None) -> dict[str, dict[str, str]]:
        """Return detokenized outputs on one set by system and run, in the order of the table or of `systems`."""
        return {
            system: {
                run: f"<results>/evaluation/{system}/{run}/{split}.txt" for run in self.experiment.runs(system, table)
            }
            for system in (self.said(table, split) if systems is None else systems)
        }

    def first_outputs(self, table: str, split: str, ending: str = "txt") -> dict[str, Files]:
        """Return a file of the first run of each system on one set, baseline first."""
        return {
            system: f"<results>/evaluation/{system}/{self.experiment.runs(system, table)[0]}/{split}.{ending}"
            for system in self.from_baseline(table, split)
        }

    # Jobs of the rules, each called like its rule.

    def ceiling(self) -> Job:
        """Compute the ceiling of BLEU on all sets with references."""
        target, evaluation = self.experiment.corpora.target, self.experiment.evaluation
        sets = [split for split, text in self.experiment.corpora.held_out.items() if text.is_scored]
        causes = {f"corpora.target.{key}": getattr(target, key) for key in ("language", "tokenizer")}
        if target.punctuation != "keep":
            causes["corpora.target.punctuation"] = target.punctuation
        if target.case != "keep":
            causes["corpora.target.case"] = target.case
        causes |= {f"evaluation.{key}": getattr(evaluation, key) for key in ("detokenizer", "tokenizer")}
        return Job(
            "evaluation.ceiling",
            files={
                "tokens": {split: self.corpus.tokens("target").format(split=split) for split in sets},
                "references": {split: self.references(split) for split in sets},
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

    def postprocess(self, system: str, run: str) -> Job:
        """Turn the translations of all held-out sets into text."""
        files = self.translations(system)
        return Job(
            "evaluation.postprocess",
            sets={
                split: {name: file.format(run=run, split=split) for name, file in files.items()}
                for split in self.experiment.corpora.held_out
            },
            settings={
                "language": self.experiment.corpora.target.language,
                "detokenizer": self.experiment.evaluation.detokenizer,
                "joiner": "bpe" if self.is_split(system) else "none",
                "truecased": self.experiment.corpora.target.case == "true",
                "replace_unknown": self.restores_unknown(system),
                "restore_placeholders": self.restores_placeholders(system),
                "tagged": self.is_tagged(system),
            },
            software=["sacremoses"],
        )

    def import_translations(self, system: str, run: str, split: str) -> Job:
        """Import translations of a set that the user gives."""
        outside = self.experiment.from_elsewhere(system)
        assert outside is not None
        return Job(
            "evaluation.import_translations",
            files={
                "translations": self.file_from_elsewhere(system, run, split),
                "source": f"<results>/corpus/clean/{split}.source",
            },
            settings={
                "name": split,
                "form": outside.form,
                "language": self.experiment.corpora.target.language,
                "detokenizer": self.experiment.evaluation.detokenizer,
            },
            software=["sacremoses"],
        )

    def import_scores(self, system: str, run: str, split: str) -> Job:
        """Import scores of the pairs of a contrastive set that the user gives."""
        return Job(
            "evaluation.import_scores",
            files={"scores": self.file_from_elsewhere(system, run, split), "pairs": self.corpus.pairs_of(split)},
            settings={"name": split},
        )

    def comet_scores(self, system: str, run: str, split: str) -> Job:
        """Score the sentences of an output by COMET."""
        comet, options = self.experiment.find_comet(), self.experiment.evaluation.comet
        assert comet is not None and options is not None
        name = Path(options.model).name if Path(self.experiment.data, options.model).exists() else options.model
        return Job(
            "evaluation.comet_scores",
            files={
                "source": f"<results>/corpus/clean/{split}.source",
                "hypothesis": f"<results>/evaluation/{system}/{run}/{split}.txt",
                "reference": self.references(split)[0],
                "checkpoint": comet.checkpoint,
            },
            settings={"signature": f"model:{name}|refs:1|version:{comet.version}"},
            execution={"python": options.python, "gpus": options.gpus},
        )

    def statistics(self, system: str, run: str, split: str) -> Job:
        """Compute the statistics of an output for all metrics."""
        segment_scores = {
            metric: file.format(system=system, run=run, split=split) for metric, file in self.scored_elsewhere().items()
        }
        return Job(
            "evaluation.statistics",
            files={
                "hypothesis": f"<results>/evaluation/{system}/{run}/{split}.txt",
                "references": self.references(split),
                "segment_scores": segment_scores,
            },
            settings={
                "metrics": self.metrics,
                **self.bleu_settings,
                "language": self.corpus.language("target").language,
            },
            software=["sacrebleu"],
            modules=_modules([*self.metrics, "chrf"]),
        )

    def source_properties(self, split: str, grouping: str) -> Job:
        """Measure the sentences of a set; grouping is PARSER.ANNOTATION, or `words` without trees."""
        parser, _, annotation = grouping.rpartition(".")
        option = "dependencies" if annotation == "conllu" else "phrases"
        trees = {option: f"<results>/syntax/{parser}/{split}.{annotation}"} if parser else {}
        return Job(
            "evaluation.source_properties",
            files={"source": self.corpus.tokens("source").format(split=split), **trees},
            software=["pyarrow"],
        )

    def compare(self, table: str, split: str) -> Job:
        """Compare all pairs of a table's systems on a set."""
        systems, metrics = self.tested_systems(table, split), self.tested_metrics(table)
        return Job(
            "evaluation.compare",
            files={
                "statistics": _by_system(self.statistics_files(table, split, systems)),
                **self.parsed_only(table, split),
            },
            settings={"metrics": metrics, **self.inference_settings(systems)},
            software=["scipy"],
            modules=_modules(metrics),
        )

    def breakdown(self, table: str, split: str) -> Job:
        """Score groups of similar sentences of a set, or of all test sets of a table."""
        sets, metrics = self.sets_together(table, split), self.experiment.evaluation.metrics
        systems = self.said(table, *sets)
        return Job(
            "evaluation.breakdown",
            files={
                "statistics": {one: _by_system(self.statistics_files(table, one, systems)) for one in sets},
                "properties": {one: self.properties(table, one) for one in sets},
            },
            settings={
                "metrics": metrics,
                "bounds": self.experiment.evaluation.length_groups,
                "baseline": self.from_baseline(table, split)[0],
            },
            modules=_modules([*metrics, "chrf"]),
        )

    def contrast(self, table: str, split: str) -> Job:
        """Compare a table's systems on a contrastive set."""
        return Job(
            "evaluation.contrast",
            files={**self.told_apart(table, split), "pairs": self.corpus.pairs_of(split)},
            software=["scipy"],
        )

    def word_frequencies(self) -> Job:
        """Count the words of the target side of the training text."""
        return Job(
            "evaluation.word_frequencies",
            files={"text": "<results>/corpus/clean/train.target"},
            settings=self.bleu_settings,
            software=["sacrebleu"],
        )

    def words(self, table: str, split: str) -> Job:
        """Measure the words of a table's outputs by frequency."""
        return Job(
            "evaluation.words",
            files={
                "outputs": self.outputs(table, split),
                "references": self.references(split),
                "frequencies": "<results>/evaluation/word_frequencies.txt",
            },
            settings=self.bleu_settings,
            software=["sacrebleu"],
        )

    def ngrams(self, table: str, split: str) -> Job:
        """Choose n-grams that tell a table's outputs apart."""
        return Job(
            "evaluation.ngrams",
            files={"outputs": self.first_outputs(table, split), "references": self.references(split)},
            settings=self.bleu_settings,
            software=["sacrebleu"],
        )

    def examples(self, table: str, split: str) -> Job:
        """Choose sentences on which a table's outputs differ most."""
        return Job(
            "evaluation.examples",
            files={
                "outputs": self.first_outputs(table, split),
                "statistics": self.first_outputs(table, split, "statistics.arrow"),
                "references": self.references(split),
                "source": f"<results>/corpus/clean/{split}.source",
            },
            software=["sacrebleu"],
        )

    def attention_shares(self, table: str) -> Job:
        """Count high attention weights of a table's systems."""
        options = self.experiment.tables[table]
        assert isinstance(options, AttentionTable)

        def files(system: str, run: str) -> dict[str, str]:
            stem = f"<results>/nmt/{system}/{run}/{options.set}"
            source = self.subword.packed(self.experiment.units_of(system), options.set, "source")
            return {"attention": f"{stem}.attention.arrow", "source": source, "pieces": f"{stem}.pieces"}

        return Job(
            "evaluation.attention_shares",
            files={
                "systems": {
                    system: {run: files(system, run) for run in self.experiment.runs(system, table)}
                    for system in options.systems
                }
            },
            software=["pyarrow"],
        )


def _by_system(files: Mapping[tuple[str, str, str], str]) -> dict[str, dict[str, str]]:
    """Group files of one set, by system, run and set, as system → run → file."""
    systems: dict[str, dict[str, str]] = {}
    for (system, run, _), file in files.items():
        systems.setdefault(system, {})[run] = file
    return systems


def _modules(metrics: Sequence[str]) -> list[str]:
    """Return the modules of metrics, which stages find by name."""
    return [f"evaluation.metrics.{metric}" for metric in dict.fromkeys(metrics)]
