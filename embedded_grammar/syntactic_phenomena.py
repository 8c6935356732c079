"""The names of syntactic phenomena, attachment ambiguities and contrastive errors."""

from enum import StrEnum


class Phenomenon(StrEnum):
    """A phenomenon that can be required in every sentence; see `find_phenomena`."""

    any = "any"
    particle_verb = "particle_verb"
    relative_clause = "relative_clause"
    attachment = "attachment"
    agreement = "agreement"
    verb_final = "verb_final"
    ambiguous = "ambiguous"


class AttachmentKind(StrEnum):
    """A kind of attachment ambiguity."""

    relative_attachment = "relative_attachment"
    phrase_attachment = "phrase_attachment"


class ContrastiveErrorKind(StrEnum):
    """The kind of the only error in the contrastive translation of a pair."""

    agreement = "agreement"
    particle = "particle"
    case = "case"
    gender = "gender"
    verb_final = "verb_final"
    negation_dropped = "negation_dropped"
    negation_added = "negation_added"
    relative_attachment = "relative_attachment"
    phrase_attachment = "phrase_attachment"
