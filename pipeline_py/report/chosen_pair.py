"""The two systems that a table is about."""

from collections.abc import Sequence

from pipeline_py.config.tables import BleuTable, Table


def chosen_pair(table: Table, known: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """The first proposed row and the baseline, or else those that come first.

    Args:
        table: its options.
        known: pairs of which there is something to show, whichever of both comes first.

    Returns:
        None where there is no pair at all.
    """
    if isinstance(table, BleuTable) and table.proposed:
        asked = (table.proposed[0], table.baseline)
        if asked in known or asked[::-1] in known:
            return asked
    return next(iter(known), None)
