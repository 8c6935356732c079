"""Trees to try networks with."""

import numpy as np


def random_tree(random: np.random.Generator, pieces: int, parsed: bool = True) -> np.ndarray:
    """A random binary tree as `kinds.trees` describes its row; without a parse there is no root and no node."""
    if pieces == 0 or not parsed:
        return np.array([-1], dtype=np.int32)
    nodes: list[tuple[int, int, tuple | int, tuple | int]] = []

    def grow(start: int, end: int):
        if end - start == 1:
            return start, 0
        middle = int(random.integers(start + 1, end))
        left, right = grow(start, middle), grow(middle, end)
        key = (max(left[1], right[1]) + 1, start)
        nodes.append((*key, left[0], right[0]))
        return key, key[0]

    root, _ = grow(0, pieces)
    nodes.sort(key=lambda node: node[:2])
    number = {node[:2]: pieces + place for place, node in enumerate(nodes)}
    row = [number.get(root, root)]  # type: ignore[arg-type, list-item]
    for level, _, *children in nodes:
        row += [*(number.get(child, child) for child in children), level]  # type: ignore[arg-type, list-item]
    return np.array(row, dtype=np.int32)
