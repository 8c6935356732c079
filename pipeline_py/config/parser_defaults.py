"""Defaults of the training of a parser, shared by the configuration and the stage."""

DEFAULT_EPOCHS = {"tagger": 5, "depparse": 5, "constituency": 2}
"""Default passes over the treebank by network: one or two minutes on one core with 2,000 sentences."""

DEFAULT_HIDDEN_SIZE = 100
"""Default size of the layers."""
