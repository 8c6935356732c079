"""The syntactic phenomena that make structure matter for a translation."""

from enum import StrEnum


class Phenomenon(StrEnum):
    """A phenomenon that every sentence contains."""

    any = "any"
    particle_verb = "particle_verb"
    relative_clause = "relative_clause"
    attachment = "attachment"
    agreement = "agreement"
    verb_final = "verb_final"
    ambiguous = "ambiguous"


class AttachmentKind(StrEnum):
    """What is attached in a way that the words leave open."""

    relative_attachment = "relative_attachment"
    phrase_attachment = "phrase_attachment"


class ContrastiveErrorKind(StrEnum):
    """What is wrong with the contrastive German of a pair, and nothing else is."""

    agreement = "agreement"
    particle = "particle"
    case = "case"
    gender = "gender"
    verb_final = "verb_final"
    negation_dropped = "negation_dropped"
    negation_added = "negation_added"
    relative_attachment = "relative_attachment"
    phrase_attachment = "phrase_attachment"
