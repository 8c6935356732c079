"""The syntactic phenomena that make structure matter for a translation."""

from enum import StrEnum


class Focus(StrEnum):
    """A phenomenon that every sentence contains."""

    any = "any"
    particle_verb = "particle_verb"
    relative_clause = "relative_clause"
    attachment = "attachment"
    agreement = "agreement"
    verb_final = "verb_final"
    ambiguous = "ambiguous"


class Attachment(StrEnum):
    """What is attached in a way that the words leave open."""

    relative_attachment = "relative_attachment"
    phrase_attachment = "phrase_attachment"
