"""Work that is done in another order than that of the text, and put back."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

Found = TypeVar("Found")


def in_order(found: Iterable[tuple[int, Found]]) -> Iterator[Found]:
    """Yield what belongs to sentence 0, 1, 2, …; what comes early waits for those before it.

    Args:
        found: what was made of each sentence, with its number.
    """
    waiting: dict[int, Found] = {}
    following = 0
    for number, of_sentence in found:
        waiting[number] = of_sentence
        while following in waiting:
            yield waiting.pop(following)
            following += 1
