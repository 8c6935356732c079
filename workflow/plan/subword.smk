"""What the rules of `subword` are given, and where the units of the models lie."""

BPE = EXPERIMENT.subword.scheme == "bpe"


def codes(side: str) -> str:
    """The merges of one side: its own, or those that both share."""
    return f"<results>/subword/codes.{'joint' if EXPERIMENT.subword.joint else side}"


def pieces(side: str) -> str:
    """The path of the units of one side, with {split} open: pieces, or the words themselves."""
    return f"<results>/subword/pieces/{{split}}.{side}" if BPE else tokens(side)


def syntax_of_pieces(system: str, split: str) -> dict[str, str]:
    """Files of syntax that a system reads, by kind; words pass on what their parser gave them."""
    composition = EXPERIMENT.systems[system]
    folder = "<results>/subword" if BPE else "<results>/syntax"
    return {kind: f"{folder}/{composition.parser}/{split}.{kind}.arrow" for kind in composition.syntax}
