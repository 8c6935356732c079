"""Names in tables and files of results that a test set cannot have."""

AVERAGE_SET_NAME = "AVG"
"""Name of the mean over the test sets."""

ALL_SPLITS = "all"
"""Name of all splits together in reports on parsers."""
