"""Memory requests of jobs, from the training text and the networks.

A job that needs more than its request is not stopped on this machine. On a cluster, its next attempt asks for more.
The constants are above the peaks (`peak_memory_mb` in job records) of texts with 10,000 to 96,000 pairs and of networks
with 128 to 1,000 units.
"""

from dataclasses import dataclass
from functools import cached_property

from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.parsers import StanzaParserConfig
from pipeline_py.plan.corpus import CorpusPlan
from pipeline_py.plan.paths import get_version_parser
from pipeline_py.plan.subword import estimate_vocabulary_size
from pipeline_py.run.errors import InputError

TEXT_BASE_MB, NETWORK_BASE_MB = 500, 700
"""Memory of a job for its libraries, without and with a network."""

TEXT_JOB_FACTOR = 20
"""Memory of a job that reads texts or trees, as a multiple of the source side of the training text."""

PHRASE_JOB_FACTOR = 250
"""Memory of a phrase-based system's job, as the same multiple."""

NETWORK_JOB_FACTOR = 20
"""Memory of a network's job for packed sentences and syntax, as the same multiple."""

TRAINED_PARSER_MB = 2500
"""Memory of a job that trains a parser's part, or parses with it."""

PACKAGED_PARSER_MB = 8000
"""Memory of a job with Stanza's models, which can be large."""

BYTES_PER_PARAMETER = 32
"""Weights, gradient, two moments of Adam, the moving average, the best weights, and copies of some."""

BYTES_PER_FLOAT = 4

HIDDEN_VECTORS_PER_PART, HIDDEN_VECTORS_PER_LAYER = 80, 20
"""Vectors of the hidden size that an update keeps for each token, by encoder or decoder and by layer of it."""

LOGIT_VECTORS_PER_TOKEN = 2
"""Vectors of the vocabulary size that an update keeps for each target token."""


@dataclass(frozen=True)
class MemoryPlan:
    """Memory requests of jobs in megabytes."""

    experiment: ExperimentConfig
    corpus: CorpusPlan

    def estimate_text_job(self, default: int, factor: int = TEXT_JOB_FACTOR) -> int:
        """Estimate the memory of a job that reads texts or trees; `default` if the training text is not known yet.

        Args:
            default: megabytes.
            factor: megabytes for each megabyte of the training text.
        """
        return TEXT_BASE_MB + factor * self._text_size[1] if self._text_size else default

    def estimate_phrase_job(self, default: int) -> int:
        """Estimate the memory of a job that trains a phrase-based system or translates with it."""
        return self.estimate_text_job(default, PHRASE_JOB_FACTOR)

    def estimate_parsing(self, parser: str) -> int:
        """Estimate the memory of a job that runs a parser."""
        is_packaged = isinstance(self.experiment.parsers[get_version_parser(parser)], StanzaParserConfig)
        return PACKAGED_PARSER_MB if is_packaged else TRAINED_PARSER_MB

    def estimate_network_job(self, system: str, default: int) -> int:
        """Estimate the memory of a process that trains the networks of a system or computes with them."""
        if self._text_size is None:
            return default
        sentence_count, text_mb = self._text_size
        networks = self.experiment.get_networks(system)
        size = sum(self._estimate_network_bytes(network, sentence_count) for network in networks) // 10**6
        return NETWORK_BASE_MB + NETWORK_JOB_FACTOR * text_mb + size

    @cached_property
    def _text_size(self) -> tuple[int, int] | None:
        """Sentences and megabytes of the source side of the training text; None without one that can be read now."""
        if not self.experiment.corpora.train:
            return None
        try:
            return self.corpus.count_raw_sentences("train"), self.corpus.count_raw_bytes("train") // 10**6
        except InputError:
            return None

    def _estimate_network_bytes(self, name: str, sentence_count: int) -> int:
        network = self.experiment.get_network(name)
        units = self.experiment.subword_configs[self.experiment.get_subword_name(name)]
        vocabulary = estimate_vocabulary_size(units, sentence_count)
        embedding, hidden = network.model.embedding, network.model.hidden
        parts = [*network.encoders, network.decoder]
        layers = sum(getattr(part, "layers", 1) for part in parts)
        embeddings = vocabulary * embedding * (len(parts) + 1)
        parameters = embeddings + 12 * layers * hidden * (hidden + embedding)
        is_counted_in_sentences = network.training.batch_unit == "sentences"
        max_length = self.experiment.corpora.limits.max_length if is_counted_in_sentences else 1
        vectors = HIDDEN_VECTORS_PER_PART * len(parts) + HIDDEN_VECTORS_PER_LAYER * layers
        floats = vectors * hidden + LOGIT_VECTORS_PER_TOKEN * vocabulary
        tokens = network.training.batch_size * max_length
        return BYTES_PER_PARAMETER * parameters + BYTES_PER_FLOAT * tokens * floats
