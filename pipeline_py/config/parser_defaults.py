"""Defaults of the training of a parser, for the configuration and for the stage, which needs no configuration."""

EPOCHS = {"tagger": 5, "depparse": 5, "constituency": 2}
"""Default passes over the trees, by network: a minute or two on one core with 2,000 sentences."""

HIDDEN = 100
"""Default size of the layers."""
