"""What may name something that becomes part of paths."""


def is_name(name: str) -> bool:
    """Whether a parser, a scheme of units, or a part of a table's name may be called so."""
    return name.replace("_", "").replace("-", "").isalnum() and name[0].isalnum() and name.isascii()


def is_name_of_system(name: str) -> bool:
    """Whether a system may be called so: there may be spaces, signs and brackets in it."""
    forbidden = set("/=:*?<>|\"'{}\\") & set(name)
    return bool(name) and name == name.strip() and name.isprintable() and not forbidden and name[0] not in ".-"
