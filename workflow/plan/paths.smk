"""What paths are made of, in every room."""

import os
from pathlib import Path

from pipeline_py.contents import Contents

# Beside what Snakemake knows of the files in this folder: whoever removes that begins anew.
CONTENTS = Contents(Path(".snakemake/contents.json"))


def one_of(names) -> str:
    """A pattern for one of some names; without any it matches nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"


def place_of_kept(output: str) -> str:
    """Where a costly job keeps its outputs, out of Snakemake's sight, which deletes outputs before a job starts."""
    return f"{os.path.dirname(output)}/kept/{os.path.basename(output)}"


def contents_of(files) -> dict:
    """What those of some files hold that the user brings, for the parameters of what reads them."""
    return CONTENTS.of(file for file in files if not file.startswith("<results>"))
