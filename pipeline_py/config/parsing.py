"""`parsing`: how texts are parsed, whatever the parser."""

from pydantic import Field

from pipeline_py.config.base import Section
from pipeline_py.config.numbers import Count


class Parsing(Section):
    """How much of a text one job parses."""

    shard_size: Count = Field(
        50000,
        description="Sentences that one job parses; a longer text is parsed in shards side by side, which are merged "
        "in order.",
    )
