"""`parsing`: how texts are parsed, whatever the parser."""

from pydantic import Field, PositiveInt

from pipeline_py.config.base import Section


class Parsing(Section):
    """How much of a text one job parses."""

    shard_size: PositiveInt = Field(
        50000,
        description="Sentences that one job parses; a longer text is parsed in shards side by side, which are merged "
        "in order.",
    )
