"""Text to translate for systems that also parse: sources are tagged, targets are copied."""

from pathlib import Path

from pipeline_py.subword.tag_held_out_text import tag_held_out_text


def test_sources_are_tagged_and_targets_copied(tmp_path: Path) -> None:
    text = "the ca@@ t sleeps\n\nno parse\nhm\n"
    (tmp_path / "pieces").write_text(text, encoding="utf-8")
    for is_source in (True, False):
        output = tmp_path / f"output.{is_source}"
        tag_held_out_text(pieces=tmp_path / "pieces", is_source=is_source, output=output)
    assert (tmp_path / "output.True").read_text(encoding="utf-8").splitlines() == [
        "<translate> the ca@@ t sleeps <translate>",
        "<translate> <translate>",
        "<translate> no parse <translate>",
        "<translate> hm <translate>",
    ]
    assert (tmp_path / "output.False").read_text(encoding="utf-8") == text
