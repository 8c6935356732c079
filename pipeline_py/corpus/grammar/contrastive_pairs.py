"""English sentences with their trees, and with two German translations each, of which one has a mistake."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pipeline_py.artifact import Counts
from pipeline_py.corpus.grammar.contrast import FOCUS, OPENED, contrast
from pipeline_py.corpus.grammar.focus import Contrast, Focus
from pipeline_py.corpus.grammar.pairs import Derived, Distinct, Limits, Pair, Pairs, pair_of


@dataclass(slots=True)
class ContrastivePair:
    """A pair, and its contrast; see `contrast.Translations`."""

    pair: Pair
    kind: Contrast
    contrastive: str
    distance: int

    @property
    def english(self) -> str:
        """The sentence."""
        return self.pair.english


class ContrastivePairs:
    """Draws contrastive pairs of some kinds that keep to `limits`, each kind from a randomness of its own."""

    def __init__(self, seed: int, limits: Limits, kinds: Sequence[Contrast]) -> None:
        self.pairs = {
            kind: Pairs(f"{seed} {kind}", replace(limits, focus=FOCUS.get(kind, Focus.any))) for kind in kinds
        }

    def distinct(self, pairs: int, counts: Counts) -> Iterator[ContrastivePair]:
        """Yield that many pairs whose English sides differ, of each kind in turn.

        Raises:
            InputError: there are not that many.
        """
        distinct = Distinct[ContrastivePair](pairs, counts)
        kinds = [*self.pairs]
        for number in range(pairs):
            kind = kinds[number % len(kinds)]
            counts.note(kind)
            yield distinct.new(partial(self._draw, kind))

    def _draw(self, kind: Contrast) -> ContrastivePair | str | None:
        pairs = self.pairs[kind]
        derived = pairs.derive(OPENED.get(kind))
        if not isinstance(derived, Derived):
            return derived
        found = contrast(kind, derived.main, derived.ambiguity, pairs.sampler)
        if found is None:
            return f"without a place for {kind}"
        pair = pair_of(derived)
        return ContrastivePair(pair, kind, " ".join(found.contrastive), found.distance)
