"""Defaults of the training of a parser, for the configuration and for the stage, which needs no configuration."""

DEFAULT_EPOCHS = {"tagger": 5, "depparse": 5, "constituency": 2}
"""Default passes over the trees, by network: a minute or two on one core with 2,000 sentences."""

DEFAULT_HIDDEN_SIZE = 100
"""Default size of the layers."""
