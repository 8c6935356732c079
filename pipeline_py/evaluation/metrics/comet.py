"""COMET (Rei et al. 2020): a network's estimate of each sentence's quality, from source, output and reference."""

from pipeline_py.evaluation.metric import ExternalScoreMetric


class Comet(ExternalScoreMetric):
    """COMET as the mean over sentences, times 100."""

    label = "COMET"
