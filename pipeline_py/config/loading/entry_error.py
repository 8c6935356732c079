"""A mistake of one system, table or figure: the rest of the configuration may do without it."""

Entry = tuple[str, str]
"""A section of the configuration, and a name in it."""


class EntryError(ValueError):
    """What is wrong with one entry of a section.

    Args:
        section: systems, tables or figures.
        name: of the entry.
        what: is wrong, as the end of a sentence.
        beginning: of the sentence; by default the entry is named.

    Attributes:
        entry: which one it is.
    """

    def __init__(self, section: str, name: str, what: str, beginning: str | None = None) -> None:
        super().__init__((beginning or f"{section.removesuffix('s')} `{name}`") + what)
        self.entry: Entry = (section, name)
