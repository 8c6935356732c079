"""English sentences with their trees, and with two German translations each, of which one has a mistake."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle, islice

from embedded_grammar.contrast import FOCUS, OPENED, Translations, contrast
from embedded_grammar.english import realization as english
from embedded_grammar.focus import Contrast, Focus
from embedded_grammar.pairs import Derived, Distinct, Limits, Pair, Pairs, pair_of
from pipeline_py.files.artifacts import Counts


@dataclass(slots=True)
class ContrastivePair:
    """A pair, and its contrast; see `contrast.Translations`."""

    pair: Pair
    kind: Contrast
    contrastive: str
    distance: int


@dataclass(slots=True)
class _Readings:
    """The pairs of one English sentence."""

    pairs: list[ContrastivePair]

    @property
    def english(self) -> str:
        """The sentence."""
        return self.pairs[0].pair.english


class ContrastivePairs:
    """Draws contrastive pairs of some kinds that keep to `limits`, each kind from a randomness of its own."""

    def __init__(self, seed: int, limits: Limits, kinds: Sequence[Contrast]) -> None:
        self.pairs = {
            kind: Pairs(f"{seed} {kind}", replace(limits, focus=FOCUS.get(kind, Focus.any))) for kind in kinds
        }

    def distinct(self, pairs: int, counts: Counts) -> Iterator[ContrastivePair]:
        """Yield that many pairs, of each kind in turn.

        English sides differ, but where an attachment is open: such a sentence comes in both of its readings, so that
        what knows its words alone is right in just half of the pairs.

        Raises:
            InputError: there are not that many.
        """
        distinct = Distinct[_Readings](pairs, counts)
        waiting: dict[Contrast, list[ContrastivePair]] = {kind: [] for kind in self.pairs}
        for kind in islice(cycle(self.pairs), pairs):
            if waiting[kind]:
                counts.keep()
            else:
                waiting[kind] += distinct.new(partial(self._draw, kind)).pairs
            counts.note(kind)
            yield waiting[kind].pop(0)

    def _draw(self, kind: Contrast) -> _Readings | str | None:
        pairs = self.pairs[kind]
        derived = pairs.derive(OPENED.get(kind))
        if not isinstance(derived, Derived):
            return derived
        found = contrast(kind, derived.main, derived.ambiguity, pairs.sampler)
        if found is None:
            return f"without a place for {kind}"
        readings = _Readings([_of(derived, kind, found)])
        if kind in OPENED and derived.ambiguity is not None:
            derived.ambiguity.attach(not derived.ambiguity.high)
            other = replace(derived, tree=english.sentence(derived.main))
            found = contrast(kind, other.main, other.ambiguity, pairs.sampler)
            assert found is not None
            readings.pairs.append(_of(other, kind, found))
        return readings


def _of(derived: Derived, kind: Contrast, found: Translations) -> ContrastivePair:
    return ContrastivePair(pair_of(derived), kind, " ".join(found.contrastive), found.distance)
