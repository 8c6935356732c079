"""The Python interface of trained systems: `from pipeline_py import load`."""

import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline_py.application.experiment_reader import UNSHARDED_PARSING, read_experiment
from pipeline_py.application.result_files import BundleFiles, ExperimentFiles
from pipeline_py.application.text_pipeline import TextPipeline
from pipeline_py.config.systems.training import DecodingConfig
from pipeline_py.corpus.characters import count_words, replace_control_characters
from pipeline_py.files.encoding_faults import find_surrogate_fault
from pipeline_py.files.text_files import read_lines, split_tokens
from pipeline_py.report.bundle_system import DESCRIPTION_NAME
from pipeline_py.run.errors import InputError
from pipeline_py.run.workflow_files import (
    DEFAULT_CONFIG_NAME,
    EXPERIMENT_NAME,
    SNAKEFILE_NAME,
    choose_run_command,
    find_experiment_files,
)

if TYPE_CHECKING:
    from pipeline_py.application.sentence_attention import Attention

MAX_SENTENCE_CHARACTERS = 2000
"""Maximum length of a sentence; time and memory grow with the square of its number of words."""

NETWORK_ARGUMENT_NAMES = "model", "config", "source", "syntax", "target_vocabulary", "device", "threads"
"""Common arguments of the stages that run networks."""


class Translation(NamedTuple):
    """A translation and its score in the search (higher is better).

    With the default `decoding`, the score is the natural logarithm of its probability.
    """

    text: str
    score: float


def load(
    system: str | Path,
    *,
    run: str | None = None,
    configfile: str | Path | Sequence[str | Path] = (),
    config: Mapping[str, Any] | None = None,
    directory: str | Path | None = None,
) -> "System":
    """Open a system that the workflow has trained.

    The folder of a run with `system.json` contains everything but files of yours, such as Stanza's models, and may be
    moved. For the name of a system, or results without this file, pass the same options as to Snakemake.

    Args:
        system: name of the system or folder of its results: "SDAtt", "results/nmt/SDAtt/seed2".
        run: name of the run, e.g. "seed2"; by default the first.
        configfile: configuration files that override config.yaml; `system.json` is not read then.
        config: keys that override these files or `system.json`.
        directory: folder where Snakemake was run; paths in the configuration are relative to it. By default, the
            nearest folder with a Snakefile and config.yaml, from the results or the working folder upwards.

    Raises:
        InputError: the configuration is invalid, does not have this system or has another results folder; the system
            is not trained; or it reads trees that no parser makes.
    """
    files = [configfile] if isinstance(configfile, str | Path) else configfile
    overrides = [f"{key}={json.dumps(value)}" for key, value in (config or {}).items()]
    return load_from_cli_options(system, run, [*map(str, files)], overrides, directory)


def load_from_cli_options(
    system: str | Path,
    run: str | None,
    configfiles: Sequence[str],
    config_overrides: Sequence[str],
    directory: str | Path | None = None,
) -> "System":
    """Open a system like `load`, with command-line options: `config_overrides` are KEY=VALUE."""
    bundle = None if configfiles or directory is not None else find_bundle(Path(system), run, config_overrides)
    if bundle is not None:
        description = bundle.description
        return System(TextPipeline(bundle.experiment, description["system"], description["run"], bundle))
    results, name, run_of_path = _parse_system_path(system)
    start = Path.cwd() if results is None else results.absolute()
    folder = Path(directory).absolute() if directory is not None else _find_snakemake_folder(start)
    if not _is_experiment_folder(folder):
        raise InputError(
            f"there is no {SNAKEFILE_NAME} or {EXPERIMENT_NAME}, and {system} is not the folder of a run with "
            f"{DESCRIPTION_NAME}; give such a folder, or change to the folder where you run the experiment",
            folder,
        )
    configfiles = find_experiment_files(folder, configfiles)
    experiment = read_experiment(folder, configfiles, config_overrides, UNSHARDED_PARSING)
    results_folder = experiment.get_output_folder("results")
    if results is not None and results.resolve() != (folder / results_folder).resolve():
        raise InputError(
            f"the results of this experiment are in {results_folder}; give the configfile that the system was trained "
            "with",
            results,
        )
    run_options = [
        *(["--configfile", *configfiles] if configfiles else []),
        *(["--config", *config_overrides] if config_overrides else []),
    ]
    files = ExperimentFiles(folder, results_folder, choose_run_command(folder), run_options)
    system_name = experiment.systems_by_folder.get(name, name)
    return System(TextPipeline(experiment, system_name, run or run_of_path, files))


def find_bundle(path: Path, run: str | None, config_overrides: Sequence[str]) -> BundleFiles | None:
    """Return the self-contained folder of a run at a path; None if there is none.

    Args:
        path: the folder of a run, or of a system with its runs.
        run: name of the run; None for the first.
        config_overrides: KEY=VALUE that override its configuration.

    Raises:
        InputError: there are other runs, or a description is invalid.
    """
    folders = [path, *sorted(path.glob("*"), key=lambda folder: (len(folder.name), folder.name))]
    bundles = [
        BundleFiles(folder.absolute(), config_overrides) for folder in folders if (folder / DESCRIPTION_NAME).is_file()
    ]
    if run is None:
        return bundles[0] if bundles else None
    runs = [bundle.description["run"] for bundle in bundles]
    if bundles and run not in runs:
        raise InputError(f"there is no run `{run}`, but {', '.join(runs)}", path)
    return bundles[runs.index(run)] if bundles else None


class System:
    """A trained system, opened by `load`; its models are loaded once, on first use.

    Sentences go through the jobs of the workflow, from cleaning to detokenization. The object is thread-safe; its
    stages run one at a time.
    """

    def __init__(self, pipeline: TextPipeline) -> None:
        self._pipeline = pipeline

    def __repr__(self) -> str:
        return f"<System {self.name} ({self.run})>"

    @property
    def name(self) -> str:
        """The name of the system in the experiment."""
        return self._pipeline.system_name

    @property
    def run(self) -> str:
        """The name of the run, e.g. "seed1"."""
        return self._pipeline.run_name

    def translate(self, sentences: Sequence[str]) -> list[str]:
        """Translate sentences.

        A sentence of more than 2,000 characters is translated in parts.

        Args:
            sentences: any texts; line ends count as spaces.

        Returns:
            One translation per sentence, which is empty if the sentence has no word.
        """
        parts = [split_long_text(sentence) for sentence in _check_sentences(sentences)]
        with self._create_work_folder() as work:
            texts = iter(self._translate(work, [part for sentence_parts in parts for part in sentence_parts], {}))
            return [" ".join(filter(None, (next(texts) for _ in sentence_parts))) for sentence_parts in parts]

    def n_best(self, sentences: Sequence[str], size: int = 5) -> list[list[Translation]]:
        """Return the best translations of each sentence, best first.

        Args:
            sentences: see `translate`.
            size: number of translations, at most `decoding.beam`, or the narrowest of its widths; a short sentence may
                have fewer.

        Raises:
            InputError: the system is phrase-based, or `size` exceeds the beam.
        """
        self._check_is_neural("scores")
        beam = min(DecodingConfig.model_validate(self._get_decoding_options()).beam_widths)
        if not 1 <= size <= beam:
            raise InputError(f"the search keeps {beam} translations (`decoding.beam`); ask for 1 to {beam}, not {size}")
        parts = [split_long_text(sentence) for sentence in _check_sentences(sentences)]
        with self._create_work_folder() as work:
            ranked = iter(
                self._translate_n_best(work, [part for sentence_parts in parts for part in sentence_parts], size)
            )
            return [_join_n_best_parts([next(ranked) for _ in sentence_parts]) for sentence_parts in parts]

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Compute log p(translation | source) by forced decoding.

        Args:
            pairs: pairs of a source and a translation.

        Returns:
            Natural logarithms, summed over the pieces of each translation and EOS.

        Raises:
            InputError: a text of a pair is empty or longer than 2,000 characters; the system is phrase-based.
        """
        self._check_is_neural("probabilities")
        _check_pairs(pairs)
        if not pairs:
            return []
        with self._create_work_folder() as work:
            translation = self._prepare_pairs(work, pairs)
            output = work / "scores.tsv"
            arguments = self._get_network_arguments(work, *NETWORK_ARGUMENT_NAMES)
            arguments |= {"translation": [str(translation)], "output": [str(output)]}
            self._pipeline.run_stage("nmt.force_decode", arguments, work)
            return [float(line.split("\t")[0]) for line in [*read_lines(output)][1:]]

    def attention(self, source: str, target: str | None = None) -> "Attention":
        """Compute the attention of the system while it produces a translation.

        Args:
            source: a sentence.
            target: its translation; by default, the system translates the sentence.

        Raises:
            InputError: a text is empty or longer than 2,000 characters; the system is phrase-based or an ensemble.
        """
        if target is None:
            (attention,) = self.attentions([source])
            if attention is None:
                raise InputError(f"the sentence is empty or longer than {MAX_SENTENCE_CHARACTERS} characters")
            return attention
        self.check_attends()
        _check_pairs([(source, target)])
        with self._create_work_folder() as work:
            return self._build_attentions(work, self._prepare_pairs(work, [(source, target)]), [1])[0]

    def attentions(self, sentences: Sequence[str]) -> "list[Attention | None]":
        """Compute the attention of the system while it translates sentences.

        Returns:
            The attention for each sentence; None if it has no word or more than 2,000 characters.

        Raises:
            InputError: the system is phrase-based or an ensemble.
        """
        self.check_attends()
        with self._create_work_folder() as work:
            fitting = [text if len(text) <= MAX_SENTENCE_CHARACTERS else "" for text in _check_sentences(sentences)]
            self._translate(work, fitting, {})
            pieces = Path(self._get_network_arguments(work, "pieces_output")["pieces_output"])
            source = [*read_lines(self._pipeline.find_work_file("source_pieces", work))] if fitting else []
            numbers = [number for number, line in enumerate(source, start=1) if split_tokens(line)]
            attentions = (
                dict(zip(numbers, self._build_attentions(work, pieces, numbers), strict=True)) if numbers else {}
            )
            return [attentions.get(number) for number in range(1, len(fitting) + 1)]

    def check_attends(self) -> None:
        """Check that the system is a single network.

        Raises:
            InputError: the system is phrase-based or an ensemble.
        """
        self._check_is_neural("attention")
        if len(self._get_network_arguments(Path(), "model")["model"]) > 1:
            raise InputError(f"{self.name} is an ensemble, whose members have separate attention; choose a member")

    @contextmanager
    def _create_work_folder(self) -> Iterator[Path]:
        with TemporaryDirectory(prefix="translate.") as folder:
            yield Path(folder).resolve()

    def _check_is_neural(self, feature: str) -> None:
        if "source_pieces" not in self._pipeline.files:
            raise InputError(f"{self.name} is phrase-based and has no {feature}; choose a network")

    def _get_network_arguments(self, work_folder: Path, *names: str) -> dict[str, Any]:
        """Return some arguments of `nmt.translate`."""
        arguments = self._pipeline.resolve_arguments(self._pipeline.translation_job, work_folder)
        return {name: arguments[name] for name in names if name in arguments}

    def _get_decoding_options(self) -> dict[str, Any]:
        return dict(self._get_network_arguments(Path(), "decoding")["decoding"])

    def _translate(
        self, work_folder: Path, sentences: Sequence[str], argument_overrides: Mapping[str, Any]
    ) -> list[str]:
        """Translate sentences with changed arguments of `nmt.translate`."""
        if not sentences:
            return []
        text = self._pipeline.files["text"]
        self._pipeline.make_files(
            work_folder, [text], sentences, argument_overrides={"nmt.translate": argument_overrides}
        )
        return [*read_lines(self._pipeline.find_work_file("text", work_folder))]

    def _translate_n_best(self, work_folder: Path, sentences: Sequence[str], size: int) -> list[list[Translation]]:
        if not sentences:
            return []
        file = work_folder / "n-best"
        changes = {"decoding": self._get_decoding_options() | {"n_best": size}, "n_best_output": str(file)}
        best = self._translate(work_folder, sentences, changes)
        n_best_lists: list[list[tuple[str, float]]] = [[] for _ in sentences]
        for line in read_lines(file):
            number, _, rest = line.partition(" ||| ")
            pieces, _, score = rest.rpartition(" ||| ")  # pieces may contain |||
            n_best_lists[int(number)].append((pieces, float(score)))
        texts = [
            best,
            *(
                self._postprocess_rank(work_folder, n_best_lists, rank)
                for rank in range(1, max(map(len, n_best_lists)))
            ),
        ]
        return [
            [Translation(texts[rank][number], score) for rank, (_, score) in enumerate(n_best)]
            for number, n_best in enumerate(n_best_lists)
        ]

    def _postprocess_rank(
        self, work_folder: Path, n_best_lists: Sequence[Sequence[tuple[str, float]]], rank: int
    ) -> list[str]:
        """Postprocess the translations of one rank; the text is empty if a sentence has none."""
        pieces, output = work_folder / f"{rank}.pieces", work_folder / f"{rank}.txt"
        lines = [n_best[rank][0] if rank < len(n_best) else "" for n_best in n_best_lists]
        pieces.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
        arguments = self._pipeline.resolve_arguments(self._pipeline.get_job(self._pipeline.files["text"]), work_folder)
        if "alignment" in arguments:  # the search only writes the alignment of the best translation
            arguments["alignment"] = str(self._write_alignment(work_folder, pieces, Path(arguments["source_pieces"])))
        arguments |= {"pieces": str(pieces), "output": str(output), "counts_output": str(work_folder / f"{rank}.json")}
        self._pipeline.run_stage("evaluation.postprocess", arguments, work_folder)
        return [*read_lines(output)]

    def _write_alignment(self, work_folder: Path, translation_path: Path, source_pieces: Path) -> Path:
        """Write for each piece the source position with the highest attention, ignoring phrases."""
        from pipeline_py.files.ragged_arrays import read_ragged_rows

        output = work_folder / f"{translation_path.name}.alignment"
        attention, _ = self._run_attend_stage(work_folder, translation_path)
        lines = zip(read_ragged_rows(attention), read_lines(translation_path), read_lines(source_pieces), strict=True)
        with output.open("w", encoding="utf-8", newline="\n") as file:
            for row, target, source in lines:
                steps, words = len(split_tokens(target)) + 1, len(split_tokens(source)) + 1
                weights = row.reshape(steps, -1)[:-1, :words] if len(row) else row.reshape(0, 1)
                file.write(" ".join(map(str, weights.argmax(axis=1))) + "\n")
        return output

    def _prepare_pairs(self, work_folder: Path, pairs: Sequence[tuple[str, str]]) -> Path:
        """Prepare the inputs of networks for pairs of texts, and return the pieces of the translations."""
        sources, targets = zip(*pairs, strict=True)
        files = [*self._pipeline.translation_job.input_paths, self._pipeline.files["target_pieces"]]
        self._pipeline.make_files(work_folder, files, sources, targets)
        return self._pipeline.find_work_file("target_pieces", work_folder)

    def _run_attend_stage(self, work_folder: Path, translation_path: Path) -> tuple[Path, Path]:
        """Compute attention and gates of the first network while it produces given translations."""
        arguments = self._get_network_arguments(work_folder, *NETWORK_ARGUMENT_NAMES)
        arguments |= {name: arguments[name][0] for name in ("model", "config", "source", "syntax")}
        outputs = (
            work_folder / f"{translation_path.name}.attention.arrow",
            work_folder / f"{translation_path.name}.gates.arrow",
        )
        arguments |= {"translation": str(translation_path)}
        arguments |= dict(zip(("attention_output", "gates_output"), map(str, outputs), strict=True))
        self._pipeline.run_stage("nmt.attend", arguments, work_folder)
        return outputs

    def _build_attentions(
        self, work_folder: Path, translation_path: Path, line_numbers: Sequence[int]
    ) -> "list[Attention]":
        from pipeline_py.application.sentence_attention import Attention
        from pipeline_py.report.figures.attended_sentence import read_attended_sentence

        attention, gates = self._run_attend_stage(work_folder, translation_path)
        pipeline = self._pipeline
        return [
            Attention(
                **vars(
                    read_attended_sentence(
                        number,
                        source_pieces=pipeline.find_work_file("source_pieces", work_folder),
                        translation=translation_path,
                        attention=attention,
                        tree=pipeline.find_work_file("tree", work_folder) if "tree" in pipeline.files else None,
                        lexical=pipeline.reads_lexical_trees,
                        gates=gates,
                    )
                )
            )
            for number in line_numbers
        ]


def split_long_text(sentence: str) -> list[str]:
    """Split a sentence that is too long, at spaces if possible."""
    if len(sentence) <= MAX_SENTENCE_CHARACTERS:
        return [sentence]
    return textwrap.wrap(
        sentence, MAX_SENTENCE_CHARACTERS, expand_tabs=False, replace_whitespace=False, break_on_hyphens=False
    ) or [""]


def _join_n_best_parts(parts: Sequence[Sequence[Translation]]) -> list[Translation]:
    """Join the translations of a sentence's parts rank by rank; a part with fewer translations repeats its last."""
    rows = ([part[min(rank, len(part) - 1)] for part in parts] for rank in range(max(len(part) for part in parts)))
    return [
        Translation(
            " ".join(filter(None, (translation.text for translation in row))),
            sum(translation.score for translation in row),
        )
        for row in rows
    ]


def _check_sentences(sentences: Sequence[str]) -> Sequence[str]:
    if isinstance(sentences, str) or not isinstance(sentences, Iterable):
        raise TypeError("give a list of sentences, not one text")
    texts = [*sentences]
    for number, sentence in enumerate(texts, start=1):
        if not isinstance(sentence, str):
            raise TypeError(f"sentence {number} is a {type(sentence).__name__}; give a text")
        if fault := find_surrogate_fault(sentence):
            raise InputError(f"sentence {number} {fault}")
    return texts


def _check_pairs(pairs: Sequence[tuple[str, str]]) -> None:
    for number, pair in enumerate(pairs, start=1):
        if isinstance(pair, str) or [*map(type, pair)] != [str, str]:
            raise TypeError(f"pair {number}: give a source and its translation, two texts")
        for text, side in zip(pair, ("source", "translation"), strict=True):
            if fault := find_surrogate_fault(text):
                raise InputError(f"pair {number}: the {side} {fault}")
            has_words = count_words(replace_control_characters(text)) > 0
            if not has_words or len(text) > MAX_SENTENCE_CHARACTERS:
                fault = f"of {len(text)} characters, more than {MAX_SENTENCE_CHARACTERS}" if has_words else "empty"
                raise InputError(f"pair {number}: the {side} is {fault}; leave the pair out")


def _parse_system_path(system_or_path: str | Path) -> tuple[Path | None, str, str | None]:
    """Parse the name or path of a system into the folder of results, the system or its folder, and the run."""
    parts = Path(system_or_path).parts
    if len(parts) == 1:
        return None, parts[0], None
    for place in range(len(parts) - 2, -1, -1):
        if parts[place] in ("nmt", "smt"):
            return Path(*parts[:place]), parts[place + 1], parts[place + 2] if len(parts) > place + 2 else None
    if Path(system_or_path, DESCRIPTION_NAME).is_file():
        raise InputError(f"its configuration is in {DESCRIPTION_NAME}; leave out --configfile", Path(system_or_path))
    raise InputError("not a system or the folder of one; write SDAtt or results/nmt/SDAtt/seed1", Path(system_or_path))


def _find_snakemake_folder(start_folder: Path) -> Path:
    for folder in (start_folder, *start_folder.parents):
        if _is_experiment_folder(folder):
            return folder
    return start_folder


def _is_experiment_folder(folder: Path) -> bool:
    has_project = all((folder / name).is_file() for name in (SNAKEFILE_NAME, DEFAULT_CONFIG_NAME))
    return has_project or (folder / EXPERIMENT_NAME).is_file()
