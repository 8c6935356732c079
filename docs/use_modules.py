"""Use trees, control trees and tables without a trained system: `python docs/use_modules.py`.

Its cells (`# %%`) run one by one in an editor that knows them, or in a notebook.
"""

# %% A dependency tree: heads are counted from 1, and 0 is the root.
import sys
from pathlib import Path

from pipeline_py.report.tables.sheet import read_sheet
from pipeline_py.syntax.compute_distances import compute_batch_distances
from pipeline_py.syntax.trees.control_shapes import ControlShape, build_control_heads
from pipeline_py.syntax.trees.dependency import DependencyTree, write_dependency_trees
from pipeline_py.syntax.trees.tree_shape import compute_tree_depth, is_projective

tree = DependencyTree(
    words=("She", "reads", "long", "books"),
    heads=(2, 0, 4, 2),
    labels=("nsubj", "root", "amod", "obj"),
    upos=("PRON", "VERB", "ADJ", "NOUN"),
)
write_dependency_trees(sys.stdout, [tree])

# %% Its shape, and its matrix of syntax distances; the last row and column are EOS.
print(compute_tree_depth(tree.heads), is_projective(tree.heads))
(distances,) = compute_batch_distances([tree.heads], [len(tree.words)])
print(distances)

# %% A control tree over the same words.
print(build_control_heads(ControlShape.RANDOM, n=len(tree.words), random_key="seed 1"))

# %% A table, here one of the documentation; those of your run are `results/table1.sheet.json` etc.
sheet = read_sheet(Path("docs/kept/embedded/table1.sheet.json"))
print(sheet.column_heads)
for row in sheet.rows:
    print(row[0].text, [cell.numeric_value for cell in row[1:]])
