"""What the rules of `evaluation` are given: translations, references and how BLEU is counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline_py.config.experiment import Experiment
from pipeline_py.config.tables import AttentionTable, MeasureTable
from pipeline_py.input_error import InputError
from pipeline_py.plan.corpus import CorpusPlan
from pipeline_py.plan.paths import folder_of_system
from pipeline_py.plan.subword import SubwordPlan

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

    def bleu_options(self) -> list[str]:
        """How BLEU is counted, as options."""
        evaluation = self.experiment.evaluation
        return [f"--tokenizer={evaluation.tokenizer}", "--lowercase" if evaluation.lowercase else "--cased"]

    @property
    def ceilings(self) -> str:
        """The ceilings of BLEU on all sets with references."""
        return "<results>/evaluation/ceiling.tsv"

    def ceiling_inputs(self) -> dict[str, dict[str, str]]:
        """Input files of the stage `ceiling` by option and name: tokens of the first reference, and all references."""
        sets = [split for split, text in self.experiment.corpora.held_out.items() if text.is_scored]
        tokens = self.corpus.tokens("target")
        return {
            "tokens": {split: tokens.format(split=split) for split in sets},
            "reference": {
                f"{split}:{number}": file
                for split in sets
                for number, file in enumerate(self.references(split), start=1)
            },
        }

    def ceiling_options(self) -> list[str]:
        """Return options for detokenization and BLEU, and the settings behind them."""
        target, evaluation = self.experiment.corpora.target, self.experiment.evaluation
        settings = {f"corpora.target.{key}": getattr(target, key) for key in ("language", "tokenizer")}
        if target.punctuation != "keep":
            settings["corpora.target.punctuation"] = target.punctuation
        if target.case != "keep":
            settings["corpora.target.case"] = target.case
        settings |= {f"evaluation.{key}": getattr(evaluation, key) for key in ("detokenizer", "tokenizer")}
        return [
            f"--language={target.language}",
            f"--detokenizer={evaluation.detokenizer}",
            *(["--truecased"] if target.case == "true" else []),
            *self.bleu_options(),
            *(f"--setting={key}: {value}" for key, value in settings.items()),
        ]

    def inference_options(self, systems: Sequence[str]) -> list[str]:
        """Options of `compare` and `claims` for what intervals and tests rest on."""
        networks = {
            system: "+".join(self.experiment.networks(system))
            for system in systems
            if self.experiment.is_neural(system)
        }
        return [
            f"--fewest-sentences={self.experiment.evaluation.fewest_sentences}",
            *(
                f"--run-deviation={metric}={value}"
                for metric, value in self.experiment.evaluation.run_deviations.items()
            ),
            *(
                f"--networks={system}={network}"
                for system, network in networks.items()
                if [*networks.values()].count(network) > 1
            ),
        ]

    def translations(self, system: str) -> dict[str, list[str]]:
        """A system's translations of all held-out sets, with {run} open, and what words are put back into them from."""
        made = f"{folder_of_system(self.experiment, system)}/{{run}}/{{split}}"
        files = {"pieces": f"{made}.pieces"}
        if self.restores_unknown(system) or self.restores_placeholders(system):
            source = self.subword.pieces(self.experiment.units_of(system), "source")
            files |= {"alignment": f"{made}.alignment", "source": source}
        if self.restores_placeholders(system):
            files |= {"tokens": self.corpus.tokens("source")}
        sets = self.experiment.corpora.held_out
        return {name: [file.replace("{split}", split) for split in sets] for name, file in files.items()}

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

    def putting_back(self, system: str) -> list[str]:
        """Options of `postprocess` for what is put back."""
        replaced, restored = self.restores_unknown(system), self.restores_placeholders(system)
        return [
            *(["--replace-unknown"] if replaced else []),
            *(["--restore-placeholders"] if restored else []),
            *(["--tagged"] if (replaced or restored) and self.is_tagged(system) else []),
        ]

    def text_options(self, inputs: Mapping[str, Sequence[str]], outputs: Mapping[str, Sequence[str]]) -> list[str]:
        """Options of `postprocess` for each set (`each_set`): what is read, and where text goes."""
        options = {"pieces": "pieces", "alignment": "alignment", "source": "source-pieces", "tokens": "source-tokens"}
        given = [(options[name], inputs[name]) for name in options if inputs.get(name)]
        made = [("output", outputs["text"]), ("counts-output", outputs["counts"])]
        return [
            word
            for number, split in enumerate(self.experiment.corpora.held_out)
            for word in (f"--set={split}", *(f"--{option}={files[number]}" for option, files in [*given, *made]))
        ]

    def attended_systems(self, table: str) -> dict[tuple[str, str, str], str]:
        """What the systems of a table attended to, read and said: files by system, run and option."""
        options = self.experiment.tables[table]
        assert isinstance(options, AttentionTable)
        return {
            (system, run, option): file
            for system in options.systems
            for run in self.experiment.runs(system, table)
            for option, file in (
                ("attention", f"<results>/nmt/{system}/{run}/{options.set}.attention.arrow"),
                ("source", self.subword.packed(self.experiment.units_of(system), options.set, "source")),
                ("pieces", f"<results>/nmt/{system}/{run}/{options.set}.pieces"),
            )
        }

    def outputs(self, table: str, split: str, systems: list[str] | None = None) -> dict[tuple[str, str], str]:
        """Detokenized outputs of a table's systems on one set, by system and run, in the table's order or another."""
        return {
            (system, run): f"<results>/evaluation/{system}/{run}/{split}.txt"
            for system in systems or self.said(table, split)
            for run in self.experiment.runs(system, table)
        }

    def said(self, table: str, *splits: str) -> list[str]:
        """A table's systems that have translations of all of some sets, in its order."""
        rows = self.experiment.rows(table)
        return [row for row in rows if all(self.experiment.has_output(row, split) for split in splits)]

    def unscored_outputs(self, table: str) -> list[str]:
        """Translations of the test sets without references, by the systems of a table of BLEU."""
        unscored = self.experiment.corpora.unscored_tests if self.experiment.tables[table].type == "bleu" else []
        return [file for split in unscored for file in self.outputs(table, split).values()]

    def statistics(
        self, table: str, split: str, systems: Sequence[str] | None = None
    ) -> dict[tuple[str, str, str], str]:
        """What is counted of these outputs, by system, run and set."""
        return {
            (system, run, split): f"<results>/evaluation/{system}/{run}/{split}.statistics.arrow"
            for system in (self.said(table, split) if systems is None else systems)
            for run in self.experiment.runs(system, table)
        }

    def tested(self, table: str, split: str) -> dict[tuple[str, str, str], str]:
        """The same, of systems in the order in which they are tested."""
        return self.statistics(table, split, self.tested_systems(table, split))

    def tested_systems(self, table: str, split: str) -> list[str]:
        """A table's systems that have translations of a set, in the order in which they are tested."""
        said = self.said(table, split)
        return [system for system in self.experiment.tested_in_order(table) if system in said]

    def broken_down(self, table: str, split: str) -> dict[tuple[str, str, str], str]:
        """The same, of all sets that a breakdown is of, by systems that have translations of all of them."""
        sets = self.sets_together(table, split)
        systems = self.said(table, *sets)
        return {place: file for one in sets for place, file in self.statistics(table, one, systems).items()}

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

    def comet(self) -> dict[str, str]:
        """What decides what COMET says; the weights are told by their content."""
        found, given = self.experiment.find_comet(), self.experiment.evaluation.comet
        if found is None or given is None:
            return {}
        name = Path(given.model).name if Path(self.experiment.data, given.model).exists() else given.model
        return {"checkpoint": found.checkpoint, "signature": f"model:{name}|refs:1|version:{found.version}"}

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

    def first_runs(self, table: str, split: str) -> dict[str, str]:
        """Detokenized outputs by system, of several runs that of the first, from the baseline on."""
        return {
            system: f"<results>/evaluation/{system}/{self.experiment.runs(system, table)[0]}/{split}.txt"
            for system in self.from_baseline(table, split)
        }

    def first_statistics(self, table: str, split: str) -> dict[str, str]:
        """What is counted of these, by system."""
        return {
            system: f"<results>/evaluation/{system}/{self.experiment.runs(system, table)[0]}/{split}.statistics.arrow"
            for system in self.from_baseline(table, split)
        }

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

    def trees_of_properties(self, split: str, trees: str) -> dict[str, str]:
        """The option and the file of trees, of PARSER.ANNOTATION; nothing of words."""
        parser, _, annotation = trees.rpartition(".")
        option = "dependencies" if annotation == "conllu" else "phrases"
        return {option: f"<results>/syntax/{parser}/{split}.{annotation}"} if parser else {}

    def told_apart(self, table: str, split: str) -> dict[str, dict[tuple[str, str], str]]:
        """Scores of both translations of a contrastive set, by option and by a table's systems and runs, as tested."""
        systems = self.experiment.tested_in_order(table)
        return {
            option: {
                (system, run): f"{folder_of_system(self.experiment, system)}/{run}/{split}.{option}.tsv"
                for system in systems
                if self.experiment.gives_scores(system, split)
                for run in self.experiment.runs(system, table)
            }
            for option in ("correct", "contrastive")
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

    def form_from_elsewhere(self, system: str) -> str:
        """How words stand in such translations."""
        outside = self.experiment.from_elsewhere(system)
        assert outside is not None
        return outside.form

    def parsed_only(self, table: str, split: str) -> dict[str, str]:
        """What says which sentences a table scores; nothing where it scores all."""
        parser = getattr(self.experiment.tables[table], "parsed_by", None)
        return {} if parser is None else {"parsed": f"<results>/evaluation/source/{split}.{parser}.ptb.arrow"}
