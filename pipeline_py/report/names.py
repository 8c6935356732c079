"""What things are called, given on the command line as THING=NAME."""

from collections.abc import Collection, Sequence

from pipeline_py.stage import InputError


def names(pairs: Sequence[str], things: Collection[str], option: str) -> dict[str, str]:
    """Map things to what they are called.

    Args:
        pairs: values of the option, `THING=NAME`; of things that hold a `=` themselves the longest that fits is meant.
        things: what may have a name.
        option: the option's name, for messages.

    Raises:
        InputError: if a value is no pair, it is of another thing, a thing comes twice, or a name is not printable.
    """
    found: dict[str, str] = {}
    for pair in pairs:
        thing = max((thing for thing in things if pair.startswith(f"{thing}=")), key=len, default=None)
        if thing is None:
            known = ", ".join(map(repr, things))
            raise InputError(f"{option} {pair!r} names none of {known}; write THING=NAME with one of them")
        name = pair.removeprefix(f"{thing}=")
        if not name or not name.isprintable():
            raise InputError(f"{option} {pair!r} needs a printable name behind {thing}=")
        if thing in found:
            raise InputError(f"{option} names {thing!r} twice; give every name once")
        found[thing] = name
    return found
