"""A trained system, to be used from Python: `from pipeline_py import load`."""

import json
import shlex
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline_py.application.text_pipeline import TextPipeline, read_experiment
from pipeline_py.files.text_files import read_lines, split_tokens
from pipeline_py.run.errors import InputError

if TYPE_CHECKING:
    from pipeline_py.application.sentence_attention import Attention

MAX_SENTENCE_CHARACTERS = 2000
"""Characters that are translated as one sentence; time and memory grow with the square of its words."""

NETWORK_ARGUMENT_NAMES = "model", "config", "source", "syntax", "target_vocabulary", "device", "threads"
"""Arguments that `nmt.translate` and the other stages that run networks have in common."""


class Translation(NamedTuple):
    """A translation, and what the search ranks it by: the higher, the better.

    With the default `decoding` the score is the natural logarithm of its probability.
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

    The experiment is told as Snakemake is told it, since results do not hold it.

    Args:
        system: its name, or the folder of its results: "SDAtt", "results/nmt/SDAtt/seed2".
        run: which of its trainings, e.g. "seed2"; by default the first.
        configfile: files that are laid over config.yaml, if there were any.
        config: keys that are laid over these.
        directory: where Snakemake was run; by default the nearest folder with a Snakefile, from here or from the
            results upwards. Paths of the configuration start there.

    Raises:
        InputError: the configuration is at fault, has no such system or keeps its results elsewhere; the system is
            not trained; or it reads trees that no parser makes.
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
    """Open a system as `load` does, with the options of a command line: `config_overrides` is KEY=VALUE."""
    results, name, run_of_path = _parse_system_path(system)
    start = Path.cwd() if results is None else results.absolute()
    folder = Path(directory).absolute() if directory is not None else _find_snakemake_folder(start)
    if not (folder / "Snakefile").is_file():
        raise InputError("there is no Snakefile; go to the folder where you run snakemake, or name it", folder)
    experiment = read_experiment(folder, configfiles, config_overrides)
    if results is not None and results.resolve() != (folder / experiment.get_output_folder("results")).resolve():
        raise InputError(
            f"this experiment keeps its results in {experiment.get_output_folder('results')}; name the configfile that the system "
            "was trained with",
            results,
        )
    words = [
        *(["--configfile", *configfiles] if configfiles else []),
        *(["--config", *config_overrides] if config_overrides else []),
    ]
    remedy = f"snakemake --cores all {{file}} {shlex.join(words)}".strip()
    return System(TextPipeline(experiment, name, run or run_of_path, folder, remedy))


class System:
    """A trained system; `load` opens it, its models are loaded when they are first needed and then stay.

    Every sentence goes through the jobs of the workflow, from cleaning to detokenization. Several threads may use it;
    its stages run one at a time.
    """

    def __init__(self, pipeline: TextPipeline) -> None:
        self._pipeline = pipeline

    def __repr__(self) -> str:
        return f"<System {self.name} ({self.run})>"

    @property
    def name(self) -> str:
        """Its name in the experiment."""
        return self._pipeline.system_name

    @property
    def run(self) -> str:
        """The name of its training, e.g. "seed1"."""
        return self._pipeline.run_name

    def translate(self, sentences: Sequence[str]) -> list[str]:
        """Translate sentences, whatever they hold.

        One of more than 2,000 characters is translated in parts, which are joined.

        Args:
            sentences: one a text; a line end counts as a space.

        Returns:
            A translation of each, in order; an empty one of what has no word.
        """
        parts = [split_long_text(sentence) for sentence in _check_sentences(sentences)]
        with self._create_work_folder() as work:
            texts = iter(self._translate(work, [part for sentence_parts in parts for part in sentence_parts], {}))
            return [" ".join(filter(None, (next(texts) for _ in sentence_parts))) for sentence_parts in parts]

    def n_best(self, sentences: Sequence[str], size: int = 5) -> list[list[Translation]]:
        """Give the best translations of each sentence, best first.

        Args:
            sentences: as in `translate`.
            size: how many; no more than `decoding.beam`. Of a short sentence there may be fewer.

        Raises:
            InputError: the system is phrase-based, or the beam is narrower.
        """
        self._check_is_neural("scores")
        beam = self._get_decoding_options()["beam"]
        if not 1 <= size <= beam:
            raise InputError(f"the search keeps {beam} translations (`decoding.beam`); ask for 1 to {beam}, not {size}")
        parts = [split_long_text(sentence) for sentence in _check_sentences(sentences)]
        with self._create_work_folder() as work:
            ranked = iter(
                self._translate_n_best(work, [part for sentence_parts in parts for part in sentence_parts], size)
            )
            return [_join_n_best_parts([next(ranked) for _ in sentence_parts]) for sentence_parts in parts]

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Compute log p(translation | source) of given translations: forced decoding.

        Args:
            pairs: a source and a translation each, both text.

        Returns:
            Natural logarithms, summed over the pieces of a translation and its end.

        Raises:
            InputError: a text of a pair is empty or longer than 2,000 characters; the system is phrase-based.
        """
        self._check_is_neural("probabilities")
        for number, pair in enumerate(pairs, start=1):
            if isinstance(pair, str) or [*map(type, pair)] != [str, str]:
                raise TypeError(f"pair {number}: give a source and its translation, two texts")
            for text, side in zip(pair, ("source", "translation"), strict=True):
                if not text.strip() or len(text) > MAX_SENTENCE_CHARACTERS:
                    fault = (
                        f"of {len(text)} characters, more than {MAX_SENTENCE_CHARACTERS}" if text.strip() else "empty"
                    )
                    raise InputError(f"pair {number}: the {side} is {fault}; leave the pair out")
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
        """Say what the system attends to as it says a translation.

        Args:
            source: a sentence.
            target: its translation; None: the system's own.

        Raises:
            InputError: a text is empty or longer than 2,000 characters; the system is phrase-based or an ensemble.
        """
        if target is None:
            (attention,) = self.attentions([source])
            if attention is None:
                raise InputError(f"the sentence is empty or longer than {MAX_SENTENCE_CHARACTERS} characters")
            return attention
        self.check_attends()
        with self._create_work_folder() as work:
            return self._build_attentions(work, self._prepare_pairs(work, [(source, target)]), [1])[0]

    def attentions(self, sentences: Sequence[str]) -> "list[Attention | None]":
        """Say what the system attends to as it translates sentences.

        Returns:
            The attention of each; None where a sentence has no word or more than 2,000 characters.

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
        """See to it that the system is one network.

        Raises:
            InputError: it is phrase-based or an ensemble.
        """
        self._check_is_neural("attention")
        if len(self._get_network_arguments(Path(), "model")["model"]) > 1:
            raise InputError(f"{self.name} is an ensemble, each member of which attends for itself; name one of them")

    @contextmanager
    def _create_work_folder(self) -> Iterator[Path]:
        with TemporaryDirectory(prefix="translate.") as folder:
            yield Path(folder).resolve()

    def _check_is_neural(self, feature: str) -> None:
        if "source_pieces" not in self._pipeline.files:
            raise InputError(f"{self.name} is phrase-based and has no {feature}; take a network")

    def _get_network_arguments(self, work_folder: Path, *names: str) -> dict[str, Any]:
        """Return some arguments of `nmt.translate`."""
        arguments = self._pipeline.resolve_arguments(self._pipeline.translation_job, work_folder)
        return {name: arguments[name] for name in names if name in arguments}

    def _get_decoding_options(self) -> dict[str, Any]:
        return dict(self._get_network_arguments(Path(), "decoding")["decoding"])

    def _translate(
        self, work_folder: Path, sentences: Sequence[str], argument_overrides: Mapping[str, Any]
    ) -> list[str]:
        """Translate, with some arguments of `nmt.translate` changed."""
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
            pieces, _, score = rest.rpartition(" ||| ")  # which may hold a word |||
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
        """Make text of the translations of one rank; nothing where a sentence has none."""
        pieces, output = work_folder / f"{rank}.pieces", work_folder / f"{rank}.txt"
        lines = [n_best[rank][0] if rank < len(n_best) else "" for n_best in n_best_lists]
        pieces.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
        arguments = self._pipeline.resolve_arguments(self._pipeline.get_job(self._pipeline.files["text"]), work_folder)
        if "alignment" in arguments:  # the search writes that of the best translation only
            arguments["alignment"] = str(self._write_alignment(work_folder, pieces, Path(arguments["source_pieces"])))
        arguments |= {"pieces": str(pieces), "output": str(output), "counts_output": str(work_folder / f"{rank}.json")}
        self._pipeline.run_stage("evaluation.postprocess", arguments, work_folder)
        return [*read_lines(output)]

    def _write_alignment(self, work_folder: Path, translation_path: Path, source_pieces: Path) -> Path:
        """For each piece the position of the source that it attends to most, phrases left aside."""
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
        """Make what networks read of pairs of texts, and return the pieces of the translations."""
        sources, targets = zip(*pairs, strict=True)
        files = [*self._pipeline.translation_job.input_paths, self._pipeline.files["target_pieces"]]
        self._pipeline.make_files(work_folder, files, sources, targets)
        return self._pipeline.find_work_file("target_pieces", work_folder)

    def _run_attend_stage(self, work_folder: Path, translation_path: Path) -> tuple[Path, Path]:
        """Attention and gates of the first network when it says translations."""
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
    """Cut a sentence that is too long, at spaces where it has any."""
    if len(sentence) <= MAX_SENTENCE_CHARACTERS:
        return [sentence]
    return textwrap.wrap(
        sentence, MAX_SENTENCE_CHARACTERS, expand_tabs=False, replace_whitespace=False, break_on_hyphens=False
    ) or [""]


def _join_n_best_parts(parts: Sequence[Sequence[Translation]]) -> list[Translation]:
    """The translations of a sentence from those of its parts, rank by rank; of a part with fewer the last."""
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
    return texts


def _parse_system_path(system_or_path: str | Path) -> tuple[Path | None, str, str | None]:
    """Split the name or the path of a system into the folder of results, the system and the run."""
    parts = Path(system_or_path).parts
    if len(parts) == 1:
        return None, parts[0], None
    for place in range(len(parts) - 2, -1, -1):
        if parts[place] in ("nmt", "smt"):
            return Path(*parts[:place]), parts[place + 1], parts[place + 2] if len(parts) > place + 2 else None
    raise InputError(
        "neither a system nor the folder of one; write SDAtt or results/nmt/SDAtt/seed1", Path(system_or_path)
    )


def _find_snakemake_folder(start_folder: Path) -> Path:
    for folder in (start_folder, *start_folder.parents):
        if (folder / "Snakefile").is_file():
            return folder
    return start_folder
