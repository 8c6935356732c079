"""Trees to try networks with."""

import numpy as np


def draw_tree_row(random: np.random.Generator, piece_count: int, is_parsed: bool = True) -> np.ndarray:
    """A random binary tree as `kinds.trees` describes its row; without a parse there is no root and no node."""
    if piece_count == 0 or not is_parsed:
        return np.array([-1], dtype=np.int32)
    nodes: list[tuple[int, int, tuple | int, tuple | int]] = []

    def build_subtree(start: int, end: int):
        if end - start == 1:
            return start, 0
        middle = int(random.integers(start + 1, end))
        left, right = build_subtree(start, middle), build_subtree(middle, end)
        key = (max(left[1], right[1]) + 1, start)
        nodes.append((*key, left[0], right[0]))
        return key, key[0]

    root, _ = build_subtree(0, piece_count)
    nodes.sort(key=lambda node: node[:2])
    number = {node[:2]: piece_count + place for place, node in enumerate(nodes)}
    row = [number.get(root, root)]  # type: ignore[arg-type, list-item]
    for level, _, *children in nodes:
        row += [*(number.get(child, child) for child in children), level]  # type: ignore[arg-type, list-item]
    return np.array(row, dtype=np.int32)
