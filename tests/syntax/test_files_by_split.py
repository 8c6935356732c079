"""Files named by what they are of."""

from pathlib import Path

import pytest

from pipeline_py.input_error import InputError
from pipeline_py.syntax.files_by_split import ALL, files_by_split, need_the_same
from pipeline_py.syntax.trees.formats import Annotation


def test_in_the_order_given_and_paths_may_hold_anything() -> None:
    assert list(files_by_split(["train:constituency=a=b:c", "dev:dependency=/x y/ü"], "--first").items()) == [
        (("train", Annotation.CONSTITUENCY), Path("a=b:c")),
        (("dev", Annotation.DEPENDENCY), Path("/x y/ü")),
    ]
    assert files_by_split(["dependency=a=b"], "--accuracy", "ANNOTATION") == {(ALL, Annotation.DEPENDENCY): Path("a=b")}


@pytest.mark.parametrize(
    "pair",
    ["dev=x", ":dependency=x", "dev:dependency", "dev:dependency=", "dev:Dependency=x", "dev:trees:dependency=x"],
)
def test_refuses_what_is_no_pair(pair: str) -> None:
    with pytest.raises(InputError, match=f"--first '{pair}' is not of the form SPLIT:ANNOTATION=FILE"):
        files_by_split([pair], "--first")


def test_refuses_another_annotation_and_repetitions() -> None:
    with pytest.raises(
        InputError, match="'trees=x' is not of the form ANNOTATION=FILE with dependency or constituency"
    ):
        files_by_split(["trees=x"], "--accuracy", "ANNOTATION")
    with pytest.raises(InputError, match="--first names dev:dependency twice"):
        files_by_split(["dev:dependency=x", "dev:dependency=y"], "--first")


@pytest.mark.parametrize(("one", "other"), [("dev", "train"), ("train", "dev")])
def test_names_what_one_option_lacks(one: str, other: str) -> None:
    both = ["test:dependency=x"]
    files = {
        "--first": files_by_split([*both, *["dev:dependency=x"] * (one == "dev")], "--first"),
        "--second": files_by_split([*both, *["dev:dependency=x"] * (other == "dev")], "--second"),
    }
    with pytest.raises(InputError, match="dev:dependency is not named by both --first and --second; give it to both"):
        need_the_same(files)
    need_the_same({"--first": files["--first"], "--second": dict(reversed(files["--first"].items()))})
