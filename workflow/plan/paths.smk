"""What paths are made of, in every room."""

import os


def one_of(names) -> str:
    """A pattern for one of some names; without any it matches nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"


def place_of_kept(output: str) -> str:
    """Where a costly job keeps its outputs, out of Snakemake's sight, which deletes outputs before a job starts."""
    return f"{os.path.dirname(output)}/kept/{os.path.basename(output)}"
